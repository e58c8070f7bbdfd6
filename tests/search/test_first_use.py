"""The first question indexes by itself, and only the tree that it is about."""

import json
import os
import subprocess
import sys

import pytest
from repositories import commit, run_git, write
from serving import indexed

from cli.main import main
from search.engine.engine import Engine
from search.index.freshness import CURRENT, looked_at
from search.index.index_file import open_index
from search.opening import index_place, indexed_above, tree_top

FILES = {"store.py": "def open_the_door():\n    pass\n", "sub/other.py": "def close_the_window():\n    pass\n"}
ASKED = ("--model=none", "--json")


@pytest.fixture
def asked(capsys):
    def ask_it(*words: str) -> tuple[int, list[str], str]:
        capsys.readouterr()
        code = main(["search", *words, *ASKED])
        told = capsys.readouterr()
        results = json.loads(told.out)["results"] if code in (0, 1) else []
        return code, [each["name"] for each in results if not each["whole_file"]], told.err

    return ask_it


def test_a_named_folder_is_indexed_by_the_first_question(tmp_path, asked):
    root = write(tmp_path / "code", FILES)
    code, names, said = asked("open the door", str(root))
    assert (code, names[0]) == (0, "open_the_door")
    assert said.startswith(f"indexed {root}: 4 functions, types and files of 2 files")
    assert said.count("\n") == 1
    assert asked("open the door", str(root))[2] == ""


@pytest.mark.parametrize(
    "question", ["paint_the_fence", "--usages=paint_the_fence", "--path=late/* paint", "paint the"]
)
def test_nothing_is_not_found_before_what_has_changed_is_read(tmp_path, asked, monkeypatch, question):
    root = write(tmp_path / "code", FILES)
    asked("open the door", str(root))
    monkeypatch.setattr("search.index.updating.BUDGET", 0.01)
    write(root, {f"late/{number}.py": f"def paint_the_fence{number or ''}():\n    pass\n" for number in range(40)})
    calls, answers = [], Engine.search
    monkeypatch.setattr(Engine, "search", lambda *given, **options: calls.append(1) or answers(*given, **options))
    code = main(["search", *question.split(" ", question.startswith("--path")), str(root), "--model=none"])
    assert code == 0
    if "usages" not in question:
        assert len(calls) == 1 + ("path" not in question)
    assert looked_at(index_place(root), root)[1] == CURRENT


def test_a_command_reads_on_behind_its_answer(tmp_path, asked, monkeypatch):
    root = write(tmp_path / "code", FILES)
    asked("open the door", str(root))
    write(root, {f"late/{number}.py": f"def paint_the_fence{number}():\n    pass\n" for number in range(40)})
    monkeypatch.setattr("search.index.updating.BUDGET", 0.01)
    monkeypatch.setattr("experiments.terminal.console.PATIENCE", 0.0)
    code, names, said = asked("open the door", str(root))
    assert (code, names[0]) == (0, "open_the_door")
    assert "may be old" in said
    assert said.endswith("answered; reading the changed files for the next question (Ctrl-C: do not wait)\n")
    assert looked_at(index_place(root), root)[1] == CURRENT


def test_a_repository_that_appears_later_is_said_to_be_left_out(tmp_path, asked, monkeypatch):
    root = commit(tmp_path / "code", FILES)
    monkeypatch.setattr("search.index.updating.BUDGET", 60.0)
    asked("open the door", str(root))
    commit(root / "inside", {"gate.py": "def ventilate_hangar():\n    pass\n"})
    asked("ventilate_hangar", str(root))
    assert open_index(index_place(root)).repositories == {"inside": False}


def test_inside_of_a_checkout_the_whole_of_it_is_indexed(tmp_path, asked, monkeypatch):
    root = commit(tmp_path / "code", FILES)
    monkeypatch.chdir(root / "sub")
    assert tree_top(root / "sub") == root
    assert asked("open the door")[1][0] == "open_the_door"
    assert indexed_above(root / "sub") == (root, index_place(root))


@pytest.mark.parametrize("kind", ["worktree", "submodule", "nested"])
def test_an_index_answers_only_for_its_own_tree(tmp_path, asked, monkeypatch, kind):
    root = commit(tmp_path / "code", FILES)
    if kind == "worktree":
        run_git(root, "worktree", "add", "-q", "wt")
    elif kind == "submodule":
        other = commit(tmp_path / "other", FILES)
        run_git(root, "submodule", "--quiet", "add", str(other), "wt")
    else:
        commit(root / "wt", FILES)
    assert asked("open the door", str(root))[1][0] == "open_the_door"
    write(root / "wt", {"store.py": "def open_the_gate():\n    pass\n"})
    monkeypatch.chdir(root / "wt/sub")
    _, names, said = asked("open the gate")
    assert names[0] == "open_the_gate"
    assert "open_the_door" not in names
    assert f"indexed {root / 'wt'}:" in said


