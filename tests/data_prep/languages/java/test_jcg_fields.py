"""The `jcg` profile against every released word of the 10,000 test methods, and on small methods by hand."""

from collections.abc import Iterator
from functools import lru_cache
from string import ascii_letters

import pytest
from jcg_release import ROWS, lines, parsed, released

from data_prep.languages.java.javalang_trees import parse_published
from data_prep.languages.java.jcg_fields import (
    API_STOP,
    fields_of,
    name_words,
    node_values,
    token_words,
)

UNKNOWN = 3  # the id of <UNK> among the released tokens
UNPROVEN = {"J", "Q", "aabb", "ca", "th", "vp"}


@lru_cache(maxsize=1)
def all_fields() -> list[dict[str, tuple[str, ...]]]:
    return [fields_of(method) for method in parsed()]


def published_fields(source: str) -> dict[str, tuple[str, ...]]:
    return fields_of(parse_published(source))


def text(source: str, field: str) -> str:
    return " ".join(published_fields(source)[field])


def body(statements: str, field: str) -> str:
    """A field of a method with these statements, without what the method around them gives (go is a stop word)."""
    words = text(f"void go() {{ {statements} }}", field)
    start, end = {
        "tokens": ("void go ( ) {", "}"),
        "api": ("", ""),
        "ast": ("( MethodDeclaration", ") MethodDeclaration"),
    }[field]
    assert words.startswith(start)
    assert words.endswith(end)
    return words.removeprefix(start).removesuffix(end).strip()


def test_first_published_method():
    fields = published_fields("public String taskClassName ( ) { return taskClsName ; }")
    assert {field: " ".join(words) for field, words in fields.items()} == {
        "name": "task class name",
        "tokens": "public string task class name ( ) { return task cls name ; }",
        "api": "taskClassName taskClsName",
        "ast": "( MethodDeclaration ( ReferenceType ) ReferenceType ( ReturnStatement ( MemberReference ) "
        "MemberReference ) ReturnStatement ) MethodDeclaration",
    }


@pytest.mark.parametrize(("field", "name"), [("methodname", "name"), ("sbt", "ast"), ("apiseq", "api")])
def test_every_released_row_comes_out_again(field, name):
    rows, vocabulary = released(field)
    equal = sum(
        [vocabulary.get(word, 0) for word in fields[name]] == row
        for fields, row in zip(all_fields(), rows, strict=True)
    )
    assert equal == ROWS


def test_the_names_and_trees_of_the_release_lost_no_word():
    for field, name in (("methodname", "name"), ("sbt", "ast")):
        known = released(field)[1].keys()
        assert all(known >= set(fields[name]) for fields in all_fields())


def test_tokens_of_every_row_come_out_again_but_for_words_that_the_release_lost():
    rows, vocabulary = released("tokens")
    whole = replaced = 0
    for fields, row in zip(all_fields(), rows, strict=True):
        assert [vocabulary.get(word, UNKNOWN) for word in fields["tokens"]] == row
        whole += UNKNOWN not in row
        replaced += row.count(UNKNOWN)
    assert (whole, replaced) == (9_984, 26)


def test_published_text_is_its_own_form():
    assert [" ".join(method.tokens) for method in parsed()] == lines()


def stretches() -> Iterator[tuple[int, list[str]]]:
    """Between values in the vocabulary: how many zeros the release has, and the values that are not in it."""
    rows, vocabulary = released("apiseq")
    for method, row in zip(parsed(), rows, strict=True):
        values: list[list[str]] = [[]]
        known = []
        for value in node_values(method):
            if value in vocabulary:
                known.append(vocabulary[value])
                values.append([])
            else:
                values[-1].append(value)
        zeros = [0]
        for id_ in row:
            if id_:
                zeros.append(0)
            else:
                zeros[-1] += 1
        assert known == [id_ for id_ in row if id_]
        yield from zip(zeros, values, strict=True)


def eliminate(found: list[tuple[int, list[str]]]) -> tuple[set[str], set[str]]:
    """Stop words and words, as far as elimination proves them."""
    stop: set[str] = set()
    words: set[str] = set()
    settled = -1
    while settled != len(stop) + len(words):
        settled = len(stop) + len(words)
        for zeros, values in found:
            left = [value for value in values if value not in stop and value not in words]
            zeros -= sum(value in words for value in values)
            assert 0 <= zeros <= len(left)
            if zeros == 0:
                stop.update(left)
            elif zeros == len(left):
                words.update(left)
    return stop, words


