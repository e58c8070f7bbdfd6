"""What a line says of an error of the system: few words, not its number and its file once more."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.main import main

ROOT = Path(__file__).parents[2]
ROOMS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
OF_THE_SYSTEM = {"OSError", "ABSENT", "FileNotFoundError", "NotADirectoryError", "PermissionError"}


def as_they_are(source: str) -> Iterator[int]:
    """Lines of raised UserErrors that have an error, which may be of the system, as Python prints it."""
    for handler in ast.walk(ast.parse(source)):
        if isinstance(handler, ast.ExceptHandler) and handler.type and handler.name:
            caught = {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)}
            raised = (each for each in ast.walk(handler) if isinstance(each, ast.Raise) and caught & OF_THE_SYSTEM)
            for each in (part for statement in raised for part in ast.walk(statement)):
                named = each.value if isinstance(each, ast.FormattedValue) else None
                if isinstance(named, ast.Name) and named.id == handler.name:
                    yield each.lineno


def test_a_small_source_shows_both() -> None:
    source = "try:\n    a()\nexcept (OSError, ValueError) as error:\n    raise UserError(f'no: {error}') from error\n"
    assert [*as_they_are(source)] == [4]
    assert not [*as_they_are(source.replace("{error}", "{reason(error)}"))]
    assert not [*as_they_are(source.replace("OSError, ", ""))]


def test_no_line_has_the_number_of_an_error() -> None:
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    assert len(paths) > 300
    assert [f"{path}:{line}" for path in paths for line in as_they_are(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["evaluate", "none"], "expected the configuration of a run in {here}/none/config.json, but it cannot be read: "
         "No such file or directory"),
        (["evaluate", "file.jsonl"], "file.jsonl/config.json, but it cannot be read: Not a directory"),
        (["posts", "search", "--snippet=file.jsonl", "--index=none"], "none/index.json): make it with bash run.sh"),
    ],
)  # fmt: skip
def test_such_a_line_ends_with_what_the_system_says(line, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.jsonl").write_text('{"query": "read the file"}\n')
    assert main(line) == 2
    error = capsys.readouterr().err
    assert message.format(here=tmp_path) in error
    assert "Errno" not in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["first", "second", "third"]])
@pytest.mark.parametrize(
    "command",
    [
        ["jdk", "galm"], ["prepare"], ["export"], ["evaluate"], ["corpus"], ["benchmark"], ["ablate"], ["tune"],
        ["speed"], ["context", "turns"], ["context", "annotate"], ["context", "study"], ["posts", "from_tracker"],
        ["gencodesearchnet", "fine_tune"], ["gencodesearchnet", "sample_pairs"], ["index"], ["quality"],
    ],
)  # fmt: skip
def test_words_too_few_or_too_many_are_shown(command, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = words or ([] if command[0] != "jdk" else ["x"])
    assert main([*command, *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("galm: expected ")
    came = [*command, *words] if command[0] == "jdk" else words
    assert error.endswith(f"; got {' '.join(came) or 'nothing'}\n")
