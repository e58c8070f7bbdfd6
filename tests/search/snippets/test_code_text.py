"""The language and the words of pieces of code."""

import pytest

from search.snippets import code_text
from search.snippets.answer import LONGEST_CODE
from search.snippets.code_text import GRAMMARS, PARSED_AT_ONCE, language_of, read_code

PIECES = {
    "python": "    value = json.loads(text)\n    for part in self.parts:\n        part.run(value",
    "javascript": "async handle(request, reply) {\n  const found = await this.find(request);\n  reply.send(found);",
    "typescript": "export function read<T>(path: string, most?: number): T {\n  return parse(path as any)",
    "java": "@Override\nprotected void onClose(Channel channel) throws IOException {\n  super.onClose(channel);",
    "go": "file, err := os.Open(name)\nif err != nil {\n\treturn nil, err",
}


@pytest.mark.parametrize("language", PIECES)
def test_the_language_of_a_piece_that_is_cut_off(language):
    assert language_of(PIECES[language]) == language


def test_prose_is_of_no_language_but_has_words():
    found = read_code("the quick brown fox jumps, over the lazy dog and so on.")
    assert found.language == ""
    assert {"quick", "fox"} <= set(found.tokens)


def test_words_names_and_calls():
    found = read_code("def readAll(path):\n    # not these words\n    return open_file(path).readLines('text')\n")
    assert found.defined == ("readAll",)
    assert found.tokens == ("read", "all", "path", "open", "file", "lines")
    assert found.api == ("open_file", "readLines")
    java = read_code("List<String> found = new ArrayList(); found.addAll(other.values());", "java")
    assert java.api == ("ArrayList", "new", "values", "addAll")


@pytest.mark.parametrize(
    "typed", ["```go\nfunc f() int { return a.Load(1) }\n```", "func f() int { return a.Load(1) }"]
)
def test_marks_around_code_are_not_read(typed):
    assert read_code(typed).api == ("a", "Load")
    assert read_code(">>> value = box.load(1)\n>>> if value:\n...     stop(value)\n").api == ("box", "load", "stop")


def test_a_language_that_is_known_is_not_guessed():
    assert read_code("value = load(1)", "javascript").language == "javascript"
    assert read_code("value = load(1)").language == "python"


@pytest.mark.parametrize("text", ["", "\0\1", "\udcff x", "((((" * 5000, "{" * 20_000, '"""', "/*", "`" * 999])
def test_odd_texts_are_read(text):
    found = read_code(text)
    assert len(found.text) <= len(text)


@pytest.mark.parametrize("text", ["a<" * 20_000, "lambda a:" * 9_000, "x = (\n" * 9_000, "read(a)\n" * 5_000])
def test_no_more_than_a_part_is_parsed_at_once_and_nothing_twice(monkeypatch, text):
    lengths, parse = [], code_text._parse
    monkeypatch.setattr(code_text, "_parse", lambda part, name: lengths.append(len(part)) or parse(part, name))
    code_text._skipped.cache_clear()
    read_code(text[:LONGEST_CODE])
    assert max(lengths) <= PARSED_AT_ONCE
    assert sum(lengths) <= len(GRAMMARS) * PARSED_AT_ONCE + LONGEST_CODE


def test_parts_together_have_the_words_of_the_whole():
    names = [f"load{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]
    code = "".join(f"def {name}(path):\n    return self.reader.{name}(path)\n" for name in names)
    assert len(code) > 4 * PARSED_AT_ONCE
    found = read_code(code, "python")
    assert found.defined == tuple(names)
    assert set(found.api) == {"reader", *names}
