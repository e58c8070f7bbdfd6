"""The folder data set takes any place with Java sources, and each place has a cache of its own."""

import shutil
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.folders import Folder


def test_directory_and_archive_of_it_give_the_same_files(java_folder: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "sources"), "gztar", java_folder))
    folder = Folder(DataConfig(path=str(java_folder)))
    packed = Folder(DataConfig(path=str(archive)))
    assert folder.inputs() == [java_folder.resolve()]
    assert packed.inputs() == [archive.resolve()]
    files = list(folder.java_files())
    assert len(files) > 100
    assert {(file.path, file.data) for file in files} == {(file.path, file.data) for file in packed.java_files()}
    assert {file.origin for file in files} == {java_folder.name}
    assert folder.left_out == []


def test_cache_names_are_distinct_and_safe(tmp_path: Path) -> None:
    def cache_name(path: Path) -> str:
        return Folder(DataConfig(path=str(path))).cache_name

    first, second = cache_name(tmp_path / "a" / "My Projekt (Ü)"), cache_name(tmp_path / "b" / "My Projekt (Ü)")
    assert first != second
    assert first.rsplit("-", 1)[0] == "folder-my-projekt"
    assert cache_name(tmp_path / "b" / ".." / "a" / "My Projekt (Ü)") == first
    assert cache_name(Path("/")).startswith("folder-root-")


def test_what_is_left_out_is_listed(tmp_path: Path) -> None:
    (tmp_path / "A.java").write_text("class A {}")
    (tmp_path / "L.java").symlink_to(tmp_path / "A.java")
    folder = Folder(DataConfig(path=str(tmp_path)))
    for _ in range(2):
        assert [file.path for file in folder.java_files()] == ["A.java"]
        assert folder.left_out == [("L.java", "a link, not followed")]


def test_missing_path_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"data set folder needs --data\.path="):
        Folder(DataConfig())
    with pytest.raises(ValueError, match="does not exist") as caught:
        Folder(DataConfig(path=str(tmp_path / "none"))).inputs()
    assert "\n" not in str(caught.value)
