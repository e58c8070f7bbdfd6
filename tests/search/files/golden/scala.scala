package com.acme
package stock

import scala.collection.mutable
import com.acme.money._

/** What goods there are.
  *
  * Not for several threads.
  */
sealed abstract class Stock[A](val name: String)(implicit ordering: Ordering[A])
    extends Base(name)
    with Serializable {
  private val goods = mutable.Map.empty[A, Int]

  /** Adds goods, e.g. two apples. */
  @throws[IllegalArgumentException]("below 0")
  final def add(good: A, count: Int = 1)(using log: Log): Unit = {
    require(count > 0, "count")
    goods.updateWith(good) {
      case Some(old) => Some(old + count)
      case None => Some(count)
    }
    log.info(s"added $good")
  }

  def this(name: String) = this(name, null)

  def total: Int = goods.values.sum

  // Whether nothing
  // is left.
  def isEmpty = goods.forall(_._2 == 0)

  protected def restore(): Int

  def +(other: Stock[A]): Stock[A] = {
    def merge(a: Int, b: Int): Int = a + b
    new Merged(this, other)
  }
}

/** Makes stocks. */
object Stock {
  /** The most there can be. */
  val Limit = 1000

  type Count = Int

  def apply[A: Ordering](name: String): Stock[A] = new Stock[A](name) {
    def restore() = 0
  }

  implicit class StockOps[A](private val stock: Stock[A]) extends AnyVal {
    def isFull: Boolean = stock.total >= Limit
  }
}

/** What can be sold. */
trait Sold {
  /** Its price. */
  def price: Money

  def taxed: Money = price * 1.2
}

case class Apple(kind: String, price: Money) extends Sold

case object Nothing extends Sold { val price = Money(0) }

enum Size:
  case Small, Large

  /** The next one. */
  def next: Size = Size.fromOrdinal(ordinal + 1)

given Ordering[Apple] with
  def compare(a: Apple, b: Apple): Int =
    a.kind.compareTo(b.kind)

extension (apple: Apple)
  /** The kind in capitals. */
  def label: String = apple.kind.toUpperCase

  def halves: List[Apple] =
    List.fill(2)(apple)

type Basket = List[Sold]

/** Prints all of a basket. */
@main def show(names: String*): Unit =
  for name <- names do
    println(format(name))

val Default = Stock[String]("default")

object Sums:
  def all(prices: List[Money]): Money =
    prices.fold(Money(0))(_ + _)

  /** The first price. */
  def first(prices: List[Money]): Money = prices.head
