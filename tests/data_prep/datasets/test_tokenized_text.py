"""Tokens between spaces read again as they were written."""

import pytest

from data_prep.datasets.open_java import laid_out, prose, with_literals
from data_prep.languages.comments import javadoc_sentence
from tests.data_prep.java import methods


@pytest.mark.parametrize(
    ("spaced", "written"),
    [
        ("returns the size . never null .", "returns the size. never null."),
        ("it doesn ' t matter ( much ) , or ?", "it doesn't matter (much), or?"),
        ("the panel ' s name", "the panel's name"),
        ("a ' quoted ' word", "a ' quoted ' word"),
        ("a marker , e . g . a star . then more", "a marker, e.g. a star. then more"),
        ("on android 4 . 4 . 3 .", "on android 4.4.3."),
        ("a tag . < p / > < / p > < code > x < / code >", "a tag. <p/> </p> <code> x </code>"),
        ("less than 1 & lt ; 2", "less than 1 &lt; 2"),
        ("nothing to do here", "nothing to do here"),
    ],
)
def test_prose(spaced: str, written: str) -> None:
    assert prose(spaced) == written


def test_a_first_sentence_is_found_in_prose() -> None:
    assert javadoc_sentence(prose("sorts it , e . g . by name . < p > stable .")) == "sorts it, e.g. by name."


def test_a_line_for_each_statement_and_brace() -> None:
    code = "void go ( int n ) { for ( int i = 0 ; i < n ; i ++ ) { say ( \"a ; { b\" , '}' ) ; } done ( ) ; }"
    assert laid_out(code).splitlines() == [
        "void go ( int n ) {",
        "    for ( int i = 0 ; i < n ; i ++ ) {",
        "        say ( \"a ; { b\" , '}' ) ;",
        "    }",
        "    done ( ) ;",
        "}",
    ]
    assert laid_out("void go ( ) { }").splitlines() == ["void go ( ) {", "}"]
    assert laid_out("} } ) x").split() == ["}", "}", ")", "x"]
    assert laid_out("") == ""


def test_nothing_is_lost_but_spaces() -> None:
    code = (
        "int f ( ) { run ( new R ( ) { public void run ( ) { x ( ) ; } } ) ; int [ ] a = { 1 , 2 } ; return 1 >> 2 ; }"
    )
    assert laid_out(code).split() == code.split()


def test_shifts_are_one_operator_again() -> None:
    code = "int f ( List < List < String > > all , int n ) { n >>= 1 ; return n > > > 1 > > 2 ; }"
    assert "n >>> 1 >> 2 ;" in laid_out(code)
    (method,) = methods(f"class A {{ {laid_out(code)} }}")
    assert method.fields["tokens"] == ()


def test_placeholders_become_literals_of_their_kind() -> None:
    code = 'f ( _STR , _NUM , _BOOL , MAX_NUM , my_STR , _STRING , _STR . x ) ; "_NUM_"'
    assert with_literals(code) == 'f ( "" , 0 , true , MAX_NUM , my_STR , _STRING , "" . x ) ; "_NUM_"'
    (method,) = methods(
        f"class A {{ void f ( ) {{ {with_literals('if ( _BOOL ) go ( _NUM , _STR . trim ( ) ) ;')} }} }}"
    )
    assert method.fields["tokens"] == ("go", "trim")
    assert "String trim" in " ".join(method.fields["api"])
