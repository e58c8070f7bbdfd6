import pytest
from java import methods

from data_prep.languages.java.declarations import LeftOut, find_declarations, find_methods, parse_java
from data_prep.languages.parsing import MOST_DEEP
from data_prep.records import LARGEST_SOURCE

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
    found = [(m.type_name, m.name, m.kind, m.documentation) for m in methods(SAMPLE, documented_only=True)]
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
    assert found.documentation == "/** caf� */"
    assert "�" in found.source


def test_nesting_as_deep_as_one_likes_costs_no_stack():
    depth = 5_000
    text = (
        f"class A {{ /** d */ int m() {{ return {'(' * depth}f(1){')' * depth} + {'a.b(' * depth}1{')' * depth}; }} }}"
    )
    (found,) = methods(text)
    assert found.fields["api"][:2] == ("A", "f")


@pytest.mark.parametrize("depth", [1, MOST_DEEP, MOST_DEEP + 1, 5000])
def test_deep_types_cost_no_stack(depth):
    text = "".join(f"class C{n} {{ " for n in range(depth)) + "/** d */ void m() { m(); }" + "}" * depth
    found = methods(text)
    assert [each.fields["api"] for each in found] == [(f"C{depth - 1}", "m")] * (depth <= MOST_DEEP)


def test_a_file_too_long_is_refused_in_one_line():
    with pytest.raises(ValueError, match="longer than 4 MiB"):
        parse_java(b" " * (LARGEST_SOURCE + 1))


def test_errors_without_end_take_time_in_proportion():
    assert methods(b"(((((" * 40_000) == []


def test_broken_files_are_searched_as_whole_ones_are():
    whole = parse_java(SAMPLE.encode())
    broken = parse_java(SAMPLE.encode() + b"class {")
    assert not whole.trouble()
    assert broken.trouble()
    assert [m.name for m in find_methods(broken)] == [m.name for m in find_methods(whole)]


NESTED = {  # text that would be held or read once for each level
    "classes": "class A{" * 6_000 + "}" * 6_000,
    "anonymous classes": "class A{Object a(){return new A(){" * 2000 + "};}}" * 2000,
    "anonymous classes in a method": "class A{void a(){" + "new A(){void b(){" * 3000 + "x();" + "}};" * 3000 + "}}",
    "local classes": "class A{void a(){" + "class B{void b(){" * 7 + "x();" * 3000 + "}}" * 7 + "}}",
    "many": "class A{" + "int a();" * 25_000 + "}",
    "long names": "".join(f"class {letter * 300}{{" for letter in "abcdef") + "int a(){return 1;}" * 2000 + "}" * 6,
    "a long name": f"class {'a' * 100_000} {{ {'int b(){return 1;}' * 2000} }}",
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_what_is_nested_without_end_takes_no_more_than_a_few_times_its_size(text):
    left_out = LeftOut()
    found = list(find_declarations(parse_java(text.encode()), left_out))
    held = sum(len(each.type_name) + len(each.name) for each in found)
    held += sum(each.node.end_byte - each.node.start_byte for each in found if each.kind != "type")
    assert held < 5 * len(text)
    assert left_out.declarations > 0
    assert str(left_out).startswith(f"{left_out.declarations:,} declarations are left out")
    assert max((each.type_name.count(".") for each in found), default=0) <= MOST_DEEP


def test_what_people_write_is_within_the_bounds():
    text = "class A{void a(){" + "new A(){void b(){" * 6 + "x();" + "}};" * 6 + "}}"
    left_out = LeftOut()
    assert len(list(find_declarations(parse_java(text.encode()), left_out))) == 8
    assert str(left_out) == ""
