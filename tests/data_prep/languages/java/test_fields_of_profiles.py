"""The fields that need javalang: what it cannot parse keeps its other fields, or is left out."""

import pytest

from data_prep.languages.fields import LONGEST
from data_prep.languages.java.declarations import FoundMethod, find_methods, parse_java
from data_prep.languages.java.functions import clean_fields
from data_prep.languages.java.javalang_trees import parse_published, statement_trees
from data_prep.languages.java.jcg_fields import fields_of, profile_fields
from data_prep.languages.nodes import node_text


def only(method: str) -> FoundMethod:
    (found,) = find_methods(parse_java(f"class A {{ {method} }}".encode()), documented_only=False)
    return found


@pytest.fixture(scope="module")
def methods(java_folder) -> list[FoundMethod]:
    files = sorted(java_folder.rglob("*.java"))[4::6]
    return [found for file in files for found in find_methods(parse_java(file.read_bytes()))]


def test_real_methods_have_the_fields_of_both_profiles_and_their_statement_trees(methods):
    unread = 0
    for found in methods:
        clean, trouble = profile_fields(found, "clean")
        published, same_trouble = profile_fields(found, "jcg")
        assert trouble == same_trouble
        if trouble:
            unread += 1
            assert (clean, published) == (clean_fields(found), None)
            continue
        method = parse_published(node_text(found.node))
        trees = {"statements": statement_trees(method)}
        assert clean == clean_fields(found) | trees
        assert published == {field: words[:LONGEST] for field, words in (fields_of(method) | trees).items()}
    assert len(methods) > 200
    assert 0 < unread < len(methods) / 20


def test_new_syntax_has_no_trees_and_no_published_fields():
    found = only("int f(Object o) { return switch (o) { case String s -> 1; default -> 2; }; }")
    clean, trouble = profile_fields(found, "clean")
    assert clean == clean_fields(found)
    assert "does not parse at 'switch'" in trouble
    assert profile_fields(found, "jcg") == (None, trouble)


@pytest.mark.parametrize("profile", ["clean", "jcg"])
def test_no_field_is_longer_than_the_longest(profile):
    fields, _ = profile_fields(only(f"void f() {{ {'g(); ' * (LONGEST + 9)} }}"), profile)
    assert max(map(len, fields.values())) == len(fields["statements"]) == LONGEST


def test_annotations_and_comments_have_no_part_in_the_trees():
    plain, written = only("void f() { g(1); }"), only('@Deprecated(since = "9") void f() { /* once */ g(1); // on\n }')
    assert profile_fields(written, "clean")[0]["statements"] == profile_fields(plain, "clean")[0]["statements"]
