"""A trace whose line breaks are lost has the same frames and errors."""

import pytest

from data_prep.traces.trace import read_trace

TRACES = {
    "python": """\
Traceback (most recent call last):
  File "/srv/app.py", line 8, in <module>
    checkout(cart)
  File "/srv/cart.py", line 14, in total
    return rates[x]
KeyError: 'food'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app.py", line 8, in <module>
    checkout(cart)
  File "/srv/cart.py", line 20, in checkout
    raise ValueError("no price") from None
ValueError: no price""",
    "js": """\
TypeError: Cannot read properties of undefined (reading 'id')
    at lookup (/srv/web/server.js:10:9)
    at async handle (/srv/web/server.js:5:3)
    at /srv/web/server.js:8:3
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)""",
    "firefox": """\
lookup@http://localhost/server.js:10:9
handle@http://localhost/server.js:5:3
@http://localhost/server.js:8:3""",
    "java": """\
Exception in thread "main" java.lang.IllegalStateException: no price
	at com.acme.Cart.total(Cart.java:14)
	at com.acme.App.main(App.java:8)
Caused by: java.io.IOException: gone
	at com.acme.Store.read(Store.java:3)
	... 2 more""",
    "go": """\
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.(*Cart).Total(0xc000012345, {0x1, 0x2})
	/srv/app/cart.go:14 +0x1d
main.main()
	/srv/app/main.go:8 +0x1d
created by main.start in goroutine 7
	/srv/app/start.go:3 +0x4
exit status 2""",
    "rust": """\
thread 'main' panicked at src/cart.rs:14:9:
index out of bounds: the len is 3 but the index is 5
stack backtrace:
   0: rust_begin_unwind
             at /rustc/abc/library/std/src/panicking.rs:652:5
   1: shop::cart::Cart::total
             at ./src/cart.rs:14:9
   2: shop::main
             at ./src/main.rs:8:5
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.""",
    "csharp": """\
Unhandled exception. System.InvalidOperationException: no price
   at Shop.Cart.Total(List`1 items) in /srv/Cart.cs:line 14
   at Shop.Program.Main(String[] args) in /srv/Program.cs:line 8""",
    "ruby": """\
cart.rb:14:in 'Shop::Cart#total': no price (RuntimeError)
	from cart.rb:20:in 'block in Shop::Cart#checkout'
	from app.rb:8:in '<main>'""",
    "php": """\
PHP Fatal error:  Uncaught RuntimeException: no price in /srv/cart.php:14
Stack trace:
#0 /srv/shop.php(20): Shop\\Cart->total(Array)
#1 /srv/app.php(8): checkout()
#2 {main}
  thrown in /srv/cart.php on line 14""",
    "gdb": """\
#0  total (c=0x0) at cart.c:14
#1  0x0000555 in checkout (c=0x0) at cart.c:20
#2  0x0000556 in main () at main.c:8""",
    "elixir": """\
** (KeyError) key :food not found in: %{}
    (shop 0.1.0) lib/shop/cart.ex:14: Shop.Cart.total/1
    (shop 0.1.0) lib/shop/app.ex:8: Shop.App.run/0""",
    "lua": """\
lua: cart.lua:14: no price
stack traceback:
	[C]: in function 'error'
	cart.lua:14: in function 'total'
	app.lua:8: in main chunk
	[C]: in ?""",
    "haskell": """\
shop: no price
CallStack (from HasCallStack):
  error, called at Cart.hs:14:3 in main:Cart
  total, called at Main.hs:8:3 in main:Main""",
    "zig": """\
thread 123 panic: index out of bounds: index 5, len 3
/srv/cart.zig:14:9: 0x103 in total (shop)
    return items[5];
        ^
/srv/main.zig:8:5: 0x104 in main (shop)""",
    "r": """\
3: stop("no price") at cart.R#14
2: total(x) at cart.R#20
1: checkout(y) at app.R#8""",
    "swift": """\
Shop/Cart.swift:14: Fatal error: no price
Thread 1 crashed:
0  0x0001 total(_:) + 12 in shop at /srv/Cart.swift:14:9
1  0x0002 main + 12 in shop at /srv/main.swift:8:5""",
}


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("joined", [str.splitlines, str.split])
def test_the_frames_are_those_of_the_lines(name, joined):
    whole = read_trace(TRACES[name])
    assert whole
    assert read_trace(" ".join(joined(TRACES[name]))) == whole


@pytest.mark.parametrize("part", ["at from a ", "# #1 x (a", "1: at x ", "@ @ ", "f((((", "# ", " ", "go: .go:1 "])
def test_a_long_line_is_read_at_once(part):
    assert read_trace(f"# # at at {part * (200_000 // len(part))}") is None
