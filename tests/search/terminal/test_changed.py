"""Files that git calls changed."""

import pytest
from repositories import commit, run_git, write
from serving import index_of

from data_prep.errors import UserError
from search.files.tree import uncommitted_files
from search.index.index_file import open_index
from search.opening import index_place
from search.repository_list import joined, open_member, read_list

FILES = {name: f"def {name[0]}():\n    return 1\n" for name in ("a.py", "b.py", "sub/c.py")}


def indexed(root, tmp_path):
    return open_index(index_of(root, tmp_path / "index"))


def test_modified_added_and_untracked_files_are_changed(tmp_path):
    root = commit(tmp_path / "tree", FILES | {"crlf.py": b"def d():\r\n    return 1\r\n"})
    assert uncommitted_files(indexed(root, tmp_path), root) == frozenset()
    write(
        root,
        {"b.py": "def b():\n    return 2\n", "new.py": "def n():\n    pass\n", "staged.py": "def s():\n    pass\n"},
    )
    run_git(root, "add", "staged.py")
    (root / "a.py").touch()  # is no change
    assert uncommitted_files(indexed(root, tmp_path), root) == {"b.py", "new.py", "staged.py"}
    write(root, {"sub/c.py": "def c():\n    return 22\n"})
    old = open_index(tmp_path / "index")
    assert uncommitted_files(old, root) == {"b.py", "new.py", "staged.py", "sub/c.py"}  # as it is, not as it was read


def test_a_folder_inside_of_a_checkout_is_compared_by_its_own_paths(tmp_path):
    root = commit(tmp_path / "tree", FILES)
    write(root, {"sub/c.py": "def c():\n    return 3\n"})
    assert uncommitted_files(indexed(root / "sub", tmp_path), root / "sub") == {"c.py"}


def test_before_the_first_commit_everything_is_changed(tmp_path):
    root = write(tmp_path / "tree", FILES)
    run_git(root, "init", "-q")
    assert uncommitted_files(indexed(root, tmp_path), root) == {*FILES}


def test_where_git_cannot_be_asked_one_line_says_so(tmp_path):
    root = write(tmp_path / "tree", FILES)
    index = indexed(root, tmp_path)
    with pytest.raises(UserError, match="is in no git checkout"):
        uncommitted_files(index, root)
    with pytest.raises(UserError, match="needs the indexed folder"):
        uncommitted_files(index, None)
    write(root, {".git/HEAD": "0" * 40 + "\n", ".git/objects/x": "", ".git/refs/x": "", ".git/config": "[core]\n"})
    with pytest.raises(UserError, match="cannot read the commit"):
        uncommitted_files(index, root)


def test_several_repositories_are_each_compared_with_their_own_commit(tmp_path):
    for name in ("one", "two"):
        index_of(commit(tmp_path / name, FILES), index_place(tmp_path / name))
    write(tmp_path, {"two/b.py": "def b():\n    return 2\n", "list.tsv": "one\ntwo\tteam/two\n"})
    members = [open_member(each, lambda _: None, near=False) for each in read_list(tmp_path / "list.tsv")]
    assert uncommitted_files(joined(members).index, None) == {"team/two/b.py"}
