"""What every data set in the registry keeps."""

import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.help import help_lines
from data_prep.config import DATASETS, DataConfig, data_set
from data_prep.records import CODE_FIELDS, SPLITS, SourceFile


@pytest.mark.parametrize("name", DATASETS)
def test_help_tells_what_it_is(name):
    told = help_lines([name])
    assert told[0].startswith(f"data set {name}")
    assert len(told[1].split()) > 3


@pytest.mark.parametrize("name", DATASETS)
def test_it_says_how_to_get_what_is_missing(name, tmp_path):
    with pytest.raises(ValueError, match="path") as error:
        data_set(name, DataConfig(path=str(tmp_path / "nothing here"), root=str(tmp_path))).inputs()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", DATASETS)
def test_it_has_the_parts_that_preparation_asks_for(name):
    found = pkgutil.resolve_name(DATASETS[name])
    assert list(inspect.signature(found).parameters) == ["config"]
    for part in ("inputs", "origin", "make"):
        assert [*inspect.signature(getattr(found, part)).parameters] == ["self"]


@pytest.mark.parametrize("name", ["jdk", "folder"])
def test_it_finds_java_files_with_their_paths(name, jdk_zip, tmp_path):
    found = data_set(name, DataConfig(path=str(jdk_zip), root=str(tmp_path)))
    assert found.inputs() == [jdk_zip]
    files = found.java_files()
    assert isinstance(files, Iterator)
    first = next(files)
    assert isinstance(first, SourceFile)
    assert first.path.endswith(".java")
    assert not Path(first.path).is_absolute()
    assert first.origin == found.origin()
    assert len(first.data) > 0


def test_an_unknown_one_is_told_those_there_are():
    with pytest.raises(ValueError, match="jdk, folder, project, csn"):
        data_set("jkd", DataConfig())


def test_prepared_pairs_have_words_in_every_split_and_no_file_on_two_sides(small_data):
    paths = {}
    for name in SPLITS:
        split = small_data.splits[name]
        assert len(split) > 20
        paths[name] = {split.text(row).path for row in range(len(split))}
        for field in ("query", *CODE_FIELDS):
            assert len(split.words[field]) == len(split)
    assert sum(map(len, paths.values())) == len(set().union(*paths.values()))