def test_the_stop_words_are_what_elimination_proves_and_six_more():
    found = list(stretches())
    stop, words = eliminate(found)
    assert API_STOP - stop == UNPROVEN
    assert stop < API_STOP
    assert not words & API_STOP
    assert not released("apiseq")[1].keys() & API_STOP
    still_open = {value for _, values in found for value in values} - stop - words
    assert still_open & API_STOP == {"aabb", "ca", "th", "vp"}
    assert set(ascii_letters) <= API_STOP


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("toXMLString", "to xmlstring"),
        ("JSearchPanel", "jsearch panel"),
        ("key1Of", "key1 of"),
        ("findByUuid_First", "find by uuid first"),
        ("__a__B", "a b"),
        ("_", ""),
        ("MAX_VALUE", "max value"),
        ("größeÄndern", "größeändern"),
    ],
)
def test_words_of_a_name(name, words):
    assert " ".join(name_words(name)) == words


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("findByUuid_First", "find by uuid _ first"),
        ("m_group", "m _group"),
        ("START_JUMP", "star t_ jump"),
        ("tmp000", "tmp 0 0 0"),
        ("toXMLString", "to xml string"),
        ("A", "a"),
        ("AB", "ab"),
        ("a1", "a 1"),
        (">=", ">="),
        ("...", "..."),
        ("STR_", "str_"),
        ("NUM_", "num_"),
        ("BOOL_", "bool_"),
        ("STR_A", "st r_ a"),
        ("¢", "¢"),
        ("$x", "$x"),
        ("x$", "x $"),
    ],
)
def test_words_of_a_token(token, words):
    assert " ".join(token_words(token)) == words


def cuts(token: str) -> str:
    """The published rule, character by character."""
    found = token[0]
    for place in range(1, len(token)):
        before, here, after = token[place - 1], token[place], token[place + 1 : place + 2]
        small, capital = "a" <= here <= "z", "A" <= before <= "Z"
        if not small and (not capital or (after and not "A" <= after <= "Z")):
            found += " "
        found += here
    return found.lower()


def test_tokens_are_cut_by_the_rule_at_every_character():
    characters = "aB1_$é"
    tokens = [""]
    for _ in range(5):
        tokens = [token + character for token in tokens for character in characters]
        assert [" ".join(token_words(token)) for token in tokens] == [cuts(token) for token in tokens]


def test_raw_java_gives_what_its_published_form_gives():
    raw = """
    /** Makes it. */
    @Override @Deprecated() @a.b.Named(value = "x)", list = {1, 2})
    public <T extends Number> T pick(final @Given("y") List<T> all, int... at) throws Odd { // the first
        if (at.length == 0x1F || all.get(1).equals('c')) return null; /* no */
        return "text".isEmpty() == true ? all.get(at[0]) : (T) -1.5e3;
    }
    """
    published = (
        "public < T extends Number > T pick ( final List < T > all , int ... at ) throws Odd { "
        "if ( at . length == NUM_ || all . get ( NUM_ ) . equals ( STR_ ) ) return null ; "
        "return STR_ . isEmpty ( ) == BOOL_ ? all . get ( at [ NUM_ ] ) : ( T ) - NUM_ ; }"
    )
    assert " ".join(parse_published(raw).tokens) == published
    assert published_fields(raw) == published_fields(published)
    assert text(raw, "api") == "pick Number all at at.length all.get STR_.isEmpty all.get at"


def test_constructor():
    source = "protected Route(Scheme key) { this(key, 1); super.init(); Route.super.done(); }"
    assert text(source, "name") == "route"
    assert text(source, "api") == "Route key Scheme key Route.super.done"
    assert text(source, "ast").startswith(
        "( ConstructorDeclaration ( FormalParameter ( ReferenceType ) ReferenceType ) FormalParameter "
        "( StatementExpression ( ExplicitConstructorInvocation ( MemberReference ) MemberReference "
    )


def test_method_without_a_body():
    source = "abstract boolean infoEnabled() throws Odd;"
    assert text(source, "tokens") == "abstract boolean info enabled ( ) throws odd ;"
    assert text(source, "api") == "infoEnabled"
    assert text(source, "ast") == "( MethodDeclaration ( BasicType ) BasicType ) MethodDeclaration"


