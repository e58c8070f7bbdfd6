"""CodeSearchNet's form, made here of real methods of the JDK: what the original would give comes out the same."""

import gzip
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.csn import Csn
from data_prep.files import json_text
from data_prep.pipeline.java_extraction import methods_of
from data_prep.prepare import prepare
from data_prep.records import SPLITS, Method, SourceFile, SplitName
from data_prep.sources.codesearchnet_rows import FIELDS, ROWS
from data_prep.store.prepared_data import PreparedData, open_prepared
from tests.data_prep.csn_files import Rows, documented_methods, lines_of, row_of, write_parquet, write_tree, write_zip


@pytest.fixture(scope="module")
def methods(java_folder: Path) -> dict[SplitName, list[Method]]:
    return documented_methods(java_folder)


@pytest.fixture(scope="module")
def rows(methods: Mapping[SplitName, Sequence[Method]]) -> Rows:
    return {split: [row_of(method, split) for method in each] for split, each in methods.items()}


def read(path: Path) -> tuple[list[SourceFile], Csn]:
    source = Csn(DataConfig(path=str(path)))
    return list(source.java_files()), source


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match=r"\w") as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_methods_come_back_as_they_stood(
    tmp_path: Path, rows: Rows, methods: Mapping[SplitName, Sequence[Method]]
) -> None:
    files, source = read(write_tree(tmp_path, rows))
    expected = [method for split in SPLITS for method in methods[split]]
    assert len(files) == len(expected)
    assert source.left_out == []
    for file, method in zip(files, expected, strict=True):
        assert (file.origin, file.path) == ("codesearchnet-java-v2", f"openjdk/jdk/{method.path}")
        (found,) = (each for each in methods_of(file, documented_only=True) if "." not in each.type_name)
        same = replace(found, origin=method.origin, path=method.path, documentation=method.documentation, split=None)
        fields = {**same.fields, "api": method.fields["api"]}  # api needs imports and fields, which the form lacks
        assert replace(same, fields=fields) == method


def test_zip_tree_and_files_give_the_same(tmp_path: Path, rows: Rows) -> None:
    from_tree, _ = read(write_tree(tmp_path / "tree", rows))
    zip_file = write_zip(tmp_path, rows)
    assert read(zip_file)[0] == read(tmp_path)[0] == from_tree
    assert [file.excerpt.split for file in from_tree if file.excerpt] == [
        split for split in SPLITS for _ in rows[split]
    ]


def test_partition_counts_where_the_name_tells_no_split(tmp_path: Path, rows: Rows) -> None:
    odd = [rows["valid"][0], rows["test"][0], {**rows["test"][1], "partition": "holdout"}]
    (tmp_path / "some.jsonl.gz").write_bytes(gzip.compress(lines_of(odd)))
    files, source = read(tmp_path)
    assert [file.excerpt.split for file in files if file.excerpt] == ["valid", "test"]
    assert [place.rpartition("/")[2] for place, _ in source.left_out] == ["some.jsonl.gz:3"]


def test_other_languages_beside_it_are_not_read(tmp_path: Path, rows: Rows) -> None:
    write_tree(tmp_path, rows)
    (tmp_path / "javascript_train_0.jsonl.gz").write_bytes(b"not looked at")
    assert len(read(tmp_path)[0]) == sum(map(len, rows.values()))


