"""The corpus of R packages: written with its sources, counted, read back; fetched by an apt-get of ours or the real."""

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from data_prep.files.json_text import json_lines
from data_prep.gencodesearchnet.r_corpus import (
    ABOUT,
    PAIRS,
    build_r_pairs,
    fetch_packages,
    package_pairs,
    read_package,
)
from data_prep.gencodesearchnet.r_pairs import Mode, RPair

FILES = {
    "one": {"DESCRIPTION": "License: MIT\n", "b.R": "# fit the model\nm <- lm(y)\n", "a/b.R": "# fit the model\nn\n"},
    "two": {"x.R": "# plot\nplot(m)\n", "y.R": "library(a)\n# see the\n# model\nprint(m)\n# show it all\nm²\n"},
}
PLACE = "GALM_R_PACKAGES"
REAL = ("r-cran-psych", "r-cran-survival", "r-cran-nlme")
APT = """#!/bin/sh
for word; do last=$word; done
echo "$*" >> {log}
case "$*" in *download*) ;; *) exit 0;; esac
if [ "$last" = r-cran-gone ]; then echo "E: Unable to locate package $last" >&2; exit 100; fi
echo whole > "${{last}}_1.0-1_all.deb"
"""


@pytest.fixture
def folders(tmp_path):
    for folder, files in FILES.items():
        for name, text in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return [str(tmp_path / folder) for folder in FILES]


@pytest.fixture
def apt(tmp_path, monkeypatch):
    """An apt-get that makes a file; gives the packages that it was asked for."""
    log, programs = tmp_path / "calls", tmp_path / "programs"
    programs.mkdir()
    (programs / "apt-get").write_text(APT.format(log=log))
    (programs / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return lambda: [line.split()[-1] for line in log.read_text().splitlines() if " download " in line]


def test_pairs_are_written_with_their_source_and_counted(folders, tmp_path):
    said = []
    counts = build_r_pairs(folders, tmp_path / "out", "clean", said.append)
    assert [RPair(**row) for _, row in json_lines(tmp_path / "out" / PAIRS)] == [
        RPair("one/a/b.R 0", "fit the model", "n", "one", "", "MIT", "a/b.R"),
        RPair("one/b.R 0", "fit the model", "m <- lm(y)", "one", "", "MIT", "b.R"),
        RPair("two/y.R 0", "see the model", "print(m)", "two", "", "", "y.R"),
        RPair("two/y.R 1", "show it all", "m²", "two", "", "", "y.R"),
    ]
    assert said == [
        "one (no version), MIT: 2 pairs of 2 of 2 R files",
        "two (no version), licence unknown: 2 pairs of 1 of 2 R files",
        "4 pairs of 2 packages; by licence: MIT 2, unknown 2",
    ]
    assert [(each.package, each.files, each.files_with_pairs, each.pairs) for each in counts] == [
        ("one", 2, 2, 2),
        ("two", 2, 1, 2),
    ]
    about = json.loads((tmp_path / "out" / ABOUT).read_text())
    assert (about["mode"], about["sources"], about["packages"][1]["pairs"]) == ("clean", folders, 2)


def test_the_same_sources_give_the_same_bytes(folders, tmp_path):
    for out in ("a", "b"):
        build_r_pairs(folders, tmp_path / out, "released", lambda _: None)
    assert (tmp_path / "a" / PAIRS).read_bytes() == (tmp_path / "b" / PAIRS).read_bytes()


def test_a_package_given_twice_or_not_at_all_is_refused(folders, tmp_path):
    with pytest.raises(ValueError, match=r"one is package one again: give each package once"):
        build_r_pairs([*folders, folders[0]], tmp_path / "out", "clean", lambda _: None)
    with pytest.raises(ValueError, match="no source of R files is given"):
        build_r_pairs([], tmp_path / "out", "clean", lambda _: None)
    with pytest.raises(ValueError, match="none does not exist: expected a folder"):
        build_r_pairs([str(tmp_path / "none")], tmp_path / "out", "clean", lambda _: None)
    assert not (tmp_path / "out" / PAIRS).exists()


def test_packages_are_fetched_once(apt, tmp_path):
    folder = tmp_path / "packages"
    paths = fetch_packages(["r-cran-a", "r-cran-b"], folder)
    assert [path.name for path in paths] == ["r-cran-a_1.0-1_all.deb", "r-cran-b_1.0-1_all.deb"]
    assert fetch_packages(["r-cran-b", "r-cran-c"], folder)[0] == paths[1]
    assert apt() == ["r-cran-a", "r-cran-b", "r-cran-c"]
    assert sorted(path.name for path in folder.iterdir()) == [f"r-cran-{each}_1.0-1_all.deb" for each in "abc"]


def test_a_package_that_is_not_to_be_had_is_named(apt, tmp_path):
    with pytest.raises(ValueError, match="apt-get download r-cran-gone says: E: Unable to locate package r-cran-gone"):
        fetch_packages(["r-cran-a", "r-cran-gone"], tmp_path)
    assert apt() == ["r-cran-a", "r-cran-gone"]
    assert [path.name for path in tmp_path.glob("*.deb")] == ["r-cran-a_1.0-1_all.deb"]


@pytest.mark.parametrize("name", ["lme4", "r-cran-", "r-cran-a b", "-o", "r-cran-a=1", "r-cran-../x", "R-cran-a"])
@pytest.mark.usefixtures("apt")
def test_other_names_do_not_reach_apt(tmp_path, name):
    with pytest.raises(ValueError, match="does not exist: expected a folder"):
        build_r_pairs([name], tmp_path / "packages", "clean", print)
    assert not (tmp_path / "calls").exists()


def test_where_there_is_no_apt_one_line_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"there is no apt-get here to download r-cran-a: give folders"):
        fetch_packages(["r-cran-a"], tmp_path)


@pytest.mark.network
@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs dpkg-deb")
def test_real_packages_give_pairs_in_both_modes():
    """Of the packages of REAL, in a folder that is named and that apt-get fills where they are missing."""
    if PLACE not in os.environ:
        pytest.skip(f"{PLACE} names no folder for Debian's packages {', '.join(REAL)}")
    try:
        paths = fetch_packages(REAL, Path(os.environ[PLACE]))
    except ValueError as error:
        pytest.skip(f"apt-get cannot download here: {error}")
    for package in map(read_package, paths):
        assert package.licence.startswith("GPL")
        assert package.version
        for mode in get_args(Mode):
            pairs = package_pairs(package, mode)
            assert len({pair.id for pair in pairs}) == len(pairs) > 0
            assert all(pair.comment.strip() and pair.code.strip() for pair in pairs)
            assert not [pair for pair in pairs if mode == "clean" and "code chunk number" in pair.comment]
        files = Counter(pair.file for pair in pairs)
        assert all(path.endswith((".R", ".r", ".R.gz", ".r.gz")) for path in files)
