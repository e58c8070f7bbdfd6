"""A trace whose line breaks are lost has the same frames and errors."""

import pytest

from data_prep.traces.trace import read_trace, trace_in

TRACES = {
    "bash": """\
./deploy.sh: line 14: build: command not found
./deploy.sh: line 20: cd: /srv: No such file or directory""",
    "ruby-one": """\
cart.rb:14:in `total': no price (RuntimeError)
\tfrom app.rb:8:in `<main>'""",
    "gdb-two": """\
#0  total (c=0x0) at src/cart.c:14
#1  0x0000555 in main () at src/main.c:8""",
    "valgrind": """\
==12== Invalid read of size 4
==12==    at 0x1091: total (cart.c:14)
==12==    by 0x10A1: main (main.c:8)""",
    "r-list": """\
Error in total(cart) : no price
> traceback()
4: stop("no price")
3: total(cart)
2: FUN(X[[i]], ...)
1: main(cart)""",
    "r-calls": """\
Error in total(cart) : no price
Calls: main ... withVisible -> FUN -> total
Execution halted""",
    "pytest": """\
app.py:8: in main
    total(cart)
cart.py:14: in total
    return rates[x]
E   KeyError: 'food'""",
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
    "firefox-handlers": """\
InternalError: too much recursion
total/<@http://localhost/cart.js:10:9
async*handle@http://localhost/server.js:5:3
EventHandlerNonNull*@http://localhost/server.js:8:3""",
    "safari": """\
TypeError: undefined is not an object (evaluating 'cart.items')
total@http://localhost/cart.js:3:9
forEach@[native code]
global code@http://localhost/app.js:20:1
module code@http://localhost/main.js:2:7""",
    "jest": """\
● Cart › adds prices

    TypeError: Cannot read properties of undefined (reading 'id')

      3 |   total() {
    > 4 |     return this.items.id
        |                       ^
      5 |   }

      at Cart.total (src/cart.js:4:23)
      at Object.<anonymous> (src/cart.test.js:9:26)
      at Promise.then.completed (node_modules/jest-circus/build/utils.js:298:28)

Test Suites: 1 failed, 1 total""",
    "jest-expects": """\
  ● Cart › adds prices

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 4

      at Object.toBe (src/cart.test.js:9:26)
      at Object.<anonymous> (src/cart.test.js:12:3)""",
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
    "go-threads": """\
panic: assignment to entry in nil map [recovered]
	panic: assignment to entry in nil map

goroutine 18 [running]:
testing.tRunner.func1.2({0x4f4a20, 0x5fd3e0})
	/usr/local/go/src/testing/testing.go:1526 +0x24e
example.com/shop/cart.(*Cart).Add(...)
	/srv/app/cart/cart.go:14
created by testing.(*T).Run
	/usr/local/go/src/testing/testing.go:1629 +0x3ea

goroutine 1 [chan receive, 2 minutes]:
main.main()
	/srv/app/main.go:47 +0x1aa
exit status 2""",
    "go-pkg-errors": """\
no price for milk
example.com/shop/cart.(*Cart).Total
	/srv/app/cart/cart.go:14
example.com/shop/cart.Checkout.func1
	/srv/app/cart/cart.go:20
main.main
	/srv/app/main.go:8
runtime.goexit
	/usr/local/go/src/runtime/asm_amd64.s:1594
cannot check out
main.main
	/srv/app/main.go:9""",
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


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("go-pkg-errors", ["no price for milk", "cannot check out"]),
        (
            "go-threads",
            [
                "assignment to entry in nil map [recovered] panic: assignment to entry in nil map",
                "chan receive, 2 minutes",
            ],
        ),
        ("jest", ["Cannot read properties of undefined (reading 'id')"]),
        ("safari", ["undefined is not an object (evaluating 'cart.items')"]),
    ],
)
def test_the_messages_are_those_that_are_printed(name, messages):
    whole = read_trace(TRACES[name])
    assert whole
    assert [error.message for error in whole.errors] == messages
    assert not whole.unread


