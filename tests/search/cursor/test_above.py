"""The words above a cursor: cleaned as the contexts of the corpus are, and never more than the nearest."""

import sysconfig
from pathlib import Path

import pytest

from data_prep.languages.registry import LANGUAGES, language_of
from data_prep.pipeline.extraction import disjoint, plain_code
from data_prep.pipeline.shards import CorpusFile
from search.cursor import LONGEST, WORDS, nearest, words_above

STANDARD = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize("name", ["json/decoder.py", "shelve.py", "configparser.py"])
def test_what_stands_above_a_function_is_its_context_in_the_corpus(name):
    """The corpus parses the whole file, a service only what is above the cursor, which may end anywhere."""
    data = (STANDARD / name).read_bytes()
    language = language_of(name)
    parsed = language.parse(data, name)
    file = CorpusFile(name, language.name, "", data, disjoint(parsed.comments), ())
    assert len(parsed.functions) > 5
    for function in parsed.functions[:: 1 + len(parsed.functions) // 20]:
        line = data.rfind(b"\n", 0, function.start) + 1
        assert plain_code(data[:line].decode(), language.name) == file.stripped(0, line).decode()


def test_comments_and_docstrings_say_nothing():
    text = '"""Of pickle."""\nimport json  # of yaml\n\nclass A:\n    """Doc."""\n    def readAll(self): pass\n'
    assert words_above(text, "python") == ("import", "json", "class", "a", "def", "read", "all", "self", "pass")
    java = '/** Of pickle. */\nimport a.b;\n/* yaml */ class Reader { // toml\n    String name = "// kept";\n'
    assert words_above(java, "java") == ("import", "a", "b", "class", "reader", "string", "name", "kept")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["", "\n \n", "(((((", "\0", "\ud800", "}" * 10_000, "/* never closed", "'''"])
def test_any_text_is_read(language, text):
    assert set(words_above(text, language)) <= {"never", "closed"}


def test_the_nearest_of_a_long_text_counts():
    text = "first = 1\n" + "x = 1\n" * LONGEST + "last = 1"
    assert words_above(text, "python") == ("x", "last")
    assert len(nearest(text)) <= LONGEST
    assert nearest(text).startswith("x = 1\n")
    assert nearest("y" * (LONGEST + 1)) == "y" * LONGEST
    many = [f"{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(2 * WORDS)]
    assert words_above(" ".join(many), "go") == tuple(many[-WORDS:])


@pytest.mark.parametrize(("language", "costly"), [("java", "a=>" * 20_000), ("javascript", "lambda a:" * 7_000)])
def test_text_that_costs_a_parser_too_much_is_read_without_one(language, costly):
    """For the first, all memory of a machine is not enough; the second takes minutes."""
    assert words_above(f"// comment\n{costly}", language)[0] == "comment"
    assert words_above("// comment\ncode", language) == ("code",)


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="there is no language 'cobol'"):
        words_above("x", "cobol")
