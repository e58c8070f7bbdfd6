from data_prep.records import JavaFile
from search.languages import units_of

SAMPLE = """
package a;
/** The type. */
@Deprecated
public class Outer<T> extends Base implements OneThing {
    /** Field. */ int countedField;
    /** Makes it. */
    public Outer() {
    }
    /** Abstract. */ abstract Thing none(String wantedName);
    /** Finds the first one there is. */
    void one() {
        call(someValue);
        return;
    }
    void undocumented() { }
    interface In { /** Default. */ default int two() { return 1; } int not(); }
    enum E { A { void three() { } }, B; static void four() { } }
    record R(int a) { R { check(a); } }
    Object o = new Runnable() { public void run() { } };
    void broken() { int = 3; }
}
"""


def units(text):
    return list(units_of(JavaFile("", "a/Outer.java", text.encode())))


def test_every_method_and_named_type_is_there_documented_or_not():
    found = [(unit.pair.method.kind, unit.pair.method.dotted, unit.pair.query_text) for unit in units(SAMPLE)]
    assert found == [
        ("type", "Outer", "The type."),
        ("constructor", "Outer.Outer", "Makes it."),
        ("abstract", "Outer.none", "Abstract."),
        ("method", "Outer.one", "Finds the first one there is."),
        ("method", "Outer.undocumented", ""),
        ("type", "Outer.In", ""),
        ("method", "Outer.In.two", "Default."),
        ("abstract", "Outer.In.not", ""),
        ("type", "Outer.E", ""),
        ("method", "Outer.E.E.three", ""),
        ("method", "Outer.E.four", ""),
        ("type", "Outer.R", ""),
        ("constructor", "Outer.R.R", ""),
        ("method", "Outer.Runnable.run", ""),
    ]


def test_a_type_has_its_head_and_the_words_of_its_members():
    outer = units(SAMPLE)[0].pair
    assert outer.method.source == "@Deprecated\npublic class Outer<T> extends Base implements OneThing"
    assert (outer.method.start_line, outer.method.end_line) == (4, 22)
    assert outer.method.fields["name"] == ("outer",)
    tokens = set(outer.method.fields["tokens"])
    assert {"counted", "field", "none", "one", "undocumented", "base", "thing"} <= tokens
    assert not tokens & {"call", "some", "value", "deprecated", "three"}  # those of bodies and annotations
    assert outer.method.fields["api"] == ()


def test_a_method_without_a_body_has_the_words_of_its_result_and_parameters():
    none = next(unit.pair.method for unit in units(SAMPLE) if unit.pair.method.name == "none")
    assert none.source == "abstract Thing none(String wantedName);"
    assert none.fields["tokens"] == ("thing", "string", "wanted", "name")


def test_only_comments_that_data_preparation_keeps_can_be_asked():
    assert [unit.pair.method.name for unit in units(SAMPLE) if unit.asks] == ["one"]
