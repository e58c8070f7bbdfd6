"""The measurements of an index and of one question, on a few files."""

import pytest

from data_prep.records import SourceFile
from evaluation.speed import SpeedOptions
from search.quality import index_speed


@pytest.fixture
def few(tree, monkeypatch):
    """The JDK's java.base in a few files."""
    places = sorted(tree.rglob("*.java"))
    files = [SourceFile("few", f"java.base/java/{path.name}", path.read_bytes()) for path in places]

    class Few:
        def __init__(self, _):
            self.java_files = lambda: [*files, SourceFile("few", "java.desktop/A.java", b"class A { }")]
            self.origin = lambda: "few"

    monkeypatch.setattr(index_speed, "Jdk", Few)
    return len(files)


def test_an_index_is_made_updated_and_asked(few):
    found = index_speed.measure_index(SpeedOptions(rounds=1, questions=20))
    assert f" of {few} files of java.base" in found.about
    pairs = [(row.name, row.second) for row in found.rows]
    assert ("index, both", "nothing changed") in pairs
    assert ("index, vectors", "one file changed") in pairs
    assert ("a question, 95 %", "with model and vectors") in pairs
    assert found.facts["vectors"]["bytes a row"] > 512


@pytest.mark.usefixtures("few")
def test_a_question_is_asked_by_each_command(monkeypatch):
    commands = []
    monkeypatch.setattr(index_speed, "run", lambda command, *_: (commands.append(command), {"clock": 1.0})[1])
    monkeypatch.setattr(index_speed, "ROWS", 3)
    found = index_speed.measure_question(SpeedOptions(rounds=1))
    assert [row.second for row in found.rows] == [
        "the same without run.sh", "run.sh search --model=none", "python with numpy alone",
    ]  # fmt: skip
    assert commands[0][3] == "index"
    assert len(commands) == 1 + 2 * 4


def test_a_command_is_timed(tmp_path):
    seconds = index_speed.run(["python3", "-c", "sum(range(10**6))"], tmp_path, {"PATH": "/usr/bin:/bin"})
    assert seconds["clock"] > 0
    assert seconds["processor"] > 0
