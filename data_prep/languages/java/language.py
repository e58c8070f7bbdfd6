"""Java, which has a parser of its own: the fields of this project's other Java data need the types of expressions."""

from typing import Final

from data_prep.languages.identifiers import TESTS_IN_CAPITALS
from data_prep.languages.language import IN_TYPE, Language, Quote, words

LANGUAGE: Final = Language(
    name="java",
    title="Java",
    in_corpora=True,
    editor_names=("java",),
    suffixes=(".java",),
    interpreters=words("java jbang"),
    quotes=(Quote('"""', lines=True), Quote('"'), Quote("'")),
    keywords=words(
        "abstract assert boolean break byte case catch char class const continue default do double else enum extends "
        "final finally float for goto if implements import instanceof int interface long native new package private "
        "protected public record return short static strictfp super switch synchronized this throw throws transient "
        "try void volatile while var yield true false null"
    ),
    typical=r"\b(?:public|private|protected|static|final|throws|instanceof)\b|@Override|^\s*[A-Z]\w* \w+ = ",
    body_mark="{;",
    grammar="tree_sitter_java:language",
    pieces=(IN_TYPE,),
    parser="data_prep.languages.java.functions:parse",
    comments=words("line_comment block_comment"),
    identifiers=words("identifier type_identifier"),
    calls={"method_invocation": "name", "object_creation_expression": "type"},
    members={},
    creations=words("object_creation_expression"),
    self_names=words("this"),
    definitions=words(
        "class_declaration interface_declaration enum_declaration method_declaration constructor_declaration "
        "variable_declarator"
    ),
    test_words=words("test tests testing testsrc androidtest"),
    test_files=TESTS_IN_CAPITALS,
    common_names=words("toString hashCode equals finalize notify notifyAll clone"),
    gathering_files=words("package-info.java module-info.java"),
    reader="search.files.java_units:read_java",
    traces="data_prep.traces.java:JAVA",
    colours={
        **dict.fromkeys(("null_literal", "void_type", "boolean_type"), "keyword"),
        **dict.fromkeys(("annotation", "marker_annotation"), "annotation"),
        "character_literal": "string",
    },
)
