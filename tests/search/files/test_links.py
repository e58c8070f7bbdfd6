"""Links lead to the lines of a commit, for files that are as it has them, and give away no password."""

import os
from pathlib import Path

import pytest
from repositories import commit, run_git, write

from search.files.tree import checkout_of
from search.index.build import committed_blobs, refresh
from search.index.build import origin_of as origin_of_checkout
from search.index.code_index import Origin, link
from search.index.index_file import open_index

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {"A.java": "a\n", "src/B.java": "b\n", "src/c/C.java": "c\n"}


@pytest.fixture(autouse=True)
def own_settings(monkeypatch):
    """Git without the settings of whoever runs the tests."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture
def repository(tmp_path) -> Path:
    return commit(tmp_path / "repository", FILES)


def origin_of(folder: Path) -> Origin | None:
    told = lambda *_: None  # noqa: E731
    checkout = checkout_of(folder, told)
    return origin_of_checkout(checkout, told) if checkout else None


@pytest.fixture
def unchanged(tmp_path):
    """What finds the files of a folder that are as its commit has them."""

    def found(folder: Path) -> set[str]:
        index = tmp_path / "index"
        refresh(folder, index, processes=0, tell=lambda _, what: what.startswith("partly parsed") or pytest.fail(what))
        return {file.path for file in open_index(index).files if file.committed}

    return found


@pytest.fixture
def with_page(repository) -> Path:
    run_git(repository, "remote", "add", "origin", "https://github.com/owner/name")
    return repository


def head(repository: Path) -> str:
    return run_git(repository, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("git@github.com:owner/name.git", "https://github.com/owner/name"),
        ("github.com:owner/name", "https://github.com/owner/name"),
        ("ssh://git@github.com/owner/name.git", "https://github.com/owner/name"),
        ("ssh://git@gitlab.example.org:2222/group/sub/name.git", "https://gitlab.example.org/group/sub/name"),
        ("https://github.com/owner/name.git", "https://github.com/owner/name"),
        ("https://GitHub.com/Owner/Name.js/", "https://github.com/Owner/Name.js"),
        ("https://someone:s3cret@github.com/owner/name.git", "https://github.com/owner/name"),
        ("https://ghp_t0ken@git.example.org:8443/owner/name", "https://git.example.org:8443/owner/name"),
        ("git@bitbucket.org:owner/name.git", "https://bitbucket.org/owner/name"),
    ],
)
def test_the_page_of_a_remote(repository, remote, url):
    run_git(repository, "remote", "add", "origin", remote)
    assert origin_of(repository) == Origin(url, head(repository), "")


@pytest.mark.parametrize(
    "remote",
    [
        "http://github.com/owner/name",
        "git://github.com/owner/name.git",
        "file:///srv/owner/name.git",
        "/srv/owner/name.git",
        "../owner/name.git",
        "C:/owner/name",
        "work:owner/name.git",
        "ext::sh -c true",
        "https://user:pass@word@github.com/owner/name",
        "https://github.com/name",
        "https://github.com/owner/../name",
        "https://github.com/owner/na me",
        'https://github.com/owner/"><script>',
        "https://github.com/owner/name?token=s3cret",
        "ssh://git@bitbucket.example.org:7999/owner/name.git",
    ],
)
def test_a_remote_without_a_known_page_is_none(repository, remote):
    run_git(repository, "remote", "add", "origin", remote)
    assert origin_of(repository) is None


def test_of_several_remotes_origin_counts_else_the_first(repository):
    run_git(repository, "remote", "add", "mirror", "https://example.org/b/b")
    run_git(repository, "remote", "add", "zeta", "https://example.org/z/z")
    assert origin_of(repository).url == "https://example.org/b/b"
    run_git(repository, "remote", "add", "origin", "https://example.org/o/o")
    assert origin_of(repository).url == "https://example.org/o/o"


def test_a_folder_inside_has_a_prefix(repository):
    run_git(repository, "remote", "add", "origin", "https://github.com/owner/name")
    origin = origin_of(repository / "src/c")
    assert origin == Origin("https://github.com/owner/name", head(repository), "src/c/")
    assert link(origin, "C.java", 1, 1).endswith(f"/blob/{head(repository)}/src/c/C.java#L1-L1")


def test_without_repository_remote_commit_or_git_there_is_none(tmp_path, repository, monkeypatch):
    assert origin_of(write(tmp_path / "plain", FILES)) is None
    assert origin_of(repository) is None
    run_git(repository, "remote", "add", "origin", "https://github.com/owner/name")
    assert origin_of(repository) is not None
    empty = tmp_path / "empty"
    empty.mkdir()
    run_git(empty, "init", "-q")
    run_git(empty, "remote", "add", "origin", "https://github.com/owner/name")
    assert origin_of(empty) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert origin_of(repository) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/o/n", f"https://github.com/o/n/blob/{COMMIT}/src/A.java#L3-L9"),
        ("https://git.example.org:8443/o/n", f"https://git.example.org:8443/o/n/blob/{COMMIT}/src/A.java#L3-L9"),
        ("https://gitlab.com/g/s/n", f"https://gitlab.com/g/s/n/-/blob/{COMMIT}/src/A.java#L3-9"),
        ("https://gitlab.example.org/o/n", f"https://gitlab.example.org/o/n/-/blob/{COMMIT}/src/A.java#L3-9"),
        ("https://github.com/gitlab/n", f"https://github.com/gitlab/n/blob/{COMMIT}/src/A.java#L3-L9"),
        ("https://bitbucket.org/o/n", f"https://bitbucket.org/o/n/src/{COMMIT}/src/A.java#lines-3:9"),
    ],
)
def test_each_host_has_its_form_of_link(url, expected):
    assert link(Origin(url, COMMIT, ""), "src/A.java", 3, 9) == expected
    assert link(Origin(url, COMMIT, "src/"), "A.java", 3, 9) == expected


def test_a_path_is_encoded():
    origin = Origin("https://github.com/o/n", COMMIT, "a b/")
    assert link(origin, 'c#d/é%?"<.java', 1, 2) == (
        f"https://github.com/o/n/blob/{COMMIT}/a%20b/c%23d/%C3%A9%25%3F%22%3C.java#L1-L2"
    )


def test_only_files_as_committed_are_unchanged(with_page, unchanged):
    committed = {"D.java": "d\n", "E.java": "e\n", "F.java": "f\n", "old/G.java": "g\n" * 9, "ä b.java": "h\n"}
    commit(with_page, {**committed, "Dos.java": "one\r\ntwo\r\n", "Unix.java": "one\ntwo\n"})
    commit(with_page, {".gitignore": "Ignored.java"})
    write(with_page, {"A.java": "changed\n", "D.java": "staged\n", "New.java": "new\n", "Ignored.java": "ignored\n"})
    run_git(with_page, "add", "D.java")
    write(with_page, {"E.java": "touched\n"})
    write(with_page, {"E.java": "e\n"})  # as it was, at another time
    write(with_page, {"Unix.java": "one\r\ntwo\r\n"})  # as core.autocrlf checks it out
    (with_page / "F.java").unlink()
    (with_page / "new").mkdir()
    run_git(with_page, "mv", "old/G.java", "new/G.java")
    same = {"Dos.java", "E.java", "Unix.java", "src/B.java", "src/c/C.java", "ä b.java"}
    assert unchanged(with_page) == same
    commit(with_page, {})
    assert unchanged(with_page) == {*same, "A.java", "D.java", "New.java", "new/G.java"}


def test_unchanged_files_of_a_folder_inside(with_page, unchanged):
    write(with_page, {"A.java": "changed\n", "src/c/C.java": "changed\n"})
    assert unchanged(with_page / "src") == {"B.java"}


def test_a_folder_that_git_does_not_know_has_no_unchanged_files(with_page, unchanged):
    assert unchanged(write(with_page / "build", FILES)) == set()


def test_files_of_a_repository_inside_are_not_of_this_commit(tmp_path, with_page):
    library = commit(tmp_path / "library", {"L.java": ""})
    run_git(with_page, "submodule", "--quiet", "add", str(library), "library")
    commit(with_page, {})
    checkout = checkout_of(with_page, lambda *_: None)
    assert sorted(committed_blobs(checkout, head(with_page), lambda *_: None)) == [".gitmodules", *FILES]


def test_linked_worktrees_and_sha256_have_links_too(tmp_path, with_page, unchanged):
    run_git(with_page, "worktree", "add", "-q", "-b", "other", str(tmp_path / "worktree"))
    commit(tmp_path / "worktree", {"W.java": "w\n"})
    assert origin_of(tmp_path / "worktree").commit == head(tmp_path / "worktree") != head(with_page)
    assert unchanged(tmp_path / "worktree") == {*FILES, "W.java"}
    other = tmp_path / "sha256"
    other.mkdir()
    run_git(other, "init", "-q", "--object-format=sha256")
    run_git(other, "remote", "add", "origin", "https://github.com/owner/name")
    commit(other, FILES)
    assert len(origin_of(other).commit) == 64
    assert unchanged(other) == {*FILES}


def test_packed_refs_detached_heads_and_packed_objects_are_read(with_page, unchanged):
    commit(with_page, {"D.java": "d\n"})
    first, last = head(with_page), run_git(with_page, "rev-parse", "HEAD~1").strip()
    run_git(with_page, "pack-refs", "--all")
    run_git(with_page, "gc", "-q")
    assert origin_of(with_page).commit == first
    run_git(with_page, "checkout", "-q", last)
    assert origin_of(with_page).commit == last
    assert unchanged(with_page) == {*FILES}