def test_prepared_splits_are_the_official_ones(tmp_path: Path, rows: Rows) -> None:
    write_tree(tmp_path / "raw", rows)
    bad = tmp_path / "raw/java/final/jsonl/test/java_test_0.jsonl.gz"
    bad.write_bytes(gzip.compress(b"{broken\n" + gzip.decompress(bad.read_bytes()) + b"\xff\n"))
    config = DataConfig(path=str(tmp_path / "raw"), root=str(tmp_path / "data"), processes=1)
    data = prepare("csn", config, command="the tests", say=lambda _: None)
    assert data.folder == tmp_path / "data" / "csn"
    places = {split: {(row["path"], f"#L{row['url'].split('#L')[1]}") for row in rows[split]} for split in SPLITS}
    for split in SPLITS:
        texts = [data.splits[split].text(row) for row in range(len(data.splits[split]))]
        assert len(texts) > 5
        lines = [(each.path.removeprefix("openjdk/jdk/"), f"#L{each.start_line}-L{each.end_line}") for each in texts]
        assert set(lines) <= places[split]
    manifest = open_prepared(data.folder).manifest
    assert manifest["counts"]["files"] == manifest["counts"]["documented_methods"] == sum(map(len, rows.values()))
    assert [each["path"].rpartition("/")[2] for each in manifest["broken_files"]] == [
        "java_test_0.jsonl.gz:1",
        f"java_test_0.jsonl.gz:{len(rows['test']) + 2}",
    ]
    assert [each["name"] for each in manifest["sources"]["inputs"]] == [
        "java_train_2.jsonl.gz", "java_train_10.jsonl.gz", "java_valid_0.jsonl.gz", "java_test_0.jsonl.gz",
    ]  # fmt: skip


def test_methods_inside_a_method_are_not_pairs_of_their_own(tmp_path: Path, rows: Rows) -> None:
    code = (
        "Runnable later() {\n  return new Runnable() {\n    /** Runs what was put off until now. */\n"
        "    public void run() {\n      work();\n    }\n  };\n}"
    )
    nested = {**rows["train"][0], "func_name": "Worker.later", "code": code, "docstring": "Puts work off */ for later."}
    write_tree(tmp_path / "raw", {**rows, "train": [*rows["train"], nested]})
    config = DataConfig(path=str(tmp_path / "raw"), root=str(tmp_path / "data"), processes=1)
    train = prepare("csn", config, command="the tests", say=lambda _: None).splits["train"]
    texts = [train.text(row) for row in range(len(train))]
    assert [text.query_text for text in texts if text.type_name == "Worker"] == ["Puts work off * / for later."]
    assert not [text for text in texts if text.method_name == "run" and "put off" in text.query_text]


