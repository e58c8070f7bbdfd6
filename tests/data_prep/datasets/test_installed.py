"""Packages of registries as a corpus: pinned by checksum, fetched by the registries' clients, read from archives."""

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.source_trees import PACKAGES, Installed, read_packages
from data_prep.pipeline.shards import read_head
from data_prep.sources.source_tree import PackageTree
from tests.data_prep.datasets.corpus_trees import LICENCE, tarball, wheel

DOC = (
    "/** Adds up all of the values. */\nexport function total(values) {\n  return values.reduce((a, b) => a + b);\n}\n"
)


@pytest.fixture
def registry(tmp_path, monkeypatch) -> Path:
    """A folder in place of the registries: clients copy from it and write down what they were asked."""
    folder = tmp_path / "registry"
    folder.mkdir()
    client = tmp_path / "bin" / "npm"
    client.parent.mkdir()
    lines = [
        f"#!{sys.executable}", "import pathlib, shutil, sys",
        f"folder = pathlib.Path({str(folder)!r})",
        "(folder / 'asked').open('a').write(' '.join(sys.argv[1:]) + '\\n')",
        "name = sys.argv[-1].rpartition('@')[0].replace('/', '-').lstrip('@')",
        "found = list(folder.glob(name + '-*.tgz'))",
        "print('npm ERR! 404 Not Found', file=sys.stderr) if not found else shutil.copy(found[0], '.')",
        "sys.exit(not found)",
    ]  # fmt: skip
    client.write_text("\n".join(lines) + "\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(client.parent), prepend=":")
    return folder


def line_of(name: str, archive: Path, language: str = "javascript", registry: str = "npm") -> str:
    return f"{language}\t{registry}\t{name}\t1.0.0\t{hashlib.sha256(archive.read_bytes()).hexdigest()}\n"


def config_of(tmp_path: Path, lines: str) -> DataConfig:
    (tmp_path / "list.txt").write_text(f"# packages\n{lines}")
    return DataConfig(path=str(tmp_path / "list.txt"), root=str(tmp_path / "root"), language="all", processes=1)


def test_the_list_has_at_most_a_dozen_packages_a_language():
    found = read_packages(PACKAGES)
    counts = {
        name: sum(package.language == name for package in found) for name in ("python", "javascript", "java", "go")
    }
    assert all(10 <= count <= 12 for count in counts.values()), counts
    assert len({(package.registry, package.name) for package in found}) == len(found)


def test_a_package_is_fetched_once_and_read_from_its_archive(registry, tmp_path):
    archive = tarball(registry / "scope-sum-1.0.0.tgz", {"LICENSE": LICENCE, "dist/sum.js": DOC, "README.md": "x"})
    config = config_of(tmp_path, line_of("@scope/sum", archive, language="JS"))
    for _ in range(2):
        _, shard = Installed(config).inputs()
    head = read_head(shard)
    assert head["tree"] == {
        "name": "npm/@scope/sum", "revision": "1.0.0", "url": "pkg:npm/%40scope/sum@1.0.0",
    }  # fmt: skip
    assert head["languages"]["javascript"]["functions"] == {"": 1, "no documentation": 1}
    assert (registry / "asked").read_text().splitlines() == [
        "pack --ignore-scripts --silent --fetch-retries=1 --fetch-retry-mintimeout=1000 @scope/sum@1.0.0"
    ]


def test_what_cannot_be_had_is_left_out_in_a_line(registry, tmp_path, caplog):
    good = tarball(registry / "sum-1.0.0.tgz", {"LICENSE": LICENCE, "sum.js": DOC})
    other = tarball(registry / "other-1.0.0.tgz", {"LICENSE": LICENCE, "sum.js": DOC * 2})
    hostile = tarball(registry / "evil-1.0.0.tgz", {"../../evil.js": DOC, "LICENSE": LICENCE})
    lines = line_of("sum", good) + line_of("gone", good) + line_of("other", good) + line_of("evil", hostile)
    assert other.exists()
    assert len(Installed(config_of(tmp_path, lines)).inputs()) == 2
    said = caplog.text
    assert "left out gone: gone 1.0.0 of npm cannot be fetched: npm ERR! 404 Not Found" in said
    assert "left out other: other 1.0.0 of npm has sha256" in said
    assert "left out npm/evil" in said
    assert "points outside" in said


def test_only_packages_of_the_language_are_asked_for(registry, tmp_path):
    archive = tarball(registry / "sum-1.0.0.tgz", {"LICENSE": LICENCE, "sum.js": DOC})
    config = config_of(tmp_path, line_of("sum", archive) + line_of("types", archive, "typescript"))
    assert len(Installed(replace(config, language="javascript")).inputs()) == 2
    (asked,) = (registry / "asked").read_text().splitlines()
    assert asked.endswith(" sum@1.0.0")
    with pytest.raises(ValueError, match=r"none of the packages of .* is in python"):
        Installed(replace(config, language="python")).inputs()


def test_a_registry_that_fails_twice_in_a_row_is_given_up(registry, tmp_path, caplog):
    lines = "".join(f"javascript\tnpm\tgone{number}\t1.0.0\t{'0' * 64}\n" for number in range(5))
    with pytest.raises(ValueError, match=r"can be had: gone1 1\.0\.0"):
        Installed(config_of(tmp_path, lines)).inputs()
    assert len((registry / "asked").read_text().splitlines()) == 2
    assert "the other packages of npm are not asked for" in caplog.text


def test_none_at_all_is_an_error(registry, tmp_path):
    lines = f"javascript\tnpm\tgone\t1.0.0\t{'0' * 64}\n"
    with pytest.raises(ValueError, match=r"none of the packages of .*list.txt can be had: gone 1.0.0") as refused:
        Installed(config_of(tmp_path, lines)).inputs()
    assert "\n" not in str(refused.value)
    assert registry.is_dir()


@pytest.mark.parametrize("line", ["javascript npm a 1.0 0", "cobol\tnpm\ta\t1\t", "go\tcpan\ta\t1\t", "go\tnpm\ta\t\t"])
def test_a_wrong_list_is_refused(line, tmp_path):
    with pytest.raises(ValueError, match=r"list.txt:2: "):
        Installed(config_of(tmp_path, f"{line}\n")).inputs()


def test_the_licence_of_a_wheel_is_at_its_top(tmp_path):
    archive = wheel(tmp_path / "galm-1.0-py3-none-any.whl", "galm")
    tree = PackageTree(archive, lambda path: path.endswith((".py", "LICENSE")))
    paths = [entry.path for entry in tree.entries()]
    assert "LICENSE" in paths
    assert "galm/model.py" in paths
    assert dict(tree.read(["LICENSE"]))["LICENSE"].decode() == LICENCE
