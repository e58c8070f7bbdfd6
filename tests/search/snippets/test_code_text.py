"""The language and the words of pieces of code, what counts as a copy, and overlaps by their definition."""

from math import sqrt

import pytest

from data_prep.languages.registry import language as language_named
from search.snippets.code_text import SHORTEST, Tokens, language_of, parsed_code, read_code

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


TYPICAL = {
    "rust": "let found = self.rows.iter().map(|row| row.len()).max();\nif let Some(most) = found {",
    "ruby": "  names.each do |name|\n    puts name unless name.nil?\n  end",
    "php": "foreach ($this->rows as $row) {\n    $found[] = $row->name;\n}",
    "c": "if (rows == NULL)\n    return -1;\nmemcpy(buf->data, rows, sizeof(*rows));",
    "kotlin": "fun total(rows: List<Row>): Int {\n    val found = rows.filter { it.size > 1 }",
    "swift": "guard let found = rows.first else { return nil }\nself.name = found.name",
    "bash": 'for name in "$@"; do\n  if [[ -f $name ]]; then',
    "lua": "local found = rows[name]\nif not found then\n  return nil\nend",
    "elixir": "rows\n|> Enum.map(fn row -> row.name end)\n|> Enum.sort()",
    "haskell": "longest :: [Row] -> Int\nlongest rows = maximum $ map (length . name) rows",
    "zig": "const found = try allocator.alloc(u8, rows.len);\ndefer allocator.free(found);",
    "r": "found <- lapply(rows, function(row) row$name)\nnames(found) <- NULL",
    "": '{\n  "name": "a",\n  "version": "1.0.0",\n  "files": ["b", "c"]\n}',
}


@pytest.mark.parametrize("language", TYPICAL)
def test_what_is_typical_of_a_language_is_of_it(language):
    assert language_of(TYPICAL[language]) == language


def test_kotlins_parser_ends_at_a_piece_that_ends_with_an_annotation():
    text = "class B {\n  var x: Int? = 1\n\n  @C"
    assert read_code(text, "kotlin").defined == parsed_code(text, "kotlin").defined == ("B",)


def test_kotlins_parser_ends_at_a_file_that_ends_with_an_annotation():
    found = language_named("kotlin").parse(b"fun a() {\n}\nclass B {\n  var x: Int? = 1\n\n  @C", "b.kt")
    assert [each.name for each in found.functions] == ["a"]


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


@pytest.mark.parametrize(("language", "costly"), [("java", "a=>" * 10_000), ("javascript", "lambda a:" * 3_500)])
def test_text_that_costs_a_parser_too_much_is_read_without_one(language, costly):
    found = read_code(f"readAll\n{costly}", language)
    assert (found.language, found.tokens[:2]) == ("", ("read", "all"))
    assert read_code("readAll(1)", language).language == language


CODE = """def add_all(items, start=0):
    total = start
    for item in items:  # each
        total += item.price * 2
    return total
"""


def tokens(text, language="python"):
    return Tokens.of(text, language)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (CODE, "exact"),
        (f"class Box:\n    def other(self): pass\n\n{CODE}", "exact"),
        (CODE.replace("  # each", "").replace("    ", "  "), "exact"),  # without comments and in other lines
        (CODE.replace("* 2", "* 3"), "near"),
        (CODE.replace("total", "result"), ""),
        ("def other(): pass", ""),
    ],
)
def test_copies(other, expected):
    assert tokens(CODE).copy_in(tokens(other)) == expected


def test_short_code_has_no_copies():
    short = "return total + item"
    assert len(tokens(short).all) < SHORTEST
    assert tokens(short).copy_in(tokens(short)) == ""


def test_strings_are_tokens_and_comments_none():
    text = 'a = "# no // comment" // b\n/* c */ d'
    assert tokens(text, "javascript").all == ["a", "=", '"# no // comment"', "d"]
    assert tokens("#[A]\n# it's\n$a = 'b'; // c\n", "php").all == tokens("#[A]\n$a = 'b';", "php").all
    assert tokens("x = '''a\nb''' # c", "python").all == ["x", "=", "'''a\nb'''"]


def test_the_overlap_is_the_cosine_of_the_sets_of_pairs_of_tokens():
    first, second = tokens("a b c a b"), tokens("b c a d")
    pairs = [{("a", "b"), ("b", "c"), ("c", "a")}, {("b", "c"), ("c", "a"), ("a", "d")}]
    assert first.overlap(second) == pytest.approx(len(pairs[0] & pairs[1]) / sqrt(9))
    assert first.overlap(tokens("")) == 0.0


@pytest.mark.parametrize("part", ['"', "'", '"""', "/*", "//", "`", "\\", "#", "a'\n"])
def test_hostile_texts_take_no_time(part):
    for language in ("python", "java", ""):
        assert len(tokens(part * (200_000 // len(part)), language).all) <= 200_000


AMBIGUOUS = {
    "csharp": "public int Count(int value)\n{\n    if (value > limit)\n    {\n        return add(value);\n    }\n}\n",
    "java": "public int count(int value) {\n    return add(value);\n}\n",
    "cpp": "int count(int value) {\n  return add(value);\n}\n",
    "kotlin": "fun count(value: Int): Int {\n    return add(value)\n}\n",
}


@pytest.mark.parametrize(("language", "code"), AMBIGUOUS.items())
def test_what_several_languages_read_is_of_that_which_is_searched(language, code):
    assert language_of(code, likely=(language,)) == language


@pytest.mark.parametrize("searched", ["java", "cpp", "ruby"])
def test_code_of_another_language_than_the_searched_one_is_seen(searched):
    code = "def total(items):\n    return sum(each.price for each in items)\n"
    assert language_of(code, likely=(searched,)) == "python"
