"""Frames of traces of more languages, and the units that they lie in, after lines have moved."""

import pytest
from repositories import write
from serving import index_of
from traced_texts import read_trace, text_of

from search.index.frame_locator import FrameLocator
from search.index.index_file import open_index

RUST = """\
pub struct Good(pub String);

pub struct Basket;

impl Basket {
    fn price(&self) -> i64 {
        3
    }
}

impl Priced for Good {
    fn price(&self, rates: &Rates) -> i64 {
        *rates.get(&self.0).expect("no rate")
    }
}

pub fn total<T: Priced>(goods: &[T], rates: &Rates) -> i64 {
    goods.iter().map(|good| good.price(rates)).sum()
}
"""
PHP = """\
<?php
namespace Shop;

class Other
{
    private function price(string $good): int
    {
        return 3;
    }
}

class Cart
{
    public function total(array $rates): int
    {
        return array_sum(array_map(fn($good) => $this->price($good, $rates), $this->goods));
    }

    private function price(string $good, array $rates): int
    {
        throw new PriceException("no rate for $good");
    }
}

function checkout(Cart $cart): int
{
    return $cart->total([]);
}
"""
RUBY = """\
module Shop
  class Other
    def price(good)
      3
    end
  end

  class Cart
    def total(rates)
      @goods.sum { |good| price(good, rates) }
    end

    def price(good, rates)
      rates.fetch(good)
    end

    def self.checkout(goods)
      new(goods).total({})
    end
  end
end
"""
CSHARP = """\
namespace Shop;

class Other
{
    int Total() { return 3; }
}

class Cart
{
    public int Total(IDictionary<string, int> rates)
    {
        return goods.Sum(good => rates[good]);
    }
}
"""
KOTLIN = """\
package com.acme.shop

class Cart(val goods: List<String>) {
    fun total(rates: Map<String, Int>): Int {
        return goods.sumOf { rates.getValue(it) }
    }

    class Line(val name: String) {
        fun price(): Int {
            return lazily { 3 }
        }
    }

    companion object {
        fun of(name: String): Cart {
            return Cart(listOf(name))
        }
    }
}

fun checkout(cart: Cart): Int {
    return cart.total(mapOf())
}

suspend fun pay(cart: Cart): Int {
    return checkout(cart)
}
"""
SCALA = """\
package com.acme.shop

class Cart(goods: List[String]) {
  def total(rates: Map[String, Int]): Int = {
    goods.map(rates(_)).sum
  }

  def sum(numbers: List[Int]): Int = {
    numbers.fold(0)((a, b) => a + b)
  }
}

object Cart {
  def of(name: String): Cart = {
    new Cart(List(name))
  }

  def all(names: List[String]): List[Cart] = {
    names.map(of)
  }
}
"""
SWIFT = """\
struct Cart {
    func price(of good: String, rates: [String: Int]) -> Int {
        guard let rate = rates[good] else { fatalError("no rate") }
        return rate
    }

    func total(rates: [String: Int]) -> Int {
        return goods.map { price(of: $0, rates: rates) }.reduce(0, +)
    }
}
"""
ELIXIR = """\
defmodule Shop.Cart do
  def total(cart, rates) do
    Enum.reduce(cart, 0, fn good, sum -> sum + :erlang.map_get(good, rates) end)
  end
end
"""
LUA = """\
local Cart = {}

function Cart:total(rates)
  local sum = 0
  return sum
end

local function checkout(cart)
  local sum = cart:total({})
  return sum
end
"""
HASKELL = """\
module Shop.Cart where

price :: HasCallStack => String -> Int
price good = case lookup good rates of
  Just rate -> rate
  Nothing -> error "no rate"

total :: HasCallStack => [String] -> Int
total goods =
  sum (map price goods)
"""
C = """\
int other(void)
{
    return 3;
}

int total(const struct cart *cart)
{
    return cart->prices[0];
}
"""
CPP = """\
namespace shop {
template <typename T>
class Cart {
 public:
  int total(const Rates& rates) const {
    return rates.at("milk");
  }
};

int checkout() {
  return Cart<int>().total({});
}
}
"""
ZIG = """\
pub const Cart = struct {
    prices: []const i32,

    pub fn total(self: Cart) i32 {
        return self.prices[5];
    }
};
"""
BASH = """\
set -u

total() {
  echo "$rates"
}
total
"""
LEADS = {
    "rust-closure": ("src/cart.rs", RUST, "//", ["Good.price", "total"]),
    "php-next": ("Cart.php", PHP, "#", ["Cart.price", "Cart.total", "checkout"]),
    "ruby-34": ("cart.rb", RUBY, "#", ["Shop.Cart.price", "Shop.Cart.total", "Shop.Cart.checkout"]),
    "csharp-inner": ("shop/Cart.cs", CSHARP, "//", ["Cart.Total"]),
    "kotlin": ("src/Cart.kt", KOTLIN, "//", ["checkout", "Cart.total", "Cart.of", "pay", "Cart.Line.price"]),
    "scala": ("src/main/scala/Cart.scala", SCALA, "//", ["Cart.total", "Cart.sum", "Cart.of", "Cart.all"]),
    "swift-backtrace": ("Sources/Shop/Cart.swift", SWIFT, "//", ["Cart.price", "Cart.total"]),
    "elixir": ("lib/shop/cart.ex", ELIXIR, "#", ["Shop.Cart.total"]),
    "lua-method": ("cart.lua", LUA, "--", ["Cart.total", "checkout"]),
    "haskell": ("src/Shop/Cart.hs", HASKELL, "--", ["price", "total"]),
    "c-gdb": ("src/cart.c", C, "//", ["total"]),
    "cpp-gdb": ("shop/cart.cpp", CPP, "//", ["Cart.total"]),
    "zig": ("src/cart.zig", ZIG, "//", ["Cart.total"]),
}
"""Text -> a file of its program, its source, what begins a comment, and the units that frames of it lead to."""


