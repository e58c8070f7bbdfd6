"""Every "module:name" in the sources names something that is there: registries name what they do not import."""

import ast
import re
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
PACKAGES, LAYERS = SETTINGS["root_packages"], SETTINGS["contracts"][0]["layers"]
NAMED = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+:\w+")


def named_objects() -> dict[str, str]:
    """Every such string, and the file that has it."""
    found = {}
    for package in PACKAGES:
        for file in sorted((REPOSITORY / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_bytes())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMED.fullmatch(node.value):
                    found[node.value] = file.relative_to(REPOSITORY).as_posix()
    return found


NAMED_OBJECTS = named_objects()


def test_there_are_some():
    assert len(NAMED_OBJECTS) > 30


@pytest.mark.parametrize("name", NAMED_OBJECTS)
def test_it_is_there(name):
    resolve_name(name)  # an AttributeError or ModuleNotFoundError names what is missing


@pytest.mark.parametrize("name", NAMED_OBJECTS)
def test_it_is_of_the_same_room_or_one_below(name):
    layers = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0][
        "layers"
    ]
    level = {room.strip(): number for number, rooms in enumerate(layers) for room in rooms.split("|")}
    user, named = NAMED_OBJECTS[name].split("/")[0], name.split(".")[0]
    of_language = NAMED_OBJECTS[name].startswith("data_prep/languages/") and named == "search"  # who reads it, by name
    assert user == named or level[user] < level[named] or of_language, NAMED_OBJECTS[name]
