from java import methods

from data_prep.languages.fields import LONGEST
from data_prep.records import CODE_FIELDS

TEXT = """class A {
    /** d */
    @Deprecated(since = "now")
    public int readHTTPHeader(int sizeOfBuffer) {
        // a comment
        @SuppressWarnings("unused") int headerSize = x + sizeOfBuffer;
        return HEADER_SIZE > headerSize ? 0 : "text".length();
    }
}"""


def test_name_and_tokens_are_words_of_identifiers():
    (found,) = methods(TEXT)
    assert (*found.fields, "statements") == CODE_FIELDS
    assert found.fields["name"] == ("read", "http", "header")
    assert found.fields["tokens"] == ("header", "size", "of", "buffer", "length")


def test_ast_is_the_kinds_of_nodes_parents_first_without_comments():
    (found,) = methods("class A { /** d */ int a(int b) { /* c */ return b; } }")
    assert found.fields["ast"] == (
        "method_declaration", "integral_type", "identifier", "formal_parameters", "formal_parameter", "integral_type",
        "identifier", "block", "return_statement", "identifier",
    )  # fmt: skip


def test_a_method_without_a_word_has_empty_fields():
    (found,) = methods("class A { void a() { } }")
    assert found.fields["tokens"] == found.fields["api"] == ()


def test_fields_end_somewhere():
    (found,) = methods(f"class A {{ void a() {{ {'b.c(); C.d(); ' * 600} }} }}")
    assert len(found.fields["api"]) == len(found.fields["ast"]) == LONGEST
