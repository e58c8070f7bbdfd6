#!/usr/bin/env Rscript
# Queues of orders: functions, S3, S4, R6, reference classes and S7.
library(R6)

# Orders that a queue holds at most.
MAX_ORDERS <- 100L
levels(status) <- c("open", "closed")

#' Adds an order to a queue
#'
#' It is refused if the queue is \code{full}.
#'
#' @param queue a queue
#' @param order an order # with a number
#' @export
add_order <- function(queue, order = NULL, ..., limit = c("hard", "soft")) {
  limit <- match.arg(limit)
  # the inner one is found too
  is_full <- function(n) {
    n >= MAX_ORDERS
  }
  if (is_full(length(queue$orders))) {
    stop("queue # full: function(x) x <- 1")
  }
  else if (!order$id %in% queue$ids) {
    queue$orders <- c(queue$orders, dplyr::bind_rows(order))
  }
  invisible(lapply(queue$orders, function(each) each$id))
}

# Squares a number.
square = function(x) x^2 # which comment is not its own

total <- \(prices,
           tax = 0.2)
  sum(prices) +
    sum(prices) * tax

#' @title Keeps what is open
#' @description By its status.
keep_open <- function(orders)
{
  orders |> filter(status == 'open') %>% arrange(date)
}

function(x) {
  rev(x)
} -> reversed

(function(x) max(x)) -> highest

#' Joins two texts; see [paste0()].
`%+%` <- function(a, b) paste0(a, b)

`[.queue` <- function(x, i) {
  structure(NextMethod(), class = class(x))
}

print.queue <- function(x, ...) cat(r"--(a "queue" of )--", length(x), "\n")

fib <- memoise::memoise(function(n) {
  if (n < 2) n else Recall(n - 1) + Recall(n - 2)
})

# Listens to what comes.
handlers <- list(
  close = function(event) unlink(event$path),
  # Opens it.
  `open now` = function(event) file(event$path)
)
handlers[["move"]] <- function(event) file.rename(event$from, event$to)

#' A customer.
setClass("Customer", representation(name = "character"))

setGeneric("describe", function(object, ...) standardGeneric("describe"))

#' Describes a customer.
setMethod("describe", "Customer", function(object, ...) {
  toupper(object@name)
})
setMethod("+", signature(e1 = "Customer", e2 = "Customer"), function(e1, e2) merge(e1, e2))
setReplaceMethod("name", "Customer", function(x, value) { x@name <- value; x })

#' A stack of orders.
Stack <- R6::R6Class("Stack",
  inherit = Container,
  public = list(
    items = NULL,
    #' @description Puts an order on the stack.
    push = function(order) {
      private$check(order)
      self$items[[self$size() + 1]] <- order
      super$push(order)
    },
    size = function() length(self$items)
  ),
  private = list(
    check = function(order) stopifnot(is.list(order))
  )
)
Stack$set("public", "pop", function() tail(self$items, 1))

Account <- setRefClass("Account", fields = list(balance = "numeric"), methods = list(
  deposit = function(amount) {
    "Puts money into it."
    balance <<- balance + amount
  }
))
Account$methods(close = function() balance <<- 0)

Dog <- S7::new_class("Dog", properties = list(name = class_character))
method(speak, Dog) <- function(x, ...) cat("Woof")

orders <- read.csv("orders.csv")
for (order in orders) print(order)

# nocov start
.onLoad <- function(libname, pkgname) {
  register(pkgname)
}
# nocov end