def test_lambda_and_method_reference():
    source = "run((left, right) -> left.go(right)); each(Foo::bar);"
    assert body(source, "api") == "run left right left.go right each Foo bar"
    assert body("run(() -> 1);", "ast") == (
        "( StatementExpression ( MethodInvocation ( LambdaExpression ( MemberReference ) MemberReference ) "
        "LambdaExpression ) MethodInvocation ) StatementExpression"
    )


def test_nested_loops():
    source = "for (int row = 0; row < 3; row++) for (Cell cell : row()) do { cell.fill(); } while (!cell.full());"
    assert body(source, "api") == "row row row Cell cell row cell.full cell.fill"
    assert body("for (;;) while (on) ;", "ast") == (
        "( ForStatement ( ForControl ) ForControl ( WhileStatement ( MemberReference ) MemberReference "
        "( Statement ) Statement ) WhileStatement ) ForStatement"
    )


def test_switch():
    source = "switch (kind) { case ONE: case 2: left(); break; default: right(); }"
    assert body(source, "api") == "kind left right"
    assert body("switch (kind) { case ONE: break; }", "ast") == (
        "( SwitchStatement ( MemberReference ) MemberReference ( SwitchStatementCase ( BreakStatement ) "
        "BreakStatement ) SwitchStatementCase ) SwitchStatement"
    )


def test_try():
    source = "try (Reader in = open()) { in.read(); } catch (One | Two error) { log(error); } finally { shut(); }"
    assert body(source, "api") == "Reader open in.read error log error shut"


def test_a_label_is_no_word_and_no_node():
    plain, labelled = "while (on) { step(); }", "outer: while (on) { step(); }"
    assert body(labelled, "api") == body(plain, "api") == "on step"
    assert body(labelled, "ast") == body(plain, "ast")
    assert body(labelled, "tokens") == "outer : while ( on ) { step ( ) ; }"


def test_generics():
    assert text("<K, V extends Base<? super K>> Map<K, V[]> of(Map.Entry<K, long[]> entry);", "api") == (
        "Base Map entry Map Entry long"
    )
    assert body("return Collections.<Item>emptyList();", "api") == "Collections.< Item"


def test_unicode_identifiers():
    source = "void größeÄndern (Maß maß ) { 変える (maß ) ; }"
    assert text(source, "api") == "größeÄndern maß Maß 変える maß"
    assert text(source, "tokens") == " ".join(cuts(token) for token in source.replace("(", " ( ").split())


@pytest.mark.parametrize(
    ("source", "trouble"),
    [
        ("", "ends too early"),
        ("void m() { f(", "ends too early"),
        ("void m() { @A( int x; }", "ends too early"),
        ("void m() { int = ; }", "does not parse at ';' .token 8.: Expected Identifier"),
        ('void m() { "no end; }', "is no Java: Unterminated"),
        ("void m() {\n x = # ; }", "is no Java: Could not process token"),
        ("void m() { } int rest;", "goes on after its end with 'int'"),
        ("int field = 1;", "is of kind FieldDeclaration"),
        ("class A { }", "is of kind ClassDeclaration"),
        (f"void m() {{ f{'(' * 5_000}1{')' * 5_000}; }}", "is nested too deep"),
        (f"void m() {{ {'{' * 5_000}{'}' * 5_000} }}", "is nested too deep"),
        ("void m() { " + "A<B> x = new X() { void m() { " * 20 + "int = ; " + "} }; " * 20 + "}", "is nested too deep"),
        ("(" * 100_000, "does not parse"),
    ],
)
def test_what_is_no_method_is_refused_in_one_line(source, trouble):
    with pytest.raises(ValueError, match=f"^expected the text of one Java method, but it {trouble}") as caught:
        published_fields(source)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_method_cut_short_anywhere_is_refused():
    source = "public <T> T m(final List<T> a) { @A(\"x\") int b = (int) 'c' + 0x1; try { super.m(); } finally { } }"
    for end in range(len(source)):
        with pytest.raises(ValueError, match="expected the text of one Java method"):
            published_fields(source[:end])


def test_a_long_sum_is_a_deep_tree_and_is_read():
    fields = published_fields(f"int m() {{ return {' + '.join(['one'] * 5_000)}; }}")
    assert fields["api"].count("one") == 5_000
    assert fields["ast"].count("BinaryOperation") == 2 * 4_999
