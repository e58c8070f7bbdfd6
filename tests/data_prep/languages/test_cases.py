"""Tests that are named by a text are units: of each language and library what a person calls the test."""

import pytest

from data_prep.languages.registry import language

ELIXIR = """
defmodule UserTest do
  describe "register/2" do
    test "an error for \\"bad\\" names", %{user: user} do
      Users.register(user)
    end
  end
  property "is sorted" do
    check all list <- list_of(integer()) do
      Sort.sort(list)
    end
  end
  test "not written yet"
end
"""
KOTLIN = """
class CalcSpec : FunSpec({
    test("adds 1.5 and 2") { calc.add(1) }
    context("a calculator") {
        should("divide") {
            calc.divide(4)
        }
    }
})
"""
SCALA = """
class CalcSuite extends FunSuite {
  test("adds numbers") {
    calc.add(1)
  }
  "A calculator" should "multiply" in {
    calc.multiply(1)
  }
  it should "also subtract" in { calc.subtract(1) }
}
"""
RUBY = """
RSpec.describe Calc do
  let(:calc) { Calc.new }
  it 'adds' do
    calc.add(1)
  end
  it("is short") { calc.go }
end
class CalcTest < TestCase
  test "divides" do
    calc.divide
  end
end
"""
R = """
test_that("adds", {
  calc_add(1)
})
describe("calc", {
  it("divides", {
    calc_divide(1)
  })
})
"""
CPP = """
TEST_CASE("adds numbers", "[calc]") {
    add(1);
    SECTION("of nothing") {
        add(0);
    }
}
TEST_F(CalcTest, Divides) {
    divide(1);
}
TEST(Other, Fails)
{
    fail();
}
BOOST_AUTO_TEST_CASE(multiplies) { multiply(1); }
"""
PHP = """<?php
it('adds', function () {
    add(1);
})->group('x');
test('b', fn () => go());
"""
HASKELL = """
spec = do
  it "adds" $ do
    add 1
  prop "is even" $ \\a -> even a
"""
SAMPLES = {
    "elixir": (ELIXIR, {"UserTest.an error for \"bad\" names": "register", "UserTest.is sorted": "sort"}),
    "kotlin": (KOTLIN, {"CalcSpec.adds 1.5 and 2": "add", "CalcSpec.divide": "divide"}),
    "scala": (
        SCALA,
        {
            "CalcSuite.adds numbers": "add",
            "CalcSuite.A calculator should multiply": "multiply",
            "CalcSuite.it should also subtract": "subtract",
        },
    ),
    "ruby": (RUBY, {"adds": "add", "is short": "go", "CalcTest.divides": "divide"}),
    "lua": ('it("adds", function()\n  calc.add(1)\nend)\n', {"adds": "add"}),
    "php": (PHP, {"adds": "add", "b": "go"}),
    "haskell": (HASKELL, {"adds": "add", "is even": "even"}),
    "r": (R, {"adds": "calc_add", "divides": "calc_divide"}),
    "go": ('package a\nvar _ = Describe("a", func() {\n\tIt("adds", func() {\n\t\tadd(1)\n\t})\n})\n', {"adds": "add"}),
    "swift": ('func spec() {\n  it("adds") {\n    calc.add(1)\n  }\n}\n', {"adds": "add"}),
    "cpp": (
        CPP, {"adds numbers": "add", "CalcTest.Divides": "divide", "Other.Fails": "fail", "multiplies": "multiply"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_tests_have_their_names_and_calls(name):
    text, expected = SAMPLES[name]
    parsed = language(name).parse(text.encode(), f"calc_test{language(name).suffixes[0]}")
    cases = [*parsed.cases(), *(each for each in parsed.functions if each.kind == "test")]
    assert {each.dotted for each in cases} == {*expected}
    for each in cases:
        assert expected[each.dotted] in each.fields()["api"]
        assert "it" not in each.fields()["api"]


def test_a_test_has_its_lines_and_comment():
    text = "describe('a') do\n  # Why it is.\n  it('b', :slow) do\n    go\n  end\nend\n"
    (case,) = language("ruby").parse(text.encode(), "a_spec.rb").cases()
    assert (case.kind, case.name, case.start_line, case.end_line, case.query) == ("test", "b", 3, 5, "Why it is.")
    assert text[case.start : case.end].startswith("it('b'")


def test_tests_of_javascript_are_found_by_their_file():
    text = b"it('adds', () => {\n  add(1);\n});\n"
    assert not [*language("javascript").parse(text, "a.test.js").cases()]


@pytest.mark.parametrize("part", [b"it(`", b"test.each(", b"it('\\\\", b'"a should ', b'test """', b'@test "'])
@pytest.mark.parametrize("name", ["php", "bash", "r", "scala"])
def test_a_text_that_begins_many_tests_is_read_at_once(part, name):
    assert language(name).parse(part * 2_000, "a").cases() is not None


def test_a_macro_that_makes_a_function_names_it():
    text = """
SYSCALL_DEFINE3(open, const char __user *, filename, int, flags)
{
    do_open(filename);
}
DEFINE_HOOK(on_exit, int code) { leave(code); }
int MAX(int a, int b) { return a; }
"""
    for name in ("c", "cpp"):
        found = {each.dotted: each.start_line for each in language(name).parse(text.encode(), "a.c").functions}
        assert found == {"open": 2, "on_exit": 6, "MAX": 7}
