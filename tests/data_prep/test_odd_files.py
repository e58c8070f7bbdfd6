"""Whatever reads a file that it was given waits for none, and leaves out of a folder what is no file."""

from collections import Counter

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.csn import Csn
from data_prep.datasets.folders import Folder
from data_prep.datasets.jdk import find_sources
from data_prep.datasets.open_java import FILES, OpenJava
from data_prep.datasets.tabcs import JcgTabcs
from data_prep.files.access import append_regular
from data_prep.files.json_text import json_lines
from data_prep.files.text_rows import parquet_rows
from data_prep.files.writing import write_atomically
from data_prep.gencodesearchnet.r_corpus import read_package
from data_prep.gencodesearchnet.records import read_raw, source_rows
from data_prep.gencodesearchnet.subsets import find_subsets
from data_prep.prepare import prepare
from data_prep.sources.archives import is_zip, read_java_files
from data_prep.sources.debian_sources import RECORD, archives_in, fetched_archives, source_entries
from data_prep.sources.package_downloads import unpack_package
from data_prep.sources.tabcs_release import load_plain, read_ids, read_vocabulary
from tests.odd_files import KINDS, deadline, odd_thing

JAVA = b"class A { /** Reads a line of it. */ int f() { return 1; } }\n"
READERS = {
    "java files": lambda path: list(read_java_files(path, "it", print)),
    "JSON Lines": lambda path: list(json_lines(path)),
    "rows": lambda path: list(source_rows(path, Counter())),
    "rows.csv": lambda path: list(source_rows(path, Counter())),
    "rows.json": lambda path: list(source_rows(path, Counter())),
    "raw pairs": read_raw,
    "R package": read_package,
    "pickle": load_plain,
    "vocabulary": read_vocabulary,
    "ids": read_ids,
    "table.parquet": lambda path: list(parquet_rows(path, ("a",))),
    "package.deb": lambda path: unpack_package(path, path.parent / "kept"),
    "file to add to": append_regular,
    "file to replace": lambda path: write_atomically(path, b""),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_none_is_refused(name, kind, tmp_path):
    path = odd_thing(kind, tmp_path / name)
    with deadline(), pytest.raises((ValueError, OSError), match=r".") as refused:
        READERS[name](path)
    assert str(path) in str(refused.value)
    assert path.lstat().st_size == len(str(path)) * (kind == "loop") + len("/dev/zero") * (kind == "device")


@pytest.mark.parametrize("kind", KINDS)
def test_java_of_a_folder_is_found_beside_them(kind, tmp_path):
    (tmp_path / "A.java").write_bytes(JAVA)
    odd_thing(kind, tmp_path / "B.java")
    left_out = []
    with deadline():
        found = list(read_java_files(tmp_path, "it", lambda path, reason: left_out.append((path, reason))))
    assert [file.path for file in found] == ["A.java"]
    assert left_out == [("B.java", "not a regular file" if kind == "pipe" else "a link, not followed")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_data_set_is_prepared_without_them(kind, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(40):
        text = f"/** Reads line {number} of the file. */\n int read{number}() {{\n return {number};\n }}\n"
        (folder / f"A{number}.java").write_text(f"class A{number} {{\n {text}}}\n")
    odd_thing(kind, folder / "B.java")
    config = DataConfig(str(folder), root=str(tmp_path / "data"), near_duplicate=1.0, processes=1)
    with deadline():
        data = prepare("folder", config, command="", say=lambda _: None)
    assert sum(map(len, data.splits.values())) == 40
    assert [each["path"] for each in data.manifest["broken_files"]] == ["B.java"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_is_named_as_before_and_a_loop_has_a_name_too(kind, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    names = {Folder(DataConfig(str(tmp_path / name))).cache_name for name in ("real", "link", "real/../link/.")}
    assert len(names) == 1
    with pytest.raises(ValueError, match="expected a directory, zip, jar or tar"):
        Folder(DataConfig(str(odd_thing(kind, tmp_path / "odd")))).inputs()


@pytest.mark.parametrize("kind", KINDS)
def test_r_files_of_a_folder_are_found_beside_them(kind, tmp_path):
    (tmp_path / "a.R").write_text("x <- 1\n")
    odd_thing(kind, tmp_path / "b.R")
    odd_thing(kind, tmp_path / "DESCRIPTION")
    with deadline():
        package = read_package(tmp_path)
    assert (list(package.files), list(package.left_out)) == (["a.R"], ["DESCRIPTION", "b.R"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "opened"),
    [
        ("java_test_0.jsonl.gz", lambda folder: Csn(DataConfig(str(folder))).inputs()),
        ("java.zip", lambda folder: Csn(DataConfig(str(folder))).inputs()),
        ("vocab.desc.pkl", lambda folder: JcgTabcs(DataConfig(str(folder))).inputs()),
        (next(iter(FILES)), lambda folder: OpenJava(DataConfig(str(folder))).inputs()),
        ("a_1.0.orig.tar.xz", lambda folder: archives_in(folder, {"a": "a"})),
        ("test_java.jsonl", find_subsets),
    ],
)
def test_data_that_are_no_files_are_not_there(name, opened, kind, tmp_path):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    odd_thing(kind, tmp_path / name)
    with deadline(), pytest.raises(ValueError, match=r"needs|contains|has neither|expected"):
        opened(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_jdk_is_read_without_them(kind, tmp_path):
    for home in ("jdk-17", "jdk-21"):
        (tmp_path / home / "lib").mkdir(parents=True)
    odd_thing(kind, tmp_path / "jdk-17/lib/src.zip")
    (tmp_path / "jdk-21/lib/src.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    odd_thing(kind, tmp_path / "jdk-21/release")
    with deadline():
        (found,) = find_sources([tmp_path / "jdk-17", tmp_path / "jdk-21"])
        assert not is_zip(tmp_path / "jdk-17/lib/src.zip")
    assert found.release == "21"  # by the folder's name


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_fetched_before_is_known_without_them(kind, tmp_path, monkeypatch):
    class NoLists:
        def __init__(self, _):
            raise ValueError("asked anew")

    monkeypatch.setattr("data_prep.sources.debian_sources.SourceLists", NoLists)
    odd_thing(kind, tmp_path / RECORD)
    with deadline(), pytest.raises(ValueError, match="asked anew"):
        fetched_archives(tmp_path, {"a": "a"})


@pytest.mark.parametrize("kind", KINDS)
def test_entries_of_apt_that_are_no_files_are_passed_over(kind, tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://mirror.example/debian bookworm main\n")
    odd_thing(kind, tmp_path / "sources.list.d/a.sources")
    odd_thing(kind, tmp_path / "sources.list.d/a.list")
    with deadline():
        assert source_entries(tmp_path) == {"list": "deb-src http://mirror.example/debian bookworm main\n"}
