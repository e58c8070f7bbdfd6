"""What a name is where it stands, in each language."""

import time

import pytest

from data_prep.languages.registry import languages
from search.engine.occurrences import occurrences

CALLS = {
    "bash": ('pay() {\n  :\n}\npay 3  # pay (later)\necho "pay now" "$(pay 4)"\nif pay; then :; fi\n', [4, 5, 6]),
    "c": ('int pay(int x);\nint pay(int x) {\n  return pay (x - 1); /* pay(0) */\n}\nchar *s = "pay(";\n', [3]),
    "cpp": (
        'void Till::pay(int x) {}\nauto a = t->pay<int>(3);\n// pay(1)\nauto s = R"(pay(2))";\n'
        'Till::pay(4);\n',
        [2, 5],
    ),
    "csharp": (
        'public async Task<int> Pay(int x)\nvar a = await Pay(1); // Pay(2)\n'
        'var s = $"{Pay(3)} Pay(4)";\n',
        [2, 3],
    ),
    "elixir": ('@spec pay(integer) :: any\ndef pay(x), do: x\nx |> pay()\n# pay(1)\n"#{pay(2)} pay(3)"\n', [3, 5]),
    "go": ("func (t *Till) Pay(x int) {}\nt.Pay(1) // Pay(2)\ns := `Pay(3)`\nf := Pay\n", [2]),
    "haskell": (
        'pay :: Int -> Int\npay x = x\nmain = print (pay (3)) -- pay (4)\ns = "pay (5)"\n'
        'q = \'"\' : pay (6)\n',
        [3, 5],
    ),
    "java": (
        'public int pay(int x) {\n  return this.pay(x); // pay(1)\n}\nString s = "pay(2)";\n'
        'new Pay().<T>pay(3);\n',
        [2, 5],
    ),
    "javascript": (
        "function pay(x) {}\npay(1) // pay(2)\nconst s = `${pay(3)} pay(4)`\n"
        "const t = /pay(5)\"/\npay?.(6)\n",
        [2, 3, 5],
    ),
    "kotlin": ('fun Till.pay(x: Int) = x\ntill.pay(1) // pay(2)\nval s = "${pay(3)} pay(4)"\nval f = ::pay\n', [2, 3]),
    "lua": ("function M.pay(x) end\nM.pay(1) -- pay(2)\nlocal s = [[pay(3)]]\nlocal t = M:pay(4)\n", [2, 4]),
    "php": ('<?php\nfunction pay($x) {}\n$t->pay(1); # pay(2)\nTill::pay(3);\n$s = \'pay(4)\';\n', [3, 4]),
    "python": (
        'def pay(x):\n    """pay(1)"""\n    return pay(x)\ns = f"{pay(2)} pay(3)"  # pay(4)\n'
        't = "pay(5)"\n@pay(6)\n',
        [3, 4, 6],
    ),
    "r": ("pay <- function(x) x\npay(1) # pay(2)\ns <- 'pay(3)'\nlapply(xs, pay)\n", [2]),
    "ruby": ('def self.pay(x)\nend\npay 1 # pay(2)\nt.pay(3)\ns = "#{pay(4)} pay(5)"\nq = \'pay(6)\'\n', [3, 4, 5]),
    "rust": (
        "fn pay(x: i32) {}\npay(1); // pay(2)\nlet s = r#\"pay(3)\"#;\n"
        "let c = '\"'; Till::pay::<i32>(4);\npay!(5);\n",
        [2, 4, 5],
    ),
    "scala": ('def pay(x: Int) = x\npay(1) // pay(2)\nval s = s"${pay(3)} pay(4)"\nval t = pay[Int](5)\n', [2, 3, 4]),
    "swift": ('func pay(_ x: Int) {}\npay(1) // pay(2)\nlet s = "\\(pay(3)) pay(4)"\n', [2, 3]),
    "typescript": (
        "pay(x: number): void;\nabstract class A { }\npay<number>(1); // pay(2)\n"
        "const a = b ? pay(3) : 4;\n",
        [3, 4],
    ),
    "zig": ('pub fn pay(x: i32) void {}\npay(1); // pay(2)\nconst s = "pay(3)";\ntill.pay(4);\n', [2, 4]),
}  # fmt: skip
NAMED = {each.name: each for each in languages()}


def kinds(text, language, name="pay"):
    return [(each.line, each.kind) for each in occurrences(text, name, NAMED[language])]


def test_every_language_is_tried():
    assert {*CALLS} == {*NAMED}


