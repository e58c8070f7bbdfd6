"""CodeSearchNet's form, made here of real methods of the JDK: what the original would give comes out the same."""

import functools
import gzip
import hashlib
import http.server
import json
import shutil
import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data_prep.config import DataConfig
from data_prep.datasets import csn
from data_prep.datasets.csn import FIELDS, JAVA_ZIP, Csn
from data_prep.files import json_lines
from data_prep.pairs.extraction import methods_of
from data_prep.prepare import prepare
from data_prep.records import SPLITS, JavaFile, Method, SplitName
from data_prep.sources.download import Remote
from data_prep.store.prepared_data import open_prepared

Rows = Mapping[SplitName, Sequence[dict[str, Any]]]


def row_of(method: Method, split: SplitName) -> dict[str, Any]:
    """A line as CodeSearchNet writes it: the comment without its marks, lines in the address."""
    comment = method.javadoc.removeprefix("/**").removesuffix("*/").splitlines()
    place = f"blob/0123abc/{method.path}#L{method.start_line}-L{method.end_line}"
    return {
        "repo": "openjdk/jdk",
        "path": method.path,
        "func_name": f"{method.type_name.rpartition('.')[2]}.{method.name}",
        "original_string": method.source,
        "language": "java",
        "code": method.source,
        "code_tokens": method.source.split(),
        "docstring": "\n".join(line.strip().removeprefix("*").removeprefix(" ") for line in comment).strip(),
        "docstring_tokens": [],
        "sha": "0123abc",
        "url": f"https://example.org/openjdk/jdk/{place}",
        "partition": split,
    }


@pytest.fixture(scope="module")
def methods(java_folder: Path) -> dict[SplitName, list[Method]]:
    """Documented methods of a few files, no file in two splits."""
    files = sorted(java_folder.rglob("C*.java"))
    found: dict[SplitName, list[Method]] = {name: [] for name in SPLITS}
    for place, file in enumerate(files):
        split = SPLITS[(0, 0, 1, 2)[place % 4]]
        java = JavaFile("jdk", file.relative_to(java_folder).as_posix(), file.read_bytes())
        found[split] += [each for each in methods_of(java, documented_only=True) if "." not in each.type_name]
    assert all(len(each) > 20 for each in found.values())
    return {split: each[:50] for split, each in found.items()}


@pytest.fixture(scope="module")
def rows(methods: Mapping[SplitName, Sequence[Method]]) -> Rows:
    return {split: [row_of(method, split) for method in each] for split, each in methods.items()}


def lines_of(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def write_tree(folder: Path, rows: Rows) -> Path:
    """The official tree: training in two numbered files, of which 10 must come after 2."""
    for split, each in rows.items():
        numbers = {2: each[: len(each) // 2], 10: each[len(each) // 2 :]} if split == "train" else {0: each}
        for number, part in numbers.items():
            file = folder / "java" / "final" / "jsonl" / split / f"java_{split}_{number}.jsonl.gz"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(gzip.compress(lines_of(part)))
    return folder


def write_zip(folder: Path, rows: Rows) -> Path:
    write_tree(folder / "unpacked", rows)
    with zipfile.ZipFile(folder / "java.zip", "w") as archive:
        for file in sorted((folder / "unpacked").rglob("*.gz")):
            archive.write(file, file.relative_to(folder / "unpacked"))
        archive.writestr("java_licenses.pkl", b"never read")
    shutil.rmtree(folder / "unpacked")
    return folder / "java.zip"


def read(path: Path) -> tuple[list[JavaFile], Csn]:
    source = Csn(DataConfig(path=str(path)))
    return list(source.java_files()), source


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match=r"\w") as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_official_source_is_pinned() -> None:
    assert JAVA_ZIP.url == "https://s3.amazonaws.com/code-search-net/CodeSearchNet/v2/java.zip"
    assert JAVA_ZIP.size == 1_060_569_153
    assert JAVA_ZIP.sha256 is not None
    assert len(bytes.fromhex(JAVA_ZIP.sha256)) == 32


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
        same = replace(found, origin=method.origin, path=method.path, javadoc=method.javadoc, split=None)
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
    monkeypatch.setattr(json_lines, "_RATIO_FROM", 1 << 20)
    (tmp_path / "java_train_0.jsonl.gz").write_bytes(gzip.compress(b" " * (8 << 20)))
    assert "refused" in refused(tmp_path)


@pytest.mark.parametrize("field", FIELDS)
def test_other_fields_are_one_clear_line(tmp_path: Path, rows: Rows, field: str) -> None:
    wrong = [rows["train"][0], {**rows["train"][1], field: None}]
    (tmp_path / "java_train_0.jsonl.gz").write_bytes(gzip.compress(lines_of(wrong)))
    message = refused(tmp_path)
    assert "java_train_0.jsonl.gz:2 is no line of CodeSearchNet" in message
    assert f"{field} missing" in message


def test_a_zip_of_something_else_is_one_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "java.zip", "w") as archive:
        archive.writestr("A.java", "class A {}")
    assert "expected CodeSearchNet's java.zip" in refused(tmp_path)
    (tmp_path / "java.zip").unlink()
    assert "has neither java.zip nor" in refused(tmp_path)


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def test_what_is_nowhere_is_fetched_and_kept(tmp_path: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    served = write_zip(tmp_path, rows)
    content = served.read_bytes()
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(tmp_path))
    ) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/java.zip"
        monkeypatch.setattr(csn, "JAVA_ZIP", Remote(url, len(content), hashlib.sha256(content).hexdigest()))
        try:
            inputs = Csn(DataConfig(root=str(tmp_path / "data"))).inputs()
        finally:
            server.shutdown()
            thread.join()
    assert inputs == [tmp_path / "data" / "raw" / "csn" / "java.zip"]
    assert Csn(DataConfig(root=str(tmp_path / "data"))).inputs() == inputs  # with no server any more
    assert inputs[0].read_bytes() == content


def test_no_way_to_fetch_it_is_one_line_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port
    monkeypatch.setattr(csn, "JAVA_ZIP", Remote(f"http://127.0.0.1:{port}/java.zip"))
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(ValueError, match="data set jdk needs no download") as caught:
        Csn(DataConfig(root=str(tmp_path / "data"))).inputs()
    message = str(caught.value)
    assert "\n" not in message
    assert str(tmp_path / "data" / "raw" / "csn") in message
    assert f"http://127.0.0.1:{port}/java.zip could not be fetched" in message
