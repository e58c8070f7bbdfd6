import os
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from java import pair

from data_prep.config import DataConfig
from data_prep.datasets.jdk import choose, find_sources, homes
from data_prep.pipeline.java_extraction import extract_all
from data_prep.pipeline.splits import SplitRule, project_of, split_pairs
from data_prep.records import Pair, SourceFile

PAIRS = [pair(f"{n}.java", line) for n in range(60) for line in range(n % 7 + 1)]


def files(pairs):
    return {(one.method.origin, one.method.path) for one in pairs}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.4), st.floats(0.02, 0.4))
def test_whole_files_by_share(seed, valid, test):
    splits = split_pairs(PAIRS, DataConfig(split_seed=seed, valid_share=valid, test_share=test))
    assert sum(map(len, splits.values())) == len(PAIRS)
    assert sum(len(files(pairs)) for pairs in splits.values()) == 60
    assert 0 <= len(splits["test"]) - test * len(PAIRS) < 7
    assert 0 <= len(splits["valid"]) - valid * len(PAIRS) < 7


def test_the_seed_decides_and_order_does_not():
    one, again = split_pairs(PAIRS, DataConfig()), split_pairs(PAIRS[::-1], DataConfig())
    other = split_pairs(PAIRS, DataConfig(split_seed=1))
    assert {name: files(pairs) for name, pairs in one.items()} == {name: files(pairs) for name, pairs in again.items()}
    assert files(one["test"]) != files(other["test"])
    assert one["train"] == [each for each in PAIRS if each in one["train"]]


def test_official_splits_are_kept():
    official = [pair("A.java", split="test"), pair("A.java", split="train"), pair("B.java", split="valid")]
    assert {name: len(pairs) for name, pairs in split_pairs(official, DataConfig()).items()} == {
        "train": 1, "valid": 1, "test": 1,
    }  # fmt: skip


def test_too_few_files_are_told():
    with pytest.raises(ValueError, match=r"2 documented methods in 1 files .* too few"):
        split_pairs([pair("A.java", 1), pair("A.java", 9)], DataConfig())


def test_no_file_of_the_jdk_is_on_two_sides():
    sources = choose(find_sources(homes(os.environ)))
    if sources is None:
        pytest.skip("no JDK with lib/src.zip is installed here")
    with zipfile.ZipFile(sources.zip) as archive:
        names = [n for n in archive.namelist() if n.startswith("java.base/java/util/") and n.endswith(".java")]
        java = (SourceFile("jdk", n, archive.read(n)) for n in names[:40])
        found = extract_all(java, DataConfig(processes=1)).pairs
    splits = split_pairs(found, DataConfig())
    assert len(found) > 200
    sides = [files(pairs) for pairs in splits.values()]
    assert sum(map(len, sides)) == len(set().union(*sides)) == len(files(found))


def of_projects(sizes: list[int]) -> list[Pair]:
    """As many pairs of each project, in files and packages of their own."""
    pairs = []
    for number, size in enumerate(sizes):
        for line in range(size):
            one = pair(f"{line // 9}.java", line)
            pairs.append(replace(one, method=replace(one.method, origin=f"p{number}/package{line % 3}_1.0")))
    return pairs


def projects(pairs: list[Pair]) -> set[str]:
    return {project_of(one.method.origin) for one in pairs}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 30), min_size=40, max_size=60))
def test_whole_projects_and_no_huge_one_outside_training(seed, sizes):
    pairs = of_projects([*sizes, 900])
    rule = SplitRule(by="project", test_pairs=100, valid_pairs=50)
    splits = split_pairs(pairs, DataConfig(split_seed=seed, valid_share=0.2, test_share=0.2), rule)
    assert sum(map(len, splits.values())) == len(pairs)
    assert sum(len(projects(each)) for each in splits.values()) == len(sizes) + 1
    assert f"p{len(sizes)}" in projects(splits["train"])
    middle = sorted([*sizes, 900])[len(sizes) // 2]
    for name, wanted in (("test", 100), ("valid", 50)):
        largest = max(wanted / 10, middle)
        own = [([*sizes, 900])[int(project[1:])] for project in projects(splits[name])]
        assert max(own) <= largest
        fitting = [size for size in sizes if size <= largest]
        if sum(fitting) >= 300:
            assert wanted <= len(splits[name]) < wanted + largest


def test_a_share_of_less_than_the_number_of_pairs_is_enough():
    pairs = of_projects([10] * 100)
    rule = SplitRule(by="project", test_pairs=500, valid_pairs=500)
    sizes = {name: len(each) for name, each in split_pairs(pairs, DataConfig(), rule).items()}
    assert sizes == {"train": 830, "valid": 50, "test": 120}  # of 1,000: 5 % and 11.3 %, by tens


def test_too_few_projects_are_told():
    with pytest.raises(ValueError, match=r"18 documented methods in 2 projects .* a split by project"):
        split_pairs(of_projects([9, 9]), DataConfig(), SplitRule(by="project"))


def test_the_same_files_in_folders_of_other_names_are_split_alike():
    """Also if more folders are around all of them, as in an archive."""

    def splits(origin: str, around: str, rule: SplitRule) -> list[list[str]]:
        pairs = [replace(pair, method=replace(pair.method, origin=origin, path=f"{around}p{n % 9}/{n % 30}.java"))
                 for n, pair in enumerate(of_projects([200]))]  # fmt: skip
        found = split_pairs(pairs, DataConfig(valid_share=0.2, test_share=0.2), rule)
        return [[pair.method.path.removeprefix(around) for pair in found[name]] for name in found]

    unnamed = SplitRule(named=False)
    assert splits("mine", "", unnamed) == splits("yours", "", unnamed) == splits("x", "lib-1.2/src/", unnamed)
    assert splits("mine", "", SplitRule()) != splits("yours", "", SplitRule())