FRAMES = {
    "at Object.<anonymous> (src/a.test.js:3:9)": ("src/a.test.js", 3, ""),
    "at async Cart.total (src/cart.ts:14:2)": ("src/cart.ts", 14, "Cart.total"),
    "● Cart › adds at total (src/cart.js:4:23)": ("src/cart.js", 4, "total"),
    "TypeError: x is undefined at total (/srv/cart.mjs:4:23)": ("/srv/cart.mjs", 4, "total"),
    "total@http://localhost/cart.js:10:9": ("/cart.js", 10, "total"),
    "global code@https://host/app.js:20:1": ("/app.js", 20, ""),
    "at com.acme.Cart.total(Cart.java:14)": ("com/acme/Cart.java", 14, "Cart.total"),
    "main.(*Cart).Total /srv/app/cart.go:14": ("/srv/app/cart.go", 14, "Cart.Total"),
    "no price example.com/shop/cart.Checkout \t/srv/app/cart.go:20": ("/srv/app/cart.go", 20, "Checkout"),
    "main.(*Cart).Add(0x1, 0x2) /srv/app/cart.go:14 +0x1d": ("/srv/app/cart.go", 14, "Cart.Add"),
    'File "/srv/cart.py", line 14, in total': ("/srv/cart.py", 14, "total"),
}


@pytest.mark.parametrize("typed", FRAMES)
def test_one_frame_alone_is_a_trace(typed):
    trace = read_trace(trace_in(typed))
    assert trace
    assert [(frame.path, frame.line, frame.name) for frame in trace.frames] == [FRAMES[typed]]


@pytest.mark.parametrize(
    "question",
    [
        "where is src/a.test.js:3:9 used",
        "at least one item (see cart.js)",
        "mail to someone@example.com",
        "git@github.com:acme/shop.git",
        "what is at the top",
        "main.go cart.go:14",
        "@app.route at line 3",
        "look at cart.total(price)",
        "File not found on line 3",
        "total at src/cart.js",
    ],
)
def test_a_question_is_no_trace(question):
    assert not trace_in(question)


@pytest.mark.parametrize(
    "typed",
    [
        'Error in total(cart) : no price 3: stop("no price") 2: total(cart) 1: main(cart)',
        '> traceback() 3: stop("no price") 2: total(cart) 1: main(cart)',
        '3: stop("no price") 2: total(cart) 1: main(cart)',
    ],
)
def test_a_list_of_r_in_one_line(typed):
    trace = read_trace(trace_in(typed))
    assert trace
    assert [frame.name for frame in trace.frames] == ["total", "main"]


@pytest.mark.parametrize("part", ["at from a ", "# #1 x (a", "1: at x ", "@ @ ", "f((((", "# ", " ", "go: .go:1 "])
def test_a_long_line_is_read_at_once(part):
    assert read_trace(f"# # at at {part * (200_000 // len(part))}") is None


FAILED = """\
Traceback (most recent call last):
  File "/srv/app.py", line 8, in <module>
    checkout(cart)
  File "/srv/cart.py", line 14, in total
    {code}
{error}"""


@pytest.mark.parametrize(
    "error",
    [
        'httpx.UnsupportedProtocol: Request URL is missing an "http://" or "https://" protocol.',
        "shop.errors.CartProblem: no cart: total is missing",
        "requests.exceptions.ConnectTimeout: no answer from shop.Cart: 3 s",
        "__main__.CartProblem: no cart",
        "jinja2.exceptions.TemplateNotFound: cart.html",
        "StopIteration",
        "StopIteration: 3",
        "KeyboardInterrupt",
        "SystemExit: 2",
        "UserWarning: old",
        "ExceptionGroup: several (2 sub-exceptions)",
        "httpx.UnsupportedProtocol",
        "KeyError: 'food'",
    ],
)
@pytest.mark.parametrize(
    "code",
    [
        "response = transport.handle_request(request)",
        "return rates[x]",
        "raise shop.CartProblem",
        "raise shop.CartProblem from None",
        "for each in shop.Carts: each.total()",
        "rates = shop.Rates",
    ],
)
def test_pythons_error_behind_code_has_its_message(code, error):
    whole = FAILED.format(code=code, error=error)
    expected = read_trace(whole)
    assert expected.errors[0].error == error.partition(": ")[0]
    assert read_trace(" ".join(whole.split())) == expected
    assert expected.errors[0].frames[-1].code == code
    one = whole.replace('  File "/srv/app.py", line 8, in <module>\n    checkout(cart)\n', "")
    assert read_trace(trace_in(" ".join(one.split()))) == read_trace(one)


@pytest.mark.parametrize("code", ["raise shop.CartProblem", "rates = shop.Rates", "return shop.Rates"])
def test_code_that_ends_in_a_type_is_no_error(code):
    whole = FAILED.format(code="return total()", error="shop.CartProblem: no").replace("checkout(cart)", code)
    assert read_trace(" ".join(whole.split())) == read_trace(whole)


def test_an_error_behind_a_frame_without_code():
    whole = FAILED.format(code="", error="shop.CartProblem: no cart").replace("    \n", "")
    assert read_trace(" ".join(whole.split())) == read_trace(whole)
