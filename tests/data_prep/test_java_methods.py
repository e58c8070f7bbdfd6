import pytest
from java import methods

from data_prep.java_methods import LARGEST_FILE, find_methods, parse_java

SAMPLE = """
package a;
/** The type. */
public class Outer<T> {
    /** Field. */ int field;
    /** Makes it. */
    @Deprecated
    public Outer() {
    }
    /** Abstract. */ abstract void none();
    // between
    /** First. */
    // a line comment between
    /* another */
    void one() { }
    /** Lost. */
    int x;
    void undocumented() { }
    /* no Javadoc */ void plain() { }
    interface In { /** Default. */ default int two() { return 1; } /** No body. */ int not(); }
    enum E { A { /** In a constant. */ void three() { } }; /** In an enum. */ static void four() { } }
    record R(int a) { /** Compact. */ R { check(a); } /** In a record. */ int five() { return a; } }
    Object o = new Runnable() { /** Anonymous. */ public void run() { } };
}
@interface Mark { class Inner { /** Deep. */ void six() { } } }
"""


def test_finds_documented_methods_with_a_body_wherever_they_stand():
    found = [(m.type_name, m.name, m.kind, m.javadoc) for m in methods(SAMPLE, documented_only=True)]
    assert found == [
        ("Outer", "Outer", "constructor", "/** Makes it. */"),
        ("Outer", "one", "method", "/** First. */"),
        ("Outer.In", "two", "method", "/** Default. */"),
        ("Outer.E.E", "three", "method", "/** In a constant. */"),
        ("Outer.E", "four", "method", "/** In an enum. */"),
        ("Outer.R", "R", "constructor", "/** Compact. */"),
        ("Outer.R", "five", "method", "/** In a record. */"),
        ("Outer.Runnable", "run", "method", "/** Anonymous. */"),
        ("Mark.Inner", "six", "method", "/** Deep. */"),
    ]


def test_undocumented_ones_on_request():
    names = [m.name for m in methods(SAMPLE)]
    assert "undocumented" in names
    assert "plain" in names
    assert len(names) == len(methods(SAMPLE, documented_only=True)) + 2


def test_lines_and_source_are_the_declaration_without_its_javadoc():
    found = methods(SAMPLE, documented_only=True)[0]
    lines = SAMPLE.split("\n")
    assert (found.start_line, found.end_line) == (7, 9)
    assert found.source == "\n".join(lines[6:9]).strip()


def test_a_broken_method_leaves_the_others():
    text = "class A { /** a */ void good() { x(); }\n /** b */ void bad() { int = ; foo( }\n /** c */ void fine() { } }"
    parsed = parse_java(text.encode())
    assert parsed.trouble() == "does not parse at line 2"
    names = [m.name for m in find_methods(parsed)]
    assert "good" in names
    assert "fine" in names
    assert "bad" not in names


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"}}}}", b"class", bytes(range(256)) * 50])
def test_rubbish_gives_no_methods_and_no_exception(data):
    assert methods(data) == []


def test_bytes_that_are_no_utf8_are_replaced():
    (found,) = methods(b'class A { /** caf\xe9 */ void m() { n("\xe9"); } }', documented_only=True)
    assert found.javadoc == "/** caf� */"
    assert "�" in found.source


def test_nesting_as_deep_as_one_likes_costs_no_stack():
    depth = 5_000
    text = (
        f"class A {{ /** d */ int m() {{ return {'(' * depth}f(1){')' * depth} + {'a.b(' * depth}1{')' * depth}; }} }}"
    )
    (found,) = methods(text)
    assert found.fields["api"][:2] == ("A", "f")


def test_deep_types_cost_no_stack():
    depth = 1_000
    text = "".join(f"class C{n} {{ " for n in range(depth)) + "/** d */ void m() { m(); }" + "}" * depth
    (found,) = methods(text)
    assert found.fields["api"] == (f"C{depth - 1}", "m")


def test_a_file_too_long_is_refused_in_one_line():
    with pytest.raises(ValueError, match="longer than 4 MiB"):
        parse_java(b" " * (LARGEST_FILE + 1))


def test_errors_without_end_take_time_in_proportion():
    assert methods(b"(((((" * 40_000) == []


def test_broken_files_are_searched_as_whole_ones_are():
    whole = parse_java(SAMPLE.encode())
    broken = parse_java(SAMPLE.encode() + b"class {")
    assert not whole.trouble()
    assert broken.trouble()
    assert [m.name for m in find_methods(broken)] == [m.name for m in find_methods(whole)]