@pytest.mark.parametrize("kind", ["submodule", "nested"])
def test_an_answer_that_finds_little_says_which_repositories_were_not_looked_into(tmp_path, asked, monkeypatch, kind):
    root = commit(tmp_path / "code", FILES)
    if kind == "submodule":
        other = commit(tmp_path / "other", {"gate.py": "def ventilate_hangar():\n    pass\n"})
        run_git(root, "submodule", "--quiet", "add", str(other), "inside")
        line = "not looked into: 1 submodule (inside): bash run.sh index DIR --submodules=true includes it"
    else:
        commit(root / "inside", {"gate.py": "def ventilate_hangar():\n    pass\n"})
        line = "not looked into: 1 git repository of its own (inside): bash run.sh search QUESTION THAT-FOLDER asks it"
    monkeypatch.chdir(root)
    code, _, _ = asked("ventilate_hangar")
    assert code == 1
    index = open_index(index_place(root))
    engine = Engine(index, None)
    assert engine.certainty("ventilate_hangar", []).line.endswith(line)
    assert line not in engine.certainty("open_the_door", engine.search("open_the_door")).line
    if kind == "submodule":
        assert main(["index", str(root), "--submodules=true", "--vectors=none"]) == 0
        _, names, _ = asked("ventilate_hangar")
        assert names[0] == "ventilate_hangar"
        assert line not in Engine(open_index(index_place(root)), None).certainty("zyx_wvu", []).line


@pytest.mark.parametrize("where", ["home", "/"])
def test_a_home_folder_is_not_indexed_unless_it_is_named(tmp_path, asked, monkeypatch, where):
    home = write(tmp_path / "home", FILES)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home if where == "home" else "/")
    code, _, said = asked("open the door")
    assert code == 2
    assert "indexed only if it is named" in said
    assert said.count("\n") == 1
    assert not index_place(home).exists()
    if where == "home":
        assert asked("open the door", ".")[0] == 0


@pytest.mark.parametrize(
    ("words", "understood"),
    [
        (["open", "the", "door"], "asked 'open the door'"),
        (["open", "the", "door", "sub"], "asked 'open the door' in"),
        (["open the door", "."], ""),
        (["sub", "close the window"], "asked 'close the window' in sub"),
        (["sub", "window"], "asked 'sub window'; to ask that folder: bash run.sh search \"window\" sub"),
    ],
)
def test_several_words_are_a_question(tmp_path, asked, monkeypatch, words, understood):
    monkeypatch.chdir(root := write(tmp_path / "code", FILES))
    for each in (root, root / "sub"):
        indexed(each)
    code, _, said = asked(*words)
    assert code in (0, 1)
    assert said.startswith(understood)
    assert said.count("\n") == bool(understood)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["open the door", "nowhere"], "there is no folder nowhere"),
        (["door", "./nowhere"], "there is no folder ./nowhere"),
        (["door", "/nowhere"], "there is no folder /nowhere"),
        (["open", "the", "door", "/nowhere/at/all"], "there is no folder /nowhere/at/all"),
        (["door", "/nowhere/v2"], "there is no folder /nowhere/v2"),
        (["open", "the", "door", "store.py/"], "there is no folder store.py/"),
        (["door", "--folder=sub"], 'the folder comes last, bash run.sh search "QUESTION" sub'),
        (["door", "--dir", "sub"], "the folder comes last"),
        (["door", "--regex="], "--regex= is empty"),
        (["door", "--index=sub"], "--index names the file of an index"),
        (["door", "sub", "--index=x"], "leave out"),
    ],
)
def test_what_is_no_folder_or_no_option_is_one_clear_line(tmp_path, asked, monkeypatch, words, said):
    monkeypatch.chdir(write(tmp_path / "code", FILES))
    code, _, told = asked(*words)
    assert code == 2
    assert said in told
    assert told.splitlines()[-1].startswith("galm: ")


