"""Repositories as a corpus: read from objects of clones, whole or not at all, resumed, with attribution in each row."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.source_trees import LEAVE_OUT, REPOSITORIES, Repositories, read_repositories
from data_prep.pipeline.contexts import context_words, triples, with_contexts
from data_prep.pipeline.corpus import LEFT_OUT
from data_prep.pipeline.overlap import tree_of
from data_prep.pipeline.shards import read_head
from data_prep.prepare import prepare
from data_prep.records import CONTEXT_FIELD, SPLITS
from data_prep.sources import git_repository
from data_prep.sources.git_repository import mirror_of
from data_prep.sources.source_tree import GitTree
from data_prep.store.prepared_data import PreparedData
from tests.data_prep.datasets.corpus_trees import LICENCE, clones, head_of, write_list
from tests.search.repositories import commit, run_git

KEPT = '''def reads(path):
    """Read the whole file at once."""
    with open(path) as file:
        return file.read()
'''


@pytest.fixture(scope="module")
def mirrors(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("mirrors")
    write_list(folder / "list.txt", clones(folder))
    return folder


def config_of(folder: Path, root: Path, **options) -> DataConfig:
    places = {"path": str(folder / "list.txt"), "mirrors": str(folder), "root": str(root)}
    return DataConfig(**{**places, "language": "python", "processes": 1, **options})


def prepared(config: DataConfig) -> PreparedData:
    return prepare("repositories", config, command="prepare", say=lambda _: None)


@pytest.fixture(scope="module")
def data(mirrors, tmp_path_factory) -> PreparedData:
    return prepared(config_of(mirrors, tmp_path_factory.mktemp("root")))


def test_the_list_is_read_and_has_no_repository_that_measures_this_project():
    found = read_repositories(REPOSITORIES)
    assert len({tree.name.lower() for tree, _ in found}) == len(found) > 60
    assert all(len(tree.revision) == 40 and tree.url == f"https://github.com/{tree.name}" for tree, _ in found)
    assert "psf/requests" in LEAVE_OUT.read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a/b main MIT python", "list.txt:1: expected owner/name, commit, licence and languages"),
        (f"a/b\t{'0' * 39}\tMIT\tpython", "list.txt:1: expected a commit of 40 hexadecimal digits, not '000"),
        (f"a/b\t{'0' * 40}\t\tpython", "expected a licence as of SPDX, such as MIT, not ''"),
        (f"a/b\t{'0' * 40}\tMIT\t", "expected languages separated by commas, not ''"),
        (f"a/b\t{'0' * 40}\tMIT\tpython,cobol", "list.txt:1: there is no language 'cobol'; there are python, "),
        (f"a/b/c\t{'0' * 40}\tMIT\tpython", "list.txt:1: expected a repository as owner"),
        (f"../b\t{'0' * 40}\tMIT\tpython", "list.txt:1: expected a repository as owner/name, not '../b'"),
        (f"psf/Requests\t{'0' * 40}\tMIT\tpython", "psf/Requests measures this project"),
        (f"a/b\t{'0' * 40}\tMIT\tpython\nA/B\t{'0' * 40}\tMIT\tgo", "list.txt:2: A/B is named twice"),
    ],
)
def test_a_wrong_list_is_refused(line, said, tmp_path):
    (tmp_path / "list.txt").write_text(f"{line}\n")
    with pytest.raises(ValueError, match=said):
        read_repositories(tmp_path / "list.txt")


def test_pairs_have_attribution_and_no_repository_is_on_two_sides(data, mirrors):
    trees = {}
    for name in SPLITS:
        split = data.splits[name]
        texts = [split.text(row) for row in range(len(split))]
        assert len(texts) > 3
        trees[name] = {tree_of(text.origin) for text in texts}
        assert {text.licence for text in texts} == {"MIT"}
        for row, text in list(enumerate(texts))[:6]:
            clone = mirror_of(mirrors, tree_of(text.origin))
            ((_, content),) = GitTree(clone, text.origin.rpartition("@")[2]).read([text.path])
            lines = content.decode().splitlines()[text.start_line - 1 : text.end_line]
            assert f"def {text.method_name}(" in "\n".join(lines)
            assert text.source.splitlines()[-1].strip() == lines[-1].strip()
            assert text.query_text.rstrip(".") not in text.source
            assert split.word_list("name", row)
            assert split.word_list("ast", row)
    assert sum(map(len, trees.values())) == len(set().union(*trees.values())) == 9


def test_triples_have_context_without_the_documentation(data):
    folder = data.folder.parent / "raw" / "repositories" / "shards"
    for split in SPLITS:
        found = list(triples(data, split, folder))
        assert len(found) == len(data.splits[split])
        assert any("import" in each.context for each in found)
        for each in found:
            assert each.docstring not in each.context + each.function
            assert '"""' + each.docstring[:20] not in each.context
            assert each.function_url.startswith(f"https://github.com/{each.repository_name}/blob/")
            assert each.function_url.partition("#")[0].endswith(each.function_path)
            assert (each.language, each.license) == ("python", "MIT")
            assert len(each.context) <= 4_000


