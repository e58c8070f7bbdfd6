"""A language is one record: a made-up one, with Python's grammar, is known everywhere by a line in the registry."""

import os
import subprocess
import sys
from pathlib import Path

RECORD = """
from dataclasses import replace
from data_prep.languages.language import words
from data_prep.languages.python import LANGUAGE as PYTHON

LANGUAGE = replace(
    PYTHON, name="made", title="Made", editor_names=("made",), suffixes=(".made",), line_comment="--", docstrings=False,
    typical=r"^make ", doubt=0.1, body_mark="", calls={"call": ""}, members={"call": ("arguments", "function")},
    gathering_files=words("all.made"), test_files="_check", colours={"identifier": "keyword"},
)
"""
PROGRAM = """
from data_prep.languages import registry
registry.LANGUAGES["made"] = "made:LANGUAGE"
from data_prep.records import SourceFile
from search.cursor import query_of
from search.engine import file_places
from search.engine.preview import signature
from search.files.languages import chosen_languages, read_file
from search.files.tree import is_test
from search.serve.hit_records import highlighted
from search.serve.web_app import _LANGUAGES
from search.snippets.code_text import language_of, parsed_code
from search.snippets.code_text import Tokens

method = read_file(SourceFile("", "a.made", b"def find(a):\\n    return load(a)\\n")).units[1].pair.method
assert (method.name, method.fields["api"]) == ("find", ("load",)), method
assert signature("def find(a)\\n  : b\\n", "a.made") == "def find(a)"
assert query_of("-- search: all lines", "made") == "all lines"
assert chosen_languages("made") == {"made"}
assert (is_test("a_check.made"), is_test("a_check.py")) == (True, False)
assert "all.made" in file_places.GATHERING
assert highlighted("find", "a.made") == [(0, 4, "keyword")]
assert '"made": "Made"' in _LANGUAGES
assert (language_of("make = 1"), language_of("x = 1")) == ("made", "python")
assert parsed_code("find(1)", "made").api == ("find",)
assert Tokens.of("a -- b", "made").all == ["a"]
"""


def test_a_language_is_known_everywhere_by_its_record(tmp_path):
    (tmp_path / "made.py").write_text(RECORD)
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(tmp_path), *sys.path[1:]])}
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