def test_commands_that_messages_name_can_be_pasted(tmp_path, asked, monkeypatch):
    root = write(tmp_path / "my code", {**FILES, "my sub/gate one.py": "def lock_the_gate():\n    pass\n"})
    write(root, {"old.py": b"def kept():\n    pass\n" + b"x = 1\n" * 600_000})  # too large to be read whole
    assert f"see bash run.sh index '{root}'\n" in asked("open the door", str(root))[2]
    monkeypatch.chdir(root)
    told = asked("lock", "gate", "my sub/gate one.py")[2]
    assert "bash run.sh search \"QUESTION\" 'my sub' --path='gate one.py'\n" in told
    assert "bash run.sh search \"QUESTION\" 'my sub'\n" in asked("lock", "--folder=my sub")[2]
    assert "bash run.sh search QUESTION 'my sub'\n" in asked("lock", "--index=my sub")[2].replace(f"'{root}/", "'")


ROUTE = "@app.get('/gates/open')\ndef gates():\n    return open_the_door()\n"


@pytest.mark.parametrize(
    "words",
    [
        ["GET", "/users/1"],
        ["delete", "/users/1"],
        ["route", "for", "/users/list"],
        ["/users/list"],
        ["open", "/users/{id}"],
        ["open", "/users/:id"],
        ["door", "/gates/open"],
        ["door", "/and/or"],
    ],
)
def test_a_route_is_no_folder(tmp_path, asked, monkeypatch, words):
    root = write(tmp_path / "code", {**FILES, "web.py": ROUTE, "either.py": "def either():\n    return 'and or'\n"})
    indexed(root)
    monkeypatch.chdir(root)
    code, _, said = asked(*words)
    assert code in (0, 1)
    assert "no folder" not in said


def test_a_folder_that_may_not_be_looked_into(tmp_path, asked, monkeypatch):
    root = write(tmp_path / "code", FILES)
    monkeypatch.chdir(root)
    monkeypatch.setattr("search.cli.os.access", lambda path, _: os.path.basename(path) != "sub")  # noqa: PTH119
    for folder in ("sub/in", "sub/in/side", f"{root}/sub/in", "./sub/in"):
        code, _, said = asked("door", folder)
        assert code == 2
        assert f"no permission to look into {folder.partition('sub')[0]}sub" in said
    assert asked("door", "other/in")[0] in (0, 1)


def test_a_first_index_that_is_interrupted_leaves_nothing_half_written(tmp_path, monkeypatch):
    root = write(tmp_path / "code", FILES)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("search.index.build.save_index", interrupted)
        assert main(["search", "open the door", str(root)]) == 130
    assert not index_place(root).parent.exists()
    with monkeypatch.context() as patched:
        patched.setattr("search.index.vector_encoding.update_vectors", interrupted)
        assert main(["search", "open the door", str(root)]) == 130
    assert main(["search", "open the door", str(root)]) == 0
    assert index_place(root).with_name("index.vectors").exists()


def test_without_vectors_an_index_stays_without(tmp_path, monkeypatch):
    monkeypatch.setattr("search.index.updating.BUDGET", 60.0)
    root = write(tmp_path / "code", FILES)
    indexed(root)
    assert main(["search", "open the door", str(root)]) == 0
    write(root, {"new.py": "def lock_the_box():\n    pass\n"})
    assert main(["search", "lock the box", str(root)]) == 0
    assert not index_place(root).with_name("index.vectors").exists()


def serving(root, **more):
    command = [sys.executable, "-m", "cli.main", "serve", str(root), "--port=0", "--model=none"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def test_a_server_indexes_the_folder_that_it_is_given(tmp_path):
    root = write(tmp_path / "code", FILES)
    with serving(root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"indexing {root}: until then, what is read so far answers\n"
        assert "search them at" in process.stdout.readline()
        assert process.stderr is not None
        assert process.stderr.readline().startswith(f"indexed {root}: ")
        process.terminate()
    with serving(root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"4 functions, types and files of 2 files in {index_place(root)}\n"
        process.terminate()


def test_a_server_of_a_folder_without_a_source_file_names_no_address(tmp_path):
    root = write(tmp_path / "code", {"picture.xyz": ""})
    with serving(root) as process:
        out, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "search them at" not in out
    assert said.startswith(f"galm: {root} has no source file")
    assert said.count("\n") == 1


def test_words_without_quotes_before_a_file_are_asked_and_it_is_said_how_to_ask_the_file_alone(
    tmp_path, asked, monkeypatch
):
    monkeypatch.chdir(write(tmp_path / "code", FILES))
    code, names, said = asked("open", "door", "store.py")
    assert (code, names[0]) == (0, "open_the_door")
    alone = 'bash run.sh search "QUESTION" . --path=store.py'
    assert f"asked 'open door store.py'; to ask that file alone: {alone}\n" in said
    code, _, said = asked("open a door", "store.py")
    assert code == 2
    assert said == f"galm: store.py is a file: {alone} asks it alone\n"
    assert asked("close", "window", "--path=sub/other.py")[1] == ["close_the_window"]
