"""A java.zip of CodeSearchNet's form from clones: read like the original, as many rows as asked, the same bytes."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.csn import Csn
from data_prep.sources.codesearchnet_rows import Row, read_rows
from experiments.recipes.config import REPOSITORY
from tests.data_prep.datasets.csn_from_clones import clones_in, main, sizes_of
from tests.search.repositories import commit, run_git


@pytest.fixture(scope="module")
def folder(java_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain and a bare clone with files of the JDK, of which one is in both."""
    files = {
        path.relative_to(java_folder).as_posix(): path.read_bytes() for path in sorted(java_folder.rglob("*.java"))
    }
    names = [*files][:24]
    clones = tmp_path_factory.mktemp("clones")
    commit(clones / "o" / "plain", {name: files[name] for name in names[:13]})
    other = commit(clones / "unused", {**{name: files[name] for name in names[12:15]}, "broken.java": b"class A {"})
    run_git(clones, "clone", "-q", "--bare", str(other), str(clones / "o+bare" / "repo"))
    other.rename(clones.parent / f"{clones.name}-unused")
    return clones


def made(folder: Path, out: Path, rows: str) -> list[Row]:
    main([str(folder), str(out), f"--rows={rows}", "--processes=1"])
    left_out: list[tuple[str, str]] = []
    found = [*read_rows([out], left_out)]
    assert left_out == []
    return found


def test_rows_are_as_many_as_asked_and_none_is_there_twice(folder: Path, tmp_path: Path) -> None:
    rows = made(folder, tmp_path / "java.zip", "90,6,9")
    assert [sum(row.split == split for row in rows) for split in ("train", "valid", "test")] == [90, 6, 9]
    assert len({row.fields["code"] for row in rows}) == 105
    assert {row.fields["repo"] for row in rows} == {"o/plain", "o/bare"}
    assert not any("/*" in row.fields["docstring"] or "*/" in row.fields["docstring"] for row in rows)
    assert not any(row.fields["func_name"].endswith((".toString", ".equals")) for row in rows)


def test_csn_reads_the_file_at_the_lines_of_the_clone(folder: Path, tmp_path: Path) -> None:
    made(folder, tmp_path / "java.zip", "90,6,9")
    plain = folder / "o" / "plain"
    source = Csn(DataConfig(path=str(tmp_path / "java.zip")))
    for file, row in zip(source.java_files(), read_rows(source.inputs(), []), strict=True):
        if not file.path.startswith("o/plain/"):
            continue
        first, last = (int(part.removeprefix("L")) for part in row.fields["url"].rpartition("#")[2].split("-"))
        lines = (plain / row.fields["path"]).read_text().split("\n")[first - 1 : last]
        assert "\n".join(lines).strip().startswith(row.fields["code"].split("\n")[0])
        assert row.fields["code"].strip().endswith(lines[-1].strip())
        assert file.excerpt is not None


def test_the_same_clones_give_the_same_bytes_in_the_same_order(folder: Path, tmp_path: Path) -> None:
    made(folder, tmp_path / "one.zip", "20,3,4")
    typed = [str(folder), str(tmp_path / "other.zip"), "--rows=20,3,4", "--processes=2"]
    subprocess.run(
        [sys.executable, "-m", "tests.data_prep.datasets.csn_from_clones", *typed], check=True, cwd=REPOSITORY
    )
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert sorted(archive.namelist()) == [
            f"java/final/jsonl/{split}/java_{split}_0.jsonl.gz" for split in ("test", "train", "valid")
        ]
    assert [name for name, _ in clones_in(folder)] == ["o/bare", "o/plain"]


def test_what_cannot_be_made_is_refused_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="add clones, or ask for fewer rows"):
        main([str(folder), str(tmp_path / "java.zip"), "--rows=1000000,1,1", "--processes=1"])
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(ValueError, match="no git clones"):
        clones_in(tmp_path)
    with pytest.raises(ValueError, match="is no folder"):
        clones_in(tmp_path / "missing")
    with pytest.raises(ValueError, match="three numbers"):
        sizes_of("1,2")
