"""Questions that say what a function does, as its documentation would."""

import numpy as np
import pytest
from repositories import write

from data_prep.languages.identifiers import query_words
from search.engine.penalties import Penalties, says_what_is_done
from search.engine.question import RankingSettings
from search.index.build import refresh
from search.index.code_index import UNIT_KINDS
from search.index.index_file import open_index

JAVA = """
/** Anchor chains. */
class AnchorChain {
    AnchorChain(int anchor) { this.length = anchor; }
    int lengthOfAnchor(int chain) { return chain * length; }
}
"""


@pytest.mark.parametrize(
    ("asked", "is_said"),
    [
        ("returns the length of a chain", True),
        ("Return the length of a chain", True),
        ("gets an anchor", True),
        ("tests whether it floats", True),
        ("compares two files", False),  # what is behind the verb may be anything
        ("sessions stored in cookies", False),
        ("class that returns the length", False),
        ("how are sessions stored", False),
        ("access the database", False),  # no verb in the third person
        ("has a lock", False),
        ("process", False),
        ("gets a", False),
        ("", False),
    ],
)
def test_documentation_begins_with_a_verb_in_the_third_person(asked, is_said):
    assert says_what_is_done(query_words(asked)) == is_said


def test_types_and_constructors_lose_there(tmp_path):
    root = write(tmp_path / "code", {"AnchorChain.java": JAVA})
    refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None)
    index = open_index(tmp_path / "index")
    rows = np.arange(len(index))
    lost = {
        (asked, made): Penalties(index).of(rows, query_words(asked), RankingSettings(made=made), for_tests=False)
        for asked in ("returns the length of an anchor", "length of an anchor")
        for made in (0.0, 2.0)
    }
    more = lost["returns the length of an anchor", 2.0] - lost["returns the length of an anchor", 0.0]
    kinds = [UNIT_KINDS[kind] for kind in index.kinds.tolist()]
    assert more.tolist() == [2.0 * (kind in ("type", "constructor")) for kind in kinds]
    assert {"type", "constructor", "method"} <= {*kinds}
    assert (lost["length of an anchor", 2.0] == lost["length of an anchor", 0.0]).all()
