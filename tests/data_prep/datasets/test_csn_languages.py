"""CodeSearchNet in its six languages, in each form, on functions written here."""

import gzip
import http.server
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.csn import LANGUAGES, Csn, languages_of
from data_prep.datasets.csn_published import SIZES
from data_prep.prepare import prepare
from data_prep.records import SPLITS
from data_prep.sources import codesearchnet_rows
from data_prep.sources.codesearchnet_rows import ROWS, find_files, places_of_codesearchnet
from data_prep.store.prepared_data import PreparedData
from evaluation.reading import TestReading, asked
from tests.data_prep.csn_files import ON_HUB
from tests.local_server import Asked, send, serving

CODES: Mapping[str, tuple[str, str]] = {
    "python": (
        "py",
        'def {name}(self, orders):\n    """{doc}"""\n    total = self.count(orders)\n    return merge(total)\n',
    ),
    "php": (
        "php",
        "public function {name}($orders)\n{{\n    $total = $this->count($orders);\n    return merge($total);\n}}",
    ),
    "ruby": ("rb", "def {name}(orders)\n  total = count(orders)\n  merge(total)\nend"),
    "go": ("go", "func (s *Store) {name}(orders []int) int {{\n\ttotal := s.count(orders)\n\treturn merge(total)\n}}"),
    "javascript": ("js", "function (orders) {{\n  var total = this.count(orders);\n  return merge(total);\n}}"),
    "java": ("java", "public int {name}(int[] orders) {{\n  int total = count(orders);\n  return merge(total);\n}}"),
}
"""Language -> suffix and a function; that of JavaScript has no name, as there."""
DEEDS = ("load", "merge", "sort", "print", "count", "split", "send", "parse", "close", "draw", "read", "find")


def rows_of(language: str, split: str, start: int) -> list[dict[str, Any]]:
    suffix, code = CODES[language]
    rows = []
    for number, deed in enumerate(DEEDS, start):
        name, doc = f"{deed}Orders{number}", f"{deed.capitalize()} all orders of store {number}."
        rows.append({
            "repo": "me/shop", "path": f"src/part{number}.{suffix}", "func_name": f"Store.{name}", "language": language,
            "code": code.replace("orders", f"{deed}_orders_{number}").format(name=name, doc=doc),
            "docstring": f"{doc}\n\nMore of it.\n@param orders them", "partition": split,
            "url": f"https://example.org/me/shop/blob/0a/src/part{number}.{suffix}#L{number}-L{number + 4}",
        })  # fmt: skip
    return rows


def all_rows(language: str) -> dict[str, list[dict[str, Any]]]:
    return {split: rows_of(language, split, 100 * place) for place, split in enumerate(SPLITS)}


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def write_lines(folder: Path, language: str, *, packed: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in all_rows(language).items():
        name = f"{language}_{split}_0.jsonl{'.gz' * packed}"
        (folder / name).write_bytes(gzip.compress(lines(rows)) if packed else lines(rows))
    return folder


def write_zip(folder: Path, language: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{language}.zip", "w") as archive:
        for split, rows in all_rows(language).items():
            name = f"{language}/final/jsonl/{split}/{language}_{split}_0.jsonl.gz"
            archive.writestr(name, gzip.compress(lines(rows)))
    return folder


def write_parquet(folder: Path, language: str) -> Path:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
    import pyarrow as pa

    (folder / language).mkdir(parents=True, exist_ok=True)
    for split, rows in all_rows(language).items():
        renamed = [{ON_HUB[field]: value for field, value in row.items() if field in ON_HUB} for row in rows]
        name = "validation" if split == "valid" else split
        parquet.write_table(pa.Table.from_pylist(renamed), folder / language / f"{name}-00000-of-00001.parquet")
    return folder


def prepared(raw: Path, root: Path, language: str, name: str = "csn") -> PreparedData:
    config = DataConfig(path=str(raw), root=str(root), processes=1, language=language)
    return prepare(name, config, command="the tests", say=lambda _: None)


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "java"])
def test_a_language_is_read_as_itself(tmp_path: Path, language: str) -> None:
    data = prepared(write_lines(tmp_path / "raw", language), tmp_path / "data", language)
    assert data.folder.name == f"csn-{language}"
    assert data.manifest["counts"]["broken_files"] == 0
    assert data.manifest["rows"] == dict.fromkeys(SPLITS, 12)
    for place, split in enumerate(SPLITS):
        pairs = data.splits[split]
        assert len(pairs) == 12
        row = next(row for row in range(12) if pairs.text(row).start_line == 100 * place + 2)
        assert pairs.text(row).query_text == f"Sort all orders of store {100 * place + 2}."
        assert pairs.word_list("name", row)[:2] == ["sort", "orders"]
        assert {"total", "count", "merge"} <= set(pairs.word_list("tokens", row))
        assert [word for word in pairs.word_list("api", row) if word in ("count", "merge")] == ["count", "merge"]
        assert pairs.word_list("ast", row)
        assert "Sort all" not in pairs.text(row).source


