"""A file or a row that costs a parser too much is left out alone, or read without a parser."""

from dataclasses import replace

from data_prep.config import DataConfig
from data_prep.pipeline import code_rows, java_extraction
from data_prep.pipeline.code_rows import PublishedRow, pairs_of_rows
from data_prep.pipeline.java_extraction import COSTLY, extract_all
from data_prep.records import SourceFile
from data_prep.worker_process import TEXT

KEPT = "class A { /** Reads all the lines of it. */ int readLines() {\n int all = next();\n return all;\n } }\n"
HOSTILE = "class B {\n" + "a=>a=>a=>a=>a=>a=>a=>a=>a=>a=>\n" * 2_000
FIELDS = {"repo": "o/r", "path": "A.java", "url": "u#L1-L3", "docstring": "Reads it.", "func_name": "A.f"}
CONFIG = DataConfig(min_method_lines=1, processes=1)


def limited(monkeypatch, guard):
    monkeypatch.setattr(java_extraction, guard, replace(getattr(java_extraction, guard), limits=TEXT))


def test_of_java_files(monkeypatch):
    limited(monkeypatch, "_FILES_GUARD")
    files = [SourceFile("o", name, text.encode()) for name, text in [("A.java", KEPT), ("B.java", HOSTILE)]]
    found = extract_all(files, CONFIG)
    assert [pair.method.name for pair in found.pairs] == ["readLines"]
    assert (found.files, found.broken) == (2, [("B.java", COSTLY)])


def test_of_published_rows(monkeypatch):
    monkeypatch.setattr(code_rows, "PAIRS", TEXT)
    codes = ["int readLines() { return lines.all(); }", f"int readOthers() {{\n{HOSTILE}"]
    rows = [PublishedRow(FIELDS | {"code": code}, "test") for code in codes]
    (_, one, parsed), (_, other, costly) = pairs_of_rows(rows, "o", CONFIG)
    assert (parsed, costly) == (True, False)
    assert one.method.fields["name"] == ("read", "lines")
    assert {"read", "others", "class"} <= set(other.method.fields["tokens"])