@pytest.mark.parametrize("language", [*CALLS])
def test_calls_are_told_from_declarations_comments_and_texts(language):
    text, lines = CALLS[language]
    name = "Pay" if language in ("csharp", "go") else "pay"
    found = kinds(text, language, name)
    assert sorted({line for line, kind in found if kind == "call"}) == lines


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        ("from till import pay", "python", "import"),
        ("import { pay } from './till'", "typescript", "import"),
        ("use till::pay;", "rust", "import"),
        ("total = map(pay, xs)", "python", "mention"),
        ("register(pay)", "go", "mention"),
        ("return pay (1);", "c", "call"),
        ("static int pay (int x)", "c", "definition"),
        ("  public pay(x) {", "javascript", "definition"),
        ("#define pay(x) (x)", "c", "definition"),
        ("return new pay;", "javascript", "call"),
        ("x = 'it''s' # pay(1)", "python", "text"),
        ("import Till (pay (..))", "haskell", "import"),
        ("f :: Int -> pay (a)", "haskell", "mention"),
        ("  case pay(amount: Int)", "swift", "definition"),
        ("const f = (s) => /[`']/.test(pay(s))", "javascript", "call"),
        ("a = b / 2 + `/` + pay(1) / 3", "typescript", "call"),
        ("struct pay *first;", "c", "mention"),
        ("size_t n = sizeof(struct pay);", "c", "mention"),
        ("enum pay how = CASH;", "c", "mention"),
        ("struct pay", "c", "definition"),
        ("typedef pay *pay_t;", "c", "mention"),
        ("class pay final : public Base {", "cpp", "definition"),
        ("void f(const pay &x);", "cpp", "mention"),
        ("using namespace pay;", "cpp", "import"),
        ("fn f(x: *const pay) void {", "zig", "mention"),
        ("const pay = struct {", "zig", "definition"),
        ("impl pay for Disk {", "rust", "mention"),
        ("fn f(x: impl pay) {", "rust", "mention"),
        ("impl<T> pay<T> {", "rust", "definition"),
        ("if let pay { x } = y {", "rust", "mention"),
        ("import { type pay, x } from './till'", "typescript", "import"),
        ("import type pay from './till'", "typescript", "import"),
        ("  type pay,", "typescript", "mention"),
        ("export type pay = {}", "typescript", "definition"),
        ('$s = "{$t->pay(1)}";', "php", "call"),
    ],
)
def test_what_is_no_call_has_a_kind(text, language, kind):
    assert kinds(text, language) == [(1, kind)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("pay`coins`", "javascript"),
        ("const a = pay`${b}`", "typescript"),
        ("(*pay)(3);", "c"),
        ("(* pay) (3);", "cpp"),
        ('pay "coins"', "lua"),
        ("pay { 3 }", "lua"),
        ("pay [[coins]]", "lua"),
        ("pay { 3 }", "scala"),
        ("x %>% pay", "r"),
        ("x |> pay", "r"),
    ],
)
def test_a_name_is_called_without_brackets_behind_it(text, language):
    assert kinds(text, language) == [(1, "call")]


@pytest.mark.parametrize(
    ("text", "language"),
    [("class A extends pay {", "scala"), ("f = (*pay);", "c"), ("x = pay", "lua"), ("lapply(x, pay)", "r")],
)
def test_a_name_is_only_mentioned(text, language):
    assert kinds(text, language) == [(1, "mention")]


def test_a_name_is_no_part_of_a_longer_one():
    assert kinds("repay(1); pay_all(2); $pay(3); pays(4)", "javascript") == []
    text = "a.repay(1)\nb.pay(2)\n"
    (found,) = occurrences(text, "pay", NAMED["python"])
    assert (found.line, found.column, found.receiver, found.text) == (2, 2, "b", "b.pay(2)")


@pytest.mark.parametrize(
    ("text", "receiver"),
    [
        ("a.b.pay()", "b"),
        ("a->pay()", "a"),
        ("A::pay()", "A"),
        ("f().pay()", ""),
        ("pay()", None),
        ("a?.pay()", "a"),
        ("a&.pay()", "a"),
        ("a?->pay()", "a"),
        ("(*Till).pay(a)", "Till"),
        ("a:pay()", "a"),
        ("a: pay", None),
        ("a :: pay", None),
    ],
)
def test_the_name_before_the_dot_is_told(text, receiver):
    (found,) = occurrences(text, "pay", NAMED["cpp"])
    assert found.receiver == receiver


def test_all_of_a_document_is_text():
    assert [each.kind for each in occurrences("call pay(1)", "pay", None)] == ["text"]


@pytest.mark.parametrize(
    "part", ["pay<", "`${", "'", '"', "a b ", "\\", "/*", "pay(", "((", "[[", "::", "import {", "#{", ". "]
)
def test_hostile_text_takes_no_long_time(part):
    for language in ("bash", "cpp", "haskell", "php", "python", "typescript"):
        for count in (2_000, 8_000):
            started = time.process_time()
            assert sum(1 for _ in occurrences(f"{part * count} pay(", "pay", NAMED[language])) >= 1
            took = time.process_time() - started
        assert took < 4
