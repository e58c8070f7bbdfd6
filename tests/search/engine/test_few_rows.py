"""Of an index of few rows: what has all words of a question is before what has none, whatever the models say."""

import numpy as np
import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.engine.penalties import words_first
from search.index.index_file import open_index
from search.models.packed import reranker_maker
from search.retrieval.word_index import Bm25Index

FILES = {
    "fr/pay.py": (
        'def refund_payment(order):\n    """Give the money of an order back."""\n'
        "    return gateway.refund(order.charge_id)\n\n\n"
        'def charge_card(card, amount):\n    """Charge a card."""\n    return gateway.charge(card, amount)\n'
    ),
    "fr/other.py": 'def load_settings(path):\n    """Read the settings of a file."""\n    return parse(path)\n',
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("few")
    index = open_index(index_of(write(root / "code", FILES), root / "index"))
    return Engine(index, reranker_maker("", for_many=False)(index))


def test_what_has_all_words_is_before_what_has_none(engine):
    hits = engine.search("give money back")
    assert hits[0].neural is not None
    assert engine.index.names[hits[0].row] == "refund_payment"


def test_no_other_order_is_changed(engine):
    lexical, rows = engine.index.lexical, np.arange(len(engine.index))
    scores = np.arange(len(rows), dtype=float)
    assert words_first(scores, rows, ["zebra"], lexical).tolist() == scores.tolist()
    assert words_first(scores, rows, ["settings", "refund"], lexical).tolist() == scores.tolist()
    many = Bm25Index(["give"], np.array([0, 1]), np.array([0], dtype=np.int32), np.ones(1, np.float32), 100)
    assert words_first(np.arange(5.0), np.arange(5), ["give"], many).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    few = Bm25Index(["give"], np.array([0, 1]), np.array([0], dtype=np.int32), np.ones(1, np.float32), 5)
    assert words_first(np.arange(5.0), np.arange(5), ["give"], few).max() == 0.0
