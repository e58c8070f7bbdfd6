"""GraphCodeBERT's filtered set and CodeSearchNet's own test, on stand-ins in their form made of the JDK's methods."""

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest

from data_prep.config import DataConfig
from data_prep.datasets.csn_published import LISTS, Csn1000, CsnFiltered, read_list
from data_prep.pipeline.code_rows import summary
from data_prep.prepare import prepare
from data_prep.records import SPLITS
from data_prep.sources.download import Remote
from data_prep.store.prepared_data import PreparedData
from evaluation.reading import TestReading, asked
from tests.data_prep.csn_files import Rows, documented_methods, row_of, write_parquet, write_tree
from tests.local_server import send, serving


@pytest.fixture(scope="module")
def rows(java_folder: Path) -> Rows:
    found = documented_methods(java_folder, most=40)
    rows = {split: [row_of(method, split) for method in each] for split, each in found.items()}
    rows["test"][0] = {**rows["test"][0], "code": "int broken( {{{ theBrokenPart", "func_name": "Some.brokenName"}
    return rows


def addresses(rows: Rows) -> dict[str, list[str]]:
    """The lists: every third row of a split is left out; all but one of validation and of test are candidates."""
    lists = {split: [row["url"] for row in rows[split][::3]] for split in SPLITS}
    return {
        **lists,
        "codebase": [row["url"] for split in ("test", "valid") for row in (*rows[split][:-2], rows[split][-1])],
    }


def write_lists(path: Path, lists: dict[str, list[str]]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for part, each in lists.items():
            archive.writestr(f"dataset/java/{part}.txt", "\n".join(each) + "\n")
        archive.writestr("dataset/run.sh", "exit 1  # never run")
    return path


@pytest.fixture
def raw(tmp_path: Path, rows: Rows) -> Path:
    write_tree(tmp_path / "raw", rows)
    write_lists(tmp_path / "raw" / "dataset.zip", addresses(rows))
    return tmp_path / "raw"


def prepared(name: str, raw: Path, root: Path) -> PreparedData:
    config = DataConfig(path=str(raw), root=str(root), processes=1)
    return prepare(name, config, command="the tests", say=lambda _: None)


def test_every_listed_row_is_there(raw: Path, rows: Rows, tmp_path: Path) -> None:
    data, lists = prepared("csn_filtered", raw, tmp_path / "data"), addresses(rows)
    assert {split: len(data.splits[split]) for split in SPLITS} == {
        "train": len(lists["train"]), "valid": len(lists["valid"]), "test": len(lists["codebase"]),
    }  # fmt: skip
    reading, test = TestReading.of(data.manifest), data.splits["test"]
    assert len(reading.queries(test)) == len(asked(data)) == len(lists["test"])
    of_address = {row["url"]: row for each in rows.values() for row in each}
    wanted = sorted(summary(of_address[url]["docstring"]).split() for url in lists["test"])
    assert sorted(asked(data).text(row).query_text.split() for row in range(len(asked(data)))) == wanted
    assert data.manifest["counts"]["not_parsed"] == 1
    names = [test.word_list("name", row) for row in range(len(test))]
    tokens = [test.word_list("tokens", row) for row in range(len(test))]
    broken = names.index(["broken", "name"])
    assert {"the", "broken", "part"} <= set(tokens[broken])
    assert all(map(len, names))


def test_parquet_gives_the_same_bytes(raw: Path, rows: Rows, tmp_path: Path) -> None:
    other = write_parquet(tmp_path / "other", rows)
    write_lists(other / "dataset.zip", addresses(rows))
    for name in ("csn_filtered", "csn_1000"):
        first, second = (prepared(name, each, tmp_path / each.name / "data") for each in (raw, other))
        assert first.manifest["files"] == second.manifest["files"]
        assert first.manifest["rows_sha256_sum"] == second.manifest["rows_sha256_sum"]


def test_csn_1000_is_the_whole_test_split(raw: Path, rows: Rows, tmp_path: Path) -> None:
    data = prepared("csn_1000", raw, tmp_path / "data")
    assert {split: len(data.splits[split]) for split in SPLITS} == {"train": 0, "valid": 0, "test": len(rows["test"])}
    assert TestReading.of(data.manifest) == TestReading(group=1000)
    lines = sorted(data.splits["test"].text(row).start_line for row in range(len(rows["test"])))
    assert lines == sorted(int(row["url"].rpartition("#L")[2].partition("-")[0]) for row in rows["test"])


def test_the_summary_ends_where_codesearchnet_ends_it() -> None:
    assert summary("Reads it.\nAll of it.\n\nThen more. @see x") == "Reads it.\nAll of it."
    assert summary("Reads it.\n@return it") == "Reads it.\n"
    assert summary("Reads {@link A} of it.") == "Reads {"
    assert summary("Reads it") == "Reads it"


def test_lists_of_other_rows_are_one_line(raw: Path, rows: Rows, tmp_path: Path) -> None:
    lists = addresses(rows)
    write_lists(raw / "dataset.zip", {**lists, "train": [*lists["train"], "https://example.org/elsewhere#L1-L2"]})
    with pytest.raises(ValueError, match=r"1 of the 15 rows of dataset/java/train\.txt are not in") as caught:
        prepared("csn_filtered", raw, tmp_path / "data")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"no zip", b"<html></html>", b""])
def test_damaged_lists_are_one_line(tmp_path: Path, rows: Rows, content: bytes) -> None:
    path = write_lists(tmp_path / "dataset.zip", addresses(rows))
    whole = path.read_bytes()
    assert len(read_list(path, "codebase")) > 20
    for bad in (content, whole[: len(whole) // 2]):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=r"is not GraphCodeBERT's dataset\.zip .*: get it again") as caught:
            read_list(path, "train")
        assert "\n" not in str(caught.value)
    write_lists(path, {**addresses(rows), "train": []})
    with pytest.raises(ValueError, match=r"has no address in dataset/java/train\.txt"):
        read_list(path, "train")


def test_the_lists_are_fetched_and_checked_as_git_names_them(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (raw / "dataset.zip").read_bytes()
    (raw / "dataset.zip").unlink()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    assert LISTS.url.endswith("/GraphCodeBERT/codesearch/dataset.zip")
    assert LISTS.git_blob is not None
    with serving(lambda handler, _: send(handler, 200, content)) as asked_of:
        mirror = f"http://127.0.0.1:{asked_of.port}/our"
        config = DataConfig(path=str(raw), root=str(tmp_path / "data"), mirror=mirror)
        with pytest.raises(ValueError, match=r"gave the git blob .* instead of .*put it into") as caught:
            CsnFiltered(config).inputs()
        assert "\n" not in str(caught.value)
        name, _, *texts = CsnFiltered.further
        monkeypatch.setattr(CsnFiltered, "further", (name, Remote("http://127.0.0.1/none", git_blob=blob), *texts))
        assert CsnFiltered(config).inputs()[-1] == raw / "dataset.zip"
    assert {path for _, path in asked_of.requests} == {"/our/dataset.zip"}


def test_rows_that_are_only_candidates_have_no_query(raw: Path, tmp_path: Path) -> None:
    data = prepared("csn_filtered", raw, tmp_path / "data")
    lengths = data.splits["test"].words["query"].lengths
    assert 0 < np.count_nonzero(lengths) < len(lengths)
    for split in ("train", "valid"):
        assert (data.splits[split].words["query"].lengths > 0).all()


def test_their_class_docs_name_the_sizes() -> None:
    assert "40,347" in (CsnFiltered.__doc__ or "")
    assert "26,909" in (Csn1000.__doc__ or "")