@pytest.mark.parametrize("name", LEADS)
def test_frames_lead_to_their_units_after_lines_have_moved(tmp_path, name):
    path, source, comment, names = LEADS[name]
    first, _, rest = source.partition("\n")
    more = f"{comment} more\n" * 60
    moved = f"{first}\n{more}{rest}" if first.startswith("<?") else f"{more}{source}"
    index = open_index(index_of(write(tmp_path / "code", {path: moved}), tmp_path / "index"))
    located = FrameLocator(index).located(read_trace(text_of(name)).frames)
    own = [each for each in located if each.frame.path.endswith(path.rpartition("/")[2])]
    found = dict.fromkeys("" if each.row is None else index.names[each.row] for each in own)
    assert [each for each in found if each in names] == names


def test_a_message_without_a_function_leads_to_what_is_at_its_line(tmp_path):
    files = {"cart.sh": BASH, "Sources/Shop/Cart.swift": "// one\n" * 11 + SWIFT}
    index = open_index(index_of(write(tmp_path / "code", files), tmp_path / "index"))
    for text, name in (("bash-unbound", "total"), ("swift", "Cart.price"), ("swift-old", "Cart.price")):
        (frame,) = FrameLocator(index).located(read_trace(text_of(text)).frames)
        assert frame.row is not None
        assert index.names[frame.row] == name


R_ERROR = "Error in item_price(item, currency) : no price for apple\n"
R_LIST = """> traceback()
4: stop("no price for ", item$name)
3: item_price(item, currency)
2: FUN(X[[i]], ...)
1: total(cart)
"""


@pytest.mark.parametrize(
    ("printed", "names"),
    [
        (R_ERROR, ["item_price"]),
        (R_ERROR.replace(" : ", " : \n  "), ["item_price"]),
        (f"{R_ERROR}Calls: total -> FUN -> item_price\nExecution halted\n", ["item_price", "FUN", "total"]),
        (f"{R_ERROR}Calls: <Anonymous> ... total -> item_price\n", ["item_price", "total"]),
        (f"{R_ERROR}{R_LIST}", ["item_price", "FUN", "total"]),
        (f"Error: no price for apple\n{R_LIST}", ["item_price", "FUN", "total"]),
    ],
)
def test_errors_of_r_without_files_lead_to_their_functions(tmp_path, printed, names):
    code = "item_price <- function(item) {\n  stop(1)\n}\ntotal <- function(cart) {\n  lapply(cart, item_price)\n}\n"
    index = open_index(index_of(write(tmp_path / "tree", {"cart.R": code}), tmp_path / "index"))
    trace = read_trace(printed)
    assert (trace.errors[0].error, trace.errors[0].message) == ("Error", "no price for apple")
    located = FrameLocator(index).located(trace.frames)
    assert [each.frame.name for each in located] == names
    found = [None if each.row is None else index.names[each.row] for each in located]
    assert found == [None if name == "FUN" else name for name in names]
