"""Files and functions of a source tree: what is kept, what is left out and why, and what is cut out of a file."""

from collections.abc import Mapping

import pytest

from data_prep.languages.registry import language
from data_prep.pipeline.extraction import Counts, extract_tree
from data_prep.pipeline.filters import FUNCTION_FILTERS, path_reason, text_reason
from data_prep.pipeline.shards import CorpusFile, read_files, read_head, shard_bytes
from data_prep.sources.licences import PERMITTED, permitted
from data_prep.sources.source_tree import Entry

MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software. The above
copyright notice and this permission notice shall be included in all copies."""
GPL = "GNU General Public License version 2"
KEPT = '''def reads(path):
    """Read the whole file at once."""
    with open(path) as file:
        return file.read()
'''


class FakeTree:
    """Files in memory."""

    published = False

    def __init__(self, files: Mapping[str, str | bytes], reasons: Mapping[str, str] | None = None) -> None:
        self.files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        self.reasons = reasons or {}

    def entries(self):
        paths = sorted({*self.files, *self.reasons})
        return [Entry(path, len(self.files.get(path, b"")), self.reasons.get(path, "")) for path in paths]

    def read(self, paths):
        return ((path, self.files[path]) for path in paths)


def extracted(files, languages=("python",), reasons=None) -> tuple[list[CorpusFile], dict[str, Counts]]:
    counts: dict[str, Counts] = {}
    return list(extract_tree(FakeTree({"LICENSE": MIT} | files, reasons), languages, counts)), counts


def test_a_function_is_cut_out_with_code_context_and_source():
    before = '"""Module."""\nimport os  # for files\n\n\nclass A:\n    """A class."""\n\n'
    text = (
        before
        + '    @cached\n    def get(self):  # gets\n        """Get the value of it."""\n\n        return os.name\n'
    )
    (file,), _ = extracted({"a.py": text})
    (function,) = file.functions
    assert function.reason == ""
    assert file.context(function) == "import os   \nclass A:\n"
    assert file.context(function, 9) == "class A:\n"
    assert file.code(function) == "@cached\n    def get(self):   \n        return os.name"
    assert file.source(function) == "@cached\n    def get(self):  # gets\n\n        return os.name"
    assert "Get the value" not in file.context(function) + file.code(function) + file.source(function)
    assert (function.start_line, function.end_line) == (8, 12)
    assert function.doc == "Get the value of it."


def test_java_keeps_the_comment_before_out_of_code_and_context():
    text = "package a;\nclass A {\n  /** Gets the value of it. */\n  int get() {\n    return 1;\n  }\n}\n"
    (file,), _ = extracted({"A.java": text}, ["java"])
    (function,) = file.functions
    assert file.context(function) == "package a;\nclass A {\n"
    assert file.source(function) == "int get() {\n    return 1;\n  }"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (KEPT, ""),
        ("def f(x):\n    return [x,\n        x]\n", "no documentation"),
        (KEPT.replace("reads", "test_reads"), "name of a test"),
        (KEPT.replace("reads", "latest"), ""),
        ('def f(): "Read the whole file."; return 1\n', "single line"),
        ('def f():\n    """Read the whole file."""\n    raise E\n', "empty body"),
        (KEPT.replace("Read the whole file at once.", "Read it."), "short documentation"),
        (KEPT.replace("Read the", ":param x: the"), "short documentation"),
        (KEPT.replace("whole", "gesamte größe"), "letters outside of English"),
        (KEPT.replace("at once", "“at once” – now…"), ""),
        (KEPT.replace("at once.", "x words\n    " * 3_000), "documentation too long"),
        (KEPT + KEPT.replace("file at", "other file at"), "identical functions in its file"),
        (KEPT + KEPT.replace("(path)", "( path )").replace("reads", "other"), ""),
    ],
)
def test_functions_are_left_out_for_a_reason(code, reason):
    (file,), counts = extracted({"a.py": code})
    assert {function.reason for function in file.functions} == {reason}
    assert counts["python"].functions == {reason: len(file.functions)}
    assert all(bool(function.fields) == (not reason) for function in file.functions)


def test_other_languages_have_reasons_of_their_own():
    doc = "/** Says what it is. */"
    java = f"class A {{ {doc}\n A() {{\n }}\n {doc}\n public String toString() {{\n return s; }} }}"
    javascript = f"class A {{ {doc}\n constructor() {{\n }}\n {doc}\n valueOf() {{\n return s; }} }}"
    for name, text in (("A.java", java), ("a.js", javascript)):
        _, counts = extracted({name: text}, ["java", "javascript"])
        counted = counts["java" if name.endswith("java") else "javascript"]
        assert counted.functions == {"constructor": 1, "method of every class": 1}
    assert {"constructor", "method of every class"} <= FUNCTION_FILTERS.keys()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("src/latest.py", ""),
        ("tests/a.py", "test"),
        ("src/test_a.py", "test"),
        ("src/unittests/a.py", "test"),
        ("pip/_vendor/requests/api.py", "copy of another project"),
        ("lib/a.test.js", "test"),
        ("dist/a.js", "minified or built"),
        ("lib/a.min.js", "minified or built"),
        ("lib/a.d.ts", "declarations only"),
        ("node_modules/a/b.js", "copy of another project"),
        ("src/test/java/A.java", "test"),
        ("src/ATest.java", "test"),
        ("a/b_test.go", "test"),
        ("vendor/a.go", "copy of another project"),
    ],
)
def test_paths_are_left_out_for_a_reason(path, reason):
    from data_prep.languages.registry import language_of

    found = language_of(path)
    assert found is not None
    assert path_reason(path, found) == reason
    assert path_reason("dist/a.js", language("javascript"), published=True) == ""


def test_contents_are_left_out_for_a_reason():
    assert text_reason(b"\xff\xfe") == "not UTF-8"
    assert text_reason(b"a\0b") == "not text"
    assert text_reason(b"x" * 400) == "minified or data"
    assert text_reason(b"x\n" * 9_000 + b"x" * 6_000) == "minified or data"
    assert text_reason("größe\n".encode()) == ""


def test_files_are_counted_by_reason_and_read_only_if_they_can_be():
    files = {
        "a.py": KEPT,
        "b.py": b"\xff",
        "c.py": "# Generated by a tool, do not edit\n" + KEPT,
        "d.py": "x = 1\n",
        "e.py": "x" * (3 << 20),
        "gpl/COPYING": GPL,
        "gpl/f.py": KEPT,
        "g.py": "# This file is confidential and proprietary\n" + KEPT,
        "h.txt": KEPT,
    }
    reasons = {"i.py": "a link", "j.py": "a submodule", "k.py": "an object that the clone lacks"}
    found, counts = extracted(files, reasons=reasons)
    assert [file.path for file in found] == ["a.py"]
    assert counts["python"].files == {
        "": 1, "not UTF-8": 1, "generated": 1, "without functions": 1, "too large": 1, "licence not permitted": 1,
        "licence not recognised": 1, "a link": 1, "a submodule": 1, "an object that the clone lacks": 1,
    }  # fmt: skip
    assert counts["python"].licences == {"MIT": 1}


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("a.py", KEPT + "\n\ndef lost(x):\n    return = x\n",
         "does not parse at line 8: 1 function from line 7 on is left out"),
        ("A.java", "class A {\n  int f(P p) {\n    return p with { x = 3; };\n  }\n}\n",
         "does not parse at line 3: 1 function from line 2 on is left out"),
    ],
)  # fmt: skip
def test_functions_that_do_not_parse_are_told_with_file_and_line(path, text, said, tmp_path):
    files, counts = extracted({path: text}, ("python", "java"))
    name = "python" if path.endswith("py") else "java"
    assert (counts[name].broken, counts[name].broken_files) == (1, [(path, said)])
    shard = tmp_path / "shard"
    shard.write_bytes(shard_bytes({"languages": {name: counts[name].as_dict()}}, files))
    assert read_head(shard)["languages"][name]["broken_files"] == [[path, said]]
    assert "broken_files" not in extracted({"a.py": KEPT})[1]["python"].as_dict()


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        *((each, each) for each in PERMITTED),
        ("GPL-2.0-only OR MIT", "MIT"),
        ("MIT AND ISC", "MIT AND ISC"),
        ("MIT AND GPL-2.0-only", ""),
        ("(MIT OR ISC)", ""),
        ("Apache-2.0 WITH LLVM-exception", ""),
        ("BSD-4-Clause", ""),
        ("MPL-2.0", ""),
        ("", ""),
    ],
)
def test_five_licences_are_permitted(expression, part):
    assert permitted(expression) == part


def test_a_shard_has_the_same_bytes_twice_and_is_read_back(tmp_path):
    files, counts = extracted({"a.py": KEPT, "b.py": KEPT.replace("reads", "größe")})
    head = {"tree": {"name": "a/b"}, "languages": {"python": counts["python"].as_dict()}}
    shard = tmp_path / "a.jsonl.gz"
    shard.write_bytes(shard_bytes(head, files))
    assert shard_bytes(head, extracted({"b.py": KEPT.replace("reads", "größe"), "a.py": KEPT})[0]) == shard.read_bytes()
    assert read_head(shard)["languages"]["python"]["functions"] == {"": 2}
    found = list(read_files(shard))
    assert [file.path for file in found] == ["a.py", "b.py"]
    for one, other in zip(files, found, strict=True):
        assert one.code(one.functions[0]) == other.code(other.functions[0])
        assert {k: tuple(v) for k, v in one.functions[0].fields.items()} == other.functions[0].fields
        assert one.functions[0].docstring == other.functions[0].docstring
    assert list(read_files(shard, ["go"])) == []


def test_a_damaged_shard_is_refused_in_one_line(tmp_path):
    shard = tmp_path / "a.jsonl.gz"
    shard.write_bytes(shard_bytes({"tree": {}}, extracted({"a.py": KEPT})[0])[:-20])
    with pytest.raises(ValueError, match="damaged"):
        list(read_files(shard))
    (tmp_path / "none.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="no shard of a corpus: remove it"):
        read_head(tmp_path / "none.jsonl")