def test_contexts_are_a_field_of_each_split(data):
    folder = data.folder.parent / "raw" / "repositories" / "shards"
    found = with_contexts(data, folder, longest=5)
    for name in SPLITS:
        before, after = data.splits[name], found.splits[name]
        contexts = [after.word_list(CONTEXT_FIELD, row) for row in range(len(after))]
        assert contexts == [list(context_words(each.context, 5)) for each in triples(data, name, folder)]
        assert any(contexts)
        assert all(before.word_list("tokens", row) == after.word_list("tokens", row) for row in range(len(before)))


def test_two_processes_and_another_order_of_events_give_the_same_bytes(data, mirrors, tmp_path):
    other = prepared(config_of(mirrors, tmp_path, processes=2))
    shards = [sorted((each.folder.parent / "raw/repositories/shards").glob("*.gz")) for each in (data, other)]
    assert [path.read_bytes() for path in shards[0]] == [path.read_bytes() for path in shards[1]]
    assert data.manifest["files"] == other.manifest["files"]
    assert data.manifest["counts"] == other.manifest["counts"]


def test_a_random_split_has_the_shares_of_the_paper(mirrors, data):
    found = prepared(config_of(mirrors, data.folder.parent, split="random"))
    sizes = [len(found.splits[name]) for name in SPLITS]
    assert sum(sizes) == sum(len(data.splits[name]) for name in SPLITS)
    assert sizes[0] == sum(sizes) * 8 // 10
    assert found.folder.name == "repositories-python-random"


PREPARE = """
import sys
from data_prep.config import DataConfig
from data_prep.prepare import prepare
mirrors, root = sys.argv[1:]
config = DataConfig(path=mirrors + "/list.txt", mirrors=mirrors, root=root, language="python", processes=2)
prepare("repositories", config, command="", say=lambda _: None)
"""


def test_a_killed_preparation_goes_on_where_it_was(data, mirrors, tmp_path):
    shards = tmp_path / "raw/repositories/shards"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    process = subprocess.Popen([sys.executable, "-c", PREPARE, str(mirrors), str(tmp_path)], env=environment)
    while len(list(shards.glob("*.gz"))) < 2 and process.poll() is None:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = {path.name: path.stat().st_mtime_ns for path in shards.glob("*.gz")}
    assert len(done) >= 2
    found = prepared(config_of(mirrors, tmp_path))
    assert {path.name: path.stat().st_mtime_ns for path in shards.glob("*.gz") if path.name in done} == done
    assert found.manifest["files"] == data.manifest["files"]


def one_more(mirrors: Path, tmp_path: Path, name: str, revision: str) -> DataConfig:
    """A configuration of the same list with one more line."""
    line = f"{name}\t{revision}\tMIT\tpython\n"
    (tmp_path / "list.txt").write_text((mirrors / "list.txt").read_text() + line)
    return config_of(mirrors, tmp_path / "root", path=str(tmp_path / "list.txt"))


@pytest.mark.parametrize(
    ("name", "revision", "said"),
    [
        ("o/gone", "0" * 40, "is no clone"),
        ("o/training", "1" * 40, "1111111"),
    ],
)
def test_a_repository_that_cannot_be_read_is_left_out_and_named(name, revision, said, mirrors, tmp_path):
    lines = (mirrors / "list.txt").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(f"{name}\t")]
    (tmp_path / "list.txt").write_text("\n".join([*kept, f"{name}\t{revision}\tMIT\tpython", ""]))
    found = prepared(config_of(mirrors, tmp_path / "root", path=str(tmp_path / "list.txt")))
    reason = found.manifest["source_trees_left_out"][name]
    assert said in reason
    assert "\n" not in reason
    assert not list((tmp_path / "root/raw/repositories/shards").glob(f"{name.replace('/', '+')}*"))


