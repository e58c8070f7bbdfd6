"""Java of the releases 21 to 25, most of which the grammar does not know, and what is left out if it is newer still."""

import pytest

from data_prep.config import DataConfig
from data_prep.languages.java.declarations import find_declarations, find_methods, parse_java
from data_prep.languages.java.functions import clean_fields
from data_prep.pipeline.java_extraction import Chunk, extract
from data_prep.records import SourceFile

METHODS = (
    "int f(Object o) { return switch (o) { case Box.P(int x, Object y) -> x; default -> 0; }; }",
    "int f(Object o) { return switch (o) { case P(int x, Box.P(var y, String z)) when x > 1 && z != null -> x; default -> 0; }; }",  # noqa: E501
    "int f(Object o) { return switch (o) { case final String s -> s.length(); default -> 0; }; }",
    'int f(Object o) { return switch (o) { case final @A @B("(") String s when s.isEmpty() -> 1; default -> 0; }; }',
    "int f(Object o) { switch (o) { case P(final int x, @A Object y): return x; default: return 0; } }",
    "int f(Object o) { return switch (o) { case String _, Integer _ -> 1; case P(int _, _) -> 2; default -> 0; }; }",
    "int f(Object o) { return switch (o) { case Map.Entry<?, ?> _, Box.P(_, _) when o.hashCode() > 1 -> 1; default -> 0; }; }",  # noqa: E501
    "int f(Object o) { return switch (o) { case Short _,\n\n  Integer _ /* , */ -> 1; default -> 0; }; }",
    "boolean f(Object o) { return o instanceof Box.P(final int x, P(@A var y, _)) && x > 0; }",
    "void f(List<P> all) { for (P(int x, var y) : all) g(x, y); }",
    "void f(List<P> all) { for (var _ : all) { try { g(); } catch (Exception _) { } } }",
    "int f(@A String @B ... xs) { return xs.length; }",
    'int f(String @B("x") [] @A @B(")") ... xs) { return xs.length; }',
    "Box(int a) { if (a < 0) throw new IllegalArgumentException(); super(); }",
    'Box(String a) { var b = a + ";{ super("; /* this( */ this(b, () -> { return g(b); }); g(b); }',
    "<T> Box(T a) { int b = g(); <String>this(b + h(b)); }",
    "Box(Box f) { Objects.requireNonNull(f); f.super(3); }",
    "Box { Objects.requireNonNull(b); }",
    'String f(int x) { return STR."a \\{x} b"; }',
    "int f(int k) { return switch (k) { case 1, 2: yield 3; case 4: { yield (5); } default: yield -k; }; }",
)


@pytest.mark.parametrize("method", METHODS)
def test_newer_syntax_is_read_as_it_stands(method):
    text = f"record Box(int b) {{\n  /** One. */\n  {method}\n  int after() {{ return 1; }}\n}}\n"
    parsed = parse_java(text.encode())
    found, after = find_methods(parsed, documented_only=False)
    assert not parsed.trouble()
    assert (found.source, found.start_line, found.end_line) == (method, 3, 3 + method.count("\n"))
    assert (after.start_line, after.name) == (4 + method.count("\n"), "after")


def test_words_and_types_are_those_of_the_text():
    patterns = "class A { int f(Object o) { switch (o) { case Box.Point(String left, final URI right), Long _: } return left.length() + right.getPort(); } }"  # noqa: E501
    (found,) = find_methods(parse_java(patterns.encode()), documented_only=False)
    fields = clean_fields(found)
    assert fields["tokens"] == ("box", "point", "string", "left", "uri", "right", "long", "length", "get", "port")
    call = "class A extends B { A(String s) { s.trim(); super(s.length(), new Box()); } }"
    (found,) = find_methods(parse_java(call.encode()), documented_only=False)
    assert clean_fields(found)["api"] == ("String", "trim", "String", "length", "Box", "new")