def test_damaged_files_are_one_line(tmp_path: Path, rows: Rows) -> None:
    write_tree(tmp_path / "tree", rows)
    file = tmp_path / "tree/java/final/jsonl/valid/java_valid_0.jsonl.gz"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert "java_valid_0.jsonl.gz is damaged" in refused(tmp_path / "tree")
    file.write_bytes(b"no gzip at all")
    assert "java_valid_0.jsonl.gz is damaged" in refused(tmp_path / "tree")
    write_tree(tmp_path / "tree", rows)
    zip_file = write_zip(tmp_path, rows)
    data = bytearray(zip_file.read_bytes())
    zip_file.write_bytes(bytes(data[: len(data) // 2]))
    assert "java.zip is no whole zip file" in refused(zip_file)
    data[len(data) // 2] ^= 1
    zip_file.write_bytes(bytes(data))
    assert "damaged" in refused(zip_file)


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "RATIO_FROM", 1 << 20)
    (tmp_path / "java_train_0.jsonl.gz").write_bytes(gzip.compress(b" " * (8 << 20)))
    assert "refused" in refused(tmp_path)


@pytest.mark.parametrize("field", FIELDS)
def test_other_fields_are_one_clear_line(tmp_path: Path, rows: Rows, field: str) -> None:
    wrong = {name: value for name, value in rows["train"][1].items() if name != field}
    (tmp_path / "java_train_0.jsonl.gz").write_bytes(gzip.compress(lines_of([wrong, wrong])))
    message = refused(tmp_path)
    assert f"java_train_0.jsonl.gz:1 is no line of CodeSearchNet: {field} missing" in message


def test_a_zip_of_something_else_is_one_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "java.zip", "w") as archive:
        archive.writestr("A.java", "class A {}")
    assert "expected CodeSearchNet's java.zip" in refused(tmp_path)
    (tmp_path / "java.zip").unlink()
    assert "has neither java.zip nor" in refused(tmp_path)


def prepared(raw: Path, root: Path) -> PreparedData:
    config = DataConfig(path=str(raw), root=str(root), processes=1)
    return prepare("csn", config, command="the tests", say=lambda _: None)


def test_every_form_gives_the_same_bytes(tmp_path: Path, rows: Rows) -> None:
    raw = {"tree": write_tree(tmp_path / "tree", rows), "parquet": write_parquet(tmp_path / "parquet", rows)}
    (tmp_path / "zip").mkdir()
    raw["zip"] = write_zip(tmp_path / "zip", rows).parent
    made = {form: prepared(folder, tmp_path / "data" / form) for form, folder in raw.items()}
    assert [each["name"] for each in made["parquet"].manifest["sources"]["inputs"]] == [
        f"{split}-00000-of-00001.parquet" for split in ("train", "validation", "test")
    ]
    first = made["tree"]
    assert first.manifest["rows"] == {split: len(rows[split]) for split in SPLITS}
    for other in made.values():
        for key in ("files", "rows", "rows_sha256_sum", "counts", "split_sizes"):
            assert other.manifest[key] == first.manifest[key]
    changed = {**rows, "test": [{**rows["test"][0], "code": rows["test"][0]["code"] + " "}, *rows["test"][1:]]}
    other = prepared(write_tree(tmp_path / "changed", changed), tmp_path / "data" / "changed")
    assert other.manifest["rows"] == first.manifest["rows"]
    assert other.manifest["rows_sha256_sum"] != first.manifest["rows_sha256_sum"]


def test_other_numbers_of_rows_than_published_are_told(
    tmp_path: Path, rows: Rows, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, rows)
    read(tmp_path)
    assert "train 454,451, valid 15,328, test 26,909 as published: not comparable" in caplog.text
    caplog.clear()
    monkeypatch.setitem(ROWS, "java", {split: len(each) for split, each in rows.items()})
    read(tmp_path)
    assert not caplog.text


def test_damaged_parquet_is_one_line(tmp_path: Path, rows: Rows) -> None:
    write_parquet(tmp_path, rows)
    file = tmp_path / "java" / "test-00000-of-00001.parquet"
    whole = file.read_bytes()
    for bad in (whole[: len(whole) // 2], b"<html>not found</html>", b"", whole[:4] + bytes(5000) + whole[5004:]):
        file.write_bytes(bad)
        message = refused(tmp_path)
        assert "test-00000-of-00001.parquet" in message
        assert "get it again" in message


def test_parquet_without_a_column_of_text_is_one_line(tmp_path: Path, rows: Rows) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
    import pyarrow as pa

    write_parquet(tmp_path, rows)
    file = tmp_path / "java" / "train-00000-of-00001.parquet"
    table = parquet.read_table(file)
    parquet.write_table(table.drop_columns(["func_code_string"]), file)
    assert "has no column of text func_code_string: it has repository_name" in refused(tmp_path)
    numbers = pa.array(range(len(table)))
    parquet.write_table(
        table.set_column(table.schema.get_field_index("func_code_string"), "func_code_string", numbers), file
    )
    assert "has no column of text func_code_string" in refused(tmp_path)


def test_a_parquet_bomb_is_refused(tmp_path: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
    import pyarrow as pa

    write_parquet(tmp_path, rows)
    file = tmp_path / "java" / "train-00000-of-00001.parquet"
    parquet.write_table(pa.table({name: ["x" * 1000] * 20_000 for name in parquet.read_schema(file).names}), file)
    monkeypatch.setattr("data_prep.files.text_rows.RATIO_FROM", 1 << 20)
    assert "is refused: such a file does not unpack to" in refused(tmp_path)


def test_parquet_needs_pyarrow_and_all_splits(tmp_path: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parquet(tmp_path, rows)
    with monkeypatch.context() as without:
        without.setitem(__import__("sys").modules, "pyarrow.parquet", None)
        assert "needs pyarrow: bash run.sh install parquet" in refused(tmp_path)
    (tmp_path / "java" / "validation-00000-of-00001.parquet").unlink()
    assert "nor java/*.parquet of all splits" in refused(tmp_path)
