import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_prep.languages.comments import javadoc_sentence, returned
from data_prep.languages.identifiers import query_words


@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        ("/** Gets it. More. */", "Gets it."),
        ("/**\n * Gets the\n * thing.\n *\n * @return it\n */", "Gets the thing."),
        ("/*****\n ** Gets it\n *****/", "Gets it"),
        ("Gets it.\nSecond line.", "Gets it."),
        ("/** @return the name */", ""),
        ("/** @param x a\n * @return the name. */", ""),
        ("/***/", ""),
        ("/** {@return the name} */", "Returns the name."),
        ("/** {@return the {@code name}.} Never null. */", "Returns the name."),
        ("/** {@inheritDoc} */", ""),
        ("/** {@inheritDoc}\n *\n * <p>Adds to it. */", "Adds to it."),
        ("/** A {@code List<String>} of {@code a.b. c} items. Two. */", "A List<String> of a.b. c items."),
        ("/** Braces {@code if (a) { b } } here. */", "Braces if (a) { b } here."),
        ("/** Like {@link java.util.Map#get(Object, int)}. */", "Like Map.get."),
        ("/** Like {@link #get(int)} or {@linkplain Foo that one}. */", "Like get or that one."),
        ("/** Like {@link Map<String, List<Foo>> the map}. */", "Like the map."),
        ("/** See {@link Foo#bar(int, String) a {@code label}}. */", "See a label."),
        ("/** At most {@value #MAX}; {@value} {@literal <b>}. */", "At most MAX; <b>."),
        ("/** Is a &lt;b&gt; &amp; an <b class='x'>x</b><br/>y&nbsp;z&#46; */", "Is a <b> & an x y z."),
        ("/** One <p> two. */", "One"),
        ("/** <p>One. Two. */", "One."),
        ("/** Steps:\n * <ul><li>a. */", "Steps"),
        ("/** Keeps a List<String> as it is. */", "Keeps a List<String> as it is."),
        ('/** An <a href="http://x.org/a.b">a. link</a> <!-- b. --> here. */', "An a."),
        ("/** Two to the 2<sup>n</sup>. */", "Two to the 2^n."),
        (
            "/** Uses e.g. this, i.e. that, etc. and cf. those. More. */",
            "Uses e.g. this, i.e. that, etc. and cf. those.",
        ),
        ("/** Since 1.2.3 of x.y.Z. More. */", "Since 1.2.3 of x.y.Z."),
        ("/** Returns x, y, etc. More. */", "Returns x, y, etc."),
        ("/** Is 0. If not, 1. */", "Is 0."),
        ("/** 1. Does it. More. */", "1. Does it."),
        ("/** One\n *\n * Two. */", "One"),
        ("/**\r\n * One\r\n * two. Three.\r\n */", "One two."),
        ("/** Unclosed {@code brace. */", "Unclosed brace."),
        ("/** Mail to a@b.org or @ home. */", "Mail to a@b.org or @ home."),
    ],
)
def test_first_sentence_reads_as_a_person_would(comment, sentence):
    assert javadoc_sentence(comment) == sentence


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Returns the HashMap's size (in bytes).", "returns the hash map size in bytes"),
        ("Doesn't parse UTF-8 or x_y.", "doesnt parse utf 8 or x y"),
        ("Removes the element(s) at user’s index.", "removes the elements at user index"),
        ("java.util.List#add", "java util list add"),
        ("— ... !", ""),
    ],
)
def test_query_words_match_the_words_of_code(sentence, words):
    assert list(query_words(sentence)) == words.split()


@given(st.text(alphabet="{}@<>/*.ab &;\n\"'#(", max_size=60))
def test_any_text_gives_one_line(body):
    sentence = javadoc_sentence(f"/**{body}*/")
    assert "\n" not in sentence
    assert query_words(sentence) == tuple(word.lower() for word in query_words(sentence))


def test_deep_nesting_is_no_recursion():
    assert "x" in javadoc_sentence("/** " + "{@link A " * 50_000 + "x" + "}" * 50_000 + " */")


@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        ("/** Gets it.\n * @return the thing. More.\n * @throws X never */", "the thing."),
        ("/**\n * @param x a\n * @return the {@code name}\n *     of <b>it</b>\n */", "the name of it"),
        ("/** Gets it. See @return in code. */", ""),
        ("/** @returns the thing */", ""),
        ("/** @return\n * @param x a */", ""),
    ],
)
def test_what_a_method_returns(comment, sentence):
    assert returned(comment) == sentence