def test_a_compact_file_and_its_imports():
    head = "import module java.base;\n\n/// Greets *someone*.\n/// By `name.x`.\n"
    text = f"{head}void main(String[] args) {{ IO.println(args); }}\n"
    parsed = parse_java(text.encode())
    (found,) = find_declarations(parsed)
    assert (found.kind, found.name, found.type_name, found.start_line) == ("method", "main", "", 5)
    assert (found.javadoc, parsed.code_start) == ("/// Greets *someone*.\n/// By `name.x`.", text.index("void"))


def test_a_compact_file_has_fields_and_methods_with_types():
    text = "List<String> all; URI place; URI next() { return place; } void f() { all.size(); next().getPort(); }"
    _, found = find_methods(parse_java(text.encode()), documented_only=False)
    assert clean_fields(found)["api"] == ("List", "size", "URI", "getPort")


@pytest.mark.parametrize(
    ("comments", "doc"),
    [
        ("/// One.\n  /// Two.\n", "/// One.\n  /// Two."),
        ("/// One.\n\n  /// Two.\n", "/// Two."),
        ("/// Of all below.\n\n", ""),
        ("/// Of all below.\r\n \t\r\n", ""),
        ("/// Of all below.\n  // more\n\n", ""),
        ("/** Old. */\n  /// Of all below.\n\n", "/** Old. */"),
        ("//////// Locator methods start.\n", ""),
        ("//// four\n  /// Three.\n", "/// Three."),
        ("/// One.\n  // plain\n  @Deprecated ", "/// One."),
        ("/** Old. */\n  /// New.\n", "/// New."),
        ("/// New.\n  /** Old. */\n", "/** Old. */"),
        ("/** Old. */\n  //////////\n  ///\n", "/** Old. */"),
        ("//////////\n", ""),
        ("int k; /// of k\n", ""),
        ("// One.\n", ""),
    ],
)
def test_lines_of_three_slashes_are_documentation(comments, doc):
    parsed = parse_java(f"class A {{\n  {comments}  int f() {{ return 1; }}\n}}\n".encode())
    assert [found.javadoc for found in find_declarations(parsed) if found.name == "f"] == [doc]


ESCAPES = r"""
class \u0043af\u00e9 {
    /** Na\u00efve d\uuu00e9codage \ud83d\ude00. */
    int caf\u00e9(String x) { return x.\u0061bs("\\u0041", '\u005c'', "\u0022.size()); }
    // ends here \u000a void hidden() { }
    int after() \u007b return 1; \u007D
    /* \u002a/ char c = '\u0000'; /* */ int last() { return 2; }
}
"""


def test_escapes_are_read_first_and_lines_stay():
    parsed = parse_java(ESCAPES.encode())
    found = {each.name: each for each in find_declarations(parsed)}
    assert list(found) == ["Café", "café", "hidden", "after", "last"]
    assert not parsed.trouble()
    assert {name: (each.start_line, each.end_line) for name, each in found.items()} == {
        "Café": (2, 8), "café": (4, 4), "hidden": (5, 5), "after": (6, 6), "last": (7, 7),
    }  # fmt: skip
    assert found["café"].javadoc == "/** Naïve décodage 😀. */"
    assert found["after"].source == r"int after() \u007b return 1; \u007D"
    assert clean_fields(found["café"])["api"] == ("String", "size", "String", "abs")


def test_what_the_grammar_does_not_know_is_counted_with_its_lines():
    text = """class A {
    /** Doubles the amount of it. */
    int one(P p) {
        return p with { x = 3; };
    }
    /** Reads the rest of it. */
    int two(int x @@ y) {
        return 1;
    }
    /** Keeps the rest of it. */
    int three(int x) {
        return x;
    }
}
"""
    found = extract(Chunk([SourceFile("", "a/A.java", text.encode())], DataConfig()))
    assert [pair.method.name for pair in found.pairs] == ["three"]
    said = "does not parse at line 4: 2 functions from lines 3, 7 on are left out"
    assert found.broken == [("a/A.java", said)]