def test_odd_files_of_a_commit_are_counted(tmp_path):
    odd = commit(
        tmp_path / "odd", {"LICENSE": LICENCE, "a.py": KEPT, "b.py": b"\xff\xfe", "big.py": b"x = 1\n" * 9_000_000}
    )
    (odd / "link.py").symlink_to("/etc/passwd")
    run_git(odd, "add", "-A")
    run_git(odd, "update-index", "--add", "--cacheinfo", f"160000,{'2' * 40},module.py")
    run_git(odd, "commit", "-q", "-m", "more")
    lacking = tmp_path / "all" / "o" / "odd"
    run_git(tmp_path, "clone", "-q", "--bare", str(odd), str(lacking))
    blob = run_git(lacking, "rev-parse", "HEAD:a.py").strip()
    run_git(odd, "rm", "-q", "--cached", "a.py")
    write_list(tmp_path / "list.txt", [("o/odd", head_of(lacking), lacking)])
    source = Repositories(config_of(tmp_path, tmp_path / "root", mirrors=str(tmp_path / "all")))
    assert read_head(source.inputs()[1])["languages"]["python"]["files"] == {
        "": 1, "not UTF-8": 1, "too large": 1, "a link": 1, "a submodule": 1,
    }  # fmt: skip
    for pack in lacking.glob("objects/pack/*.pack"):  # now as loose objects, without one
        moved = pack.rename(tmp_path / pack.name)
        pack.with_suffix(".idx").unlink()
        with moved.open("rb") as file:
            subprocess.run(["git", "-C", lacking, "unpack-objects", "-q"], stdin=file, check=True)
    (lacking / "objects" / blob[:2] / blob[2:]).unlink()
    source = Repositories(config_of(tmp_path, tmp_path / "other", mirrors=str(tmp_path / "all")))
    files = read_head(source.inputs()[1])["languages"]["python"]["files"]
    assert files["an object that the clone lacks"] == 1


def test_no_program_of_a_clone_is_run(tmp_path):
    clone = commit(tmp_path / "o" / "evil", {"LICENSE": LICENCE, "a.py": KEPT, ".gitattributes": "*.py filter=evil\n"})
    mark = tmp_path / "ran"
    for key in ("filter.evil.smudge", "core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"):
        run_git(clone, "config", key, f"touch {mark}")
    write_list(tmp_path / "list.txt", [("o/evil", head_of(clone), clone)])
    assert len(Repositories(config_of(tmp_path, tmp_path / "root")).inputs()) == 2
    assert not mark.exists()


@pytest.fixture
def origin(tmp_path, monkeypatch) -> Path:
    """A list of two repositories that are fetched, in this process, by files in place of the network."""
    monkeypatch.setattr("data_prep.pipeline.corpus._GUARD", None)
    monkeypatch.setattr(git_repository, "_TRANSPORT", "file")
    monkeypatch.setattr("data_prep.datasets.source_trees._HOST", f"file://{tmp_path}/")
    found = []
    for name in ("one", "two"):
        clone = commit(tmp_path / "o" / f"{name}.git", {"LICENSE": LICENCE, "a.py": KEPT.replace("reads", name)})
        run_git(clone, "config", "uploadpack.allowAnySHA1InWant", "true")
        commit(clone, {"later.py": KEPT})
        found.append((f"o/{name}", run_git(clone, "rev-parse", "HEAD~").strip(), clone))
    return write_list(tmp_path / "list.txt", found)


def test_a_commit_is_fetched_alone_and_deleted(origin, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    source = Repositories(DataConfig(path=str(origin), root=str(tmp_path / "root"), language="python", processes=1))
    _, *shards = source.inputs()
    assert [read_head(path)["languages"]["python"]["files"] for path in shards] == [{"": 1}, {"": 1}]
    assert list(folder.iterdir()) == []


def test_without_a_network_it_ends_in_one_line(origin, tmp_path, monkeypatch):
    text = origin.read_text()
    origin.write_text(text + "".join(f"o/gone{n}\t{'0' * 40}\tMIT\tpython\n" for n in range(3)))
    config = DataConfig(path=str(origin), root=str(tmp_path / "root"), language="python", processes=1)
    with pytest.raises(ValueError, match=r"3 repositories in a row cannot be fetched .*--data.mirrors=") as refused:
        Repositories(config).inputs()
    assert "\n" not in str(refused.value)
    shards = tmp_path / "root/raw/repositories/shards"
    assert len(list(shards.glob("*.gz"))) == 2
    origin.write_text(text + f"o/gone\t{'0' * 40}\tMIT\tpython\n")
    assert len(Repositories(config).inputs()) == 3
    assert "o/gone" in (shards / LEFT_OUT).read_text()
    monkeypatch.setattr("data_prep.pipeline.extraction.fetched_commit", lambda *_: pytest.fail("tried again"))
    assert len(Repositories(config).inputs()) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"language": "cobol"}, "there is no language 'cobol'"),
        ({"mirrors": "/nothing/here"}, "--data.mirrors=/nothing/here is no folder"),
        ({"statements": True}, "no statement trees"),
        ({"cluster": "dask"}, "--data.cluster takes ray or ray://HOST:PORT"),
    ],
)
def test_wrong_options_are_refused(options, said, mirrors, tmp_path):
    with pytest.raises(ValueError, match=said):
        Repositories(config_of(mirrors, tmp_path, **options)).inputs()
    from data_prep.config import data_set

    with pytest.raises(ValueError, match="jdk has Java only"):
        data_set("jdk", DataConfig(language="go"))
