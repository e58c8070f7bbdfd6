"""Links lead to the lines of a commit, for files that are as it has them, and give away no password."""

import os
from pathlib import Path

import pytest
from repositories import commit, run_git, write

from search.links import Origin, link, origin_of, unchanged

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
    assert unchanged(empty, ["A.java"]) == set()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert origin_of(repository) is None
    assert unchanged(repository, ["A.java"]) == set()


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


def test_only_files_as_committed_are_unchanged(repository):
    commit(repository, {"D.java": "d\n", "E.java": "e\n", "F.java": "f\n", "old/G.java": "g\n" * 9, "ä b.java": "h\n"})
    commit(repository, {".gitignore": "Ignored.java"})
    write(repository, {"A.java": "changed\n", "D.java": "staged\n", "New.java": "new\n", "Ignored.java": "ignored\n"})
    run_git(repository, "add", "D.java")
    write(repository, {"E.java": "touched\n"})
    write(repository, {"E.java": "e\n"})  # as it was, at another time
    (repository / "F.java").unlink()
    (repository / "new").mkdir()
    run_git(repository, "mv", "old/G.java", "new/G.java")
    paths = ["A.java", "D.java", "E.java", "F.java", "New.java", "Ignored.java", "new/G.java", "old/G.java", "ä b.java"]
    assert unchanged(repository, [*paths, "src/B.java", "nowhere"]) == {"E.java", "ä b.java", "src/B.java"}
    assert unchanged(repository, []) == set()


def test_unchanged_files_of_a_folder_inside(repository):
    write(repository, {"A.java": "changed\n", "src/c/C.java": "changed\n"})
    assert unchanged(repository / "src", ["A.java", "B.java", "c/C.java", "src/B.java"]) == {"B.java"}


def test_a_folder_that_git_does_not_know_has_no_unchanged_files(tmp_path, repository):
    assert unchanged(write(repository / "build", FILES), list(FILES)) == set()
    assert unchanged(write(tmp_path / "plain", FILES), list(FILES)) == set()


def test_files_of_a_repository_inside_are_not_of_this_commit(tmp_path, repository):
    library = commit(tmp_path / "library", {"L.java": ""})
    run_git(repository, "submodule", "--quiet", "add", str(library), "library")
    commit(repository, {})
    assert unchanged(repository, ["library/L.java", "library", "A.java"]) == {"library", "A.java"}