def test_every_form_gives_the_same(tmp_path: Path) -> None:
    forms = [
        write_lines(tmp_path / "packed", "php"),
        write_lines(tmp_path / "plain" / "php" / "final", "php", packed=False).parents[1],
        write_zip(tmp_path / "zip", "php"),
        write_parquet(tmp_path / "parquet", "php"),
    ]
    made = [prepared(form, tmp_path / "data" / form.name, "php") for form in forms]
    for other in made[1:]:
        for key in ("files", "rows", "rows_sha256_sum", "counts"):
            assert other.manifest[key] == made[0].manifest[key]


def test_all_languages_stand_beside_each_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for language in LANGUAGES:
        write_lines(tmp_path / "raw", language)
    assert [file.name for file in find_files(tmp_path / "raw")] == [f"java_{split}_0.jsonl.gz" for split in SPLITS]
    data = prepared(tmp_path / "raw", tmp_path / "data", "all")
    assert {split: len(data.splits[split]) for split in SPLITS} == dict.fromkeys(SPLITS, 72)
    assert "CodeSearchNet (PHP) has train 12, valid 12, test 12 rows here, but train 523,712" in caplog.text


def test_files_of_one_other_language_are_read_as_it(tmp_path: Path) -> None:
    data = prepared(write_lines(tmp_path / "raw", "python"), tmp_path / "data", "java")
    assert [len(data.splits[split]) for split in SPLITS] == [12, 12, 12]
    assert data.manifest["counts"]["broken_files"] == 0
    with pytest.raises(ValueError, match=r"has neither go\.zip nor go_\*\.jsonl\.gz"):
        prepared(tmp_path / "raw", tmp_path / "data", "go")
    with pytest.raises(ValueError, match="CodeSearchNet has python, php, ruby, go, javascript, java, or all"):
        prepared(tmp_path / "raw", tmp_path / "data", "rust")
    assert languages_of("js") == ("javascript",)


def test_a_null_is_counted_and_left_out(tmp_path: Path) -> None:
    raw = write_lines(tmp_path / "raw", "java", packed=False)
    rows = [{**rows_of("java", "test", 7)[0], "docstring": None}, *rows_of("java", "test", 200)]
    (raw / "java_test_0.jsonl").write_bytes(lines(rows))
    data = prepared(raw, tmp_path / "data", "java")
    assert len(data.splits["test"]) == 12
    (listed,) = data.manifest["broken_files"]
    assert listed["path"].endswith("java_test_0.jsonl:1")
    assert listed["reason"].startswith("no line of CodeSearchNet: docstring null")


@pytest.mark.parametrize("language", ["ruby", "java"])
def test_the_readings_of_the_field(tmp_path: Path, language: str) -> None:
    raw = write_lines(tmp_path / "raw", language)
    rows = all_rows(language)
    with zipfile.ZipFile(raw / "dataset.zip", "w") as archive:
        lists = {"train": rows["train"][:5], "valid": rows["valid"][:4], "test": rows["test"][:3]}
        for part, each in {**lists, "codebase": [*rows["test"], *rows["valid"]]}.items():
            archive.writestr(f"dataset/{language}/{part}.txt", "\n".join(row["url"] for row in each))
    data = prepared(raw, tmp_path / "data", language, "csn_filtered")
    assert [len(data.splits[split]) for split in SPLITS] == [5, 4, 24]
    assert len(asked(data)) == 3
    assert data.manifest["counts"]["not_parsed"] == 0
    grouped = prepared(raw, tmp_path / "data", language, "csn_1000")
    assert (TestReading.of(grouped.manifest), len(grouped.splits["test"])) == (TestReading(group=1000), 12)
    assert {grouped.splits["test"].text(row).query_text for row in range(12)} == {
        row["docstring"].partition("\n\n")[0] for row in rows["test"]
    }


def test_each_language_has_its_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SIZES.keys() == ROWS.keys() == codesearchnet_rows.ARCHIVES.keys() == set(LANGUAGES)
    content = (write_zip(tmp_path / "made", "go") / "go.zip").read_bytes()

    def answer(handler: http.server.BaseHTTPRequestHandler, _: Asked) -> None:
        found = handler.path.endswith("/data/go.zip")
        send(handler, 200 if found else 404, content if found else b"")

    with serving(answer) as told:
        monkeypatch.setattr(codesearchnet_rows, "_ZENODO", f"http://127.0.0.1:{told.port}/records")
        monkeypatch.setattr(codesearchnet_rows, "_HUB", f"http://127.0.0.1:{told.port}/hub")
        first, second, third = places_of_codesearchnet(language="go")
        assert first.files["go.zip"].sha256 == second.files["go.zip"].sha256 == codesearchnet_rows.ARCHIVES["go"][1]
        assert next(iter(third.files)) == "go/train-00000-of-00001.parquet"
        with pytest.raises(ValueError, match=r"CodeSearchNet \(Go\) cannot be fetched: .*put go\.zip"):
            Csn(DataConfig(root=str(tmp_path), language="go")).inputs()
        mirror = f"http://127.0.0.1:{told.port}/data"
        source = Csn(DataConfig(root=str(tmp_path), language="go", mirror=mirror))
        assert [path.relative_to(tmp_path).as_posix() for path in source.inputs()] == ["raw/csn/go/go.zip"]
    assert source.record()["fetched_from"] == f"{mirror}/go.zip"
