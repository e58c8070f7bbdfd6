"""What an answer says of itself: strong, weak or none, and what is missing."""

import json
import random
import re

import pytest

from cli.main import main
from neural_code_search.folder_index import index_folder
from search.engine.certainty import Certainty
from search.engine.engine import Engine
from search.engine.evidence import stand_together
from search.index.build import refresh
from search.index.index_file import open_index
from search.models.packed import reranker_maker
from search.opening import opened
from search.serve.agent_tools import AgentTools
from search.serve.fresh_index import FreshIndex

FILES = {
    "pool/queue_pool.py": '''
class QueuePool:
    """A pool that limits the number of open connections."""

    def checkout(self, timeout):
        """Take a connection out of the pool, and wait while there is none."""
        return self.queue.get(timeout=timeout, pool_recycle=self.pool_recycle)

    def recycle_stale(self):
        """Close connections that are older than the recycle time."""
        for connection in self.queue:
            connection.close()
''',
    "shop/orders.py": '''
def cancel_order(order_id):
    """Cancel an order that was not yet shipped."""
    order = load(order_id)
    order.state = "cancelled"


def total_of_cart(cart):
    """Sum the prices of all items of a cart."""
    return sum(item.price * item.count for item in cart)
''',
    "tests/test_orders.py": "def test_cancelled_order_is_kept():\n    assert cancel_order(1)\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("certainty")
    for path, content in FILES.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    return root


@pytest.fixture(scope="module", params=["words", "model"])
def engine(folder, tmp_path_factory, request):
    if request.param == "words":
        path = tmp_path_factory.mktemp("index") / "index"
        refresh(folder, path, processes=0, tell=lambda *_: None)
        return Engine(open_index(path), None)
    index, retriever = opened(index_folder(folder).path, "")
    return Engine(index, reranker_maker("")(index), retriever=retriever)


def said(engine, query, **asked):
    return engine.certainty(query, engine.search(query, **asked))


@pytest.mark.parametrize(
    "query",
    [
        "cancel an order",
        "how are stale connections recycled",
        "limit the number of open connections",
        "sum prices of the cart",
        "tests of a cancelled order",
        "QueuePool",
        "queuepool",
        "QueuePool.checkout",
        "queue_pool.py",
        "pool/queue_pool.py",
        "pool_recycle",
        "checkout",
        "cart",
        "test_orders",  # a file that is not shown beside its only function
    ],
)
def test_what_is_there_is_a_strong_match(engine, query):
    assert said(engine, query).level == "strong"
    assert said(engine, query, top=1).level == "strong"


@pytest.mark.parametrize(
    "query", ["asdfqwerzxcv", "blorp frindle", "how does the blorp frindle", "closeDrawer", "bulk_insert_mappings"]
)
def test_what_is_not_there_is_not_found(engine, query):
    assert said(engine, query).level == "none"


GRAPH = """class Graph {
  // 计算两点之间的最短路径
  int dijkstra(int a, int b) { return a; }

  // Falls back to the slow walk when the wombat is unreachable.
  @Path("/bandicoot/burrow")
  int other() { return 1; }
}
"""


@pytest.mark.parametrize(
    ("query", "level", "absent"),
    [
        ("最短路径", "strong", []),
        ("两点之间的路径", "strong", []),  # 的路 is no word
        ("两点之间的天气预报", "strong", ["的天气预报"]),
        ("天气预报", "none", ["天气预报"]),
        ("slow walk of an unreachable wombat", "strong", []),
        ("bandicoot burrow", "strong", []),
    ],
)
def test_a_comment_or_annotation_above_counts(tmp_path, query, level, absent):
    (tmp_path / "Graph.java").write_text(GRAPH, encoding="utf-8")
    refresh(tmp_path, tmp_path / "index", processes=0, tell=lambda *_: None)
    found = said(Engine(open_index(tmp_path / "index"), None), query)
    assert found.level == level
    assert [*found.absent] == absent


@pytest.mark.parametrize("query", ["bake sourdough bread with a wild starter", "where is kubernetes pod preemption"])
def test_foreign_topics_are_no_strong_match(engine, query):
    assert said(engine, query).level != "strong"


@pytest.mark.parametrize("query", ["asdfqwerzxcv", "how does the blorp frindle"])
def test_words_that_nobody_knows_find_nothing(engine, query):
    assert engine.search(query) == []


def test_neighbours_stand_together_with_an_ending_and_what_separates_words_between():
    draw = random.Random(0)
    for _ in range(3000):
        one, other = ("".join(draw.choices("ab_", k=draw.randint(1, 3))) for _ in range(2))
        text = "".join(draw.choices("aab_. ", k=draw.randint(0, 24)))
        expected = re.search(rf"{re.escape(one)}[^\W_]{{0,4}}[\W_]{{0,2}}{re.escape(other)}", text) is not None
        assert stand_together(one, other, text) == expected, (one, other, text)
    assert stand_together("連接", "接池", "連接池")


def test_words_that_no_file_has_do_not_change_the_order(engine):
    plain = [hit.row for hit in engine.search("cancel order")]
    assert [hit.row for hit in engine.search("cancel asdfqwerzxcv order")] == plain


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("QeuePool", "QueuePool"),
        ("QueuePol", "QueuePool"),
        ("cancel_ordr", "cancel_order"),
        ("QueuePool.checkuot", "checkout"),
        ("queue_poll.py", "pool/queue_pool.py"),
    ],
)
def test_a_misspelt_name_is_said_not_to_exist_beside_the_nearest(engine, query, name):
    found = said(engine, query)
    assert found.level == "weak"
    assert found.nearest[0] == name
    assert f"nothing is called {query}; nearest: {name}" in found.line


def test_a_name_that_is_like_no_other_has_no_nearest(engine):
    found = said(engine, "closeDrawer")
    assert not found.nearest
    assert found.line == "nothing found: nothing is called closeDrawer"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("how does cancelOrderPool close connections", "cancelOrderPool"),
        ("where is total_of_connections", "total_of_connections"),
        ("Close orderState connections", "orderState"),
        ("how does cancelPoolTimeout work", "cancelPoolTimeout"),
    ],
)
def test_a_question_about_a_name_that_nothing_has_is_weak_and_says_so(engine, query, name):
    sure = engine.certainty(query, engine.search(query))
    assert sure.level == "weak"
    assert f"nothing is called {name}" in sure.line


@pytest.mark.parametrize("query", ["how does cancel_order cancel an order", "Cancel an order that was not yetShipped:"])
def test_a_question_about_what_is_there_and_a_message_with_a_value_stay_strong(engine, query):
    assert engine.certainty(query, engine.search(query)).level == "strong"


def test_a_misspelt_word_is_named_as_typed(engine):
    found = said(engine, "Canecl an order")
    assert (found.absent, found.nearest[0]) == (["Canecl"], "cancel")
    assert "no file has Canecl; nearest: cancel" in found.line


def test_a_sure_answer_says_without_which_words_it_is():
    assert Certainty("strong").line == "strong match"
    found = Certainty("strong", ["radix", "trie"], ["tree"])
    assert found.line == "strong match without radix, trie, which no file has; nearest: tree"
    assert (found.record["level"], found.record["absent"], found.record["nearest"]) == (
        "strong",
        ["radix", "trie"],
        ["tree"],
    )
    assert Certainty("weak", ["radix"]).line == "weak match: no file has radix"


@pytest.mark.parametrize("query", ["conection pool", "cart prces"])
def test_a_question_with_a_misspelt_word_is_weak_at_least(engine, query):
    found = said(engine, query)
    assert found.level != "none"
    assert len(found.nearest) == len({name.lower() for name in found.nearest}) > 0


@pytest.mark.parametrize(
    "query", ["bake sourdough conections", "kubernetesPool", "a zebra with stripes and prces", "brake the sourdough"]
)
def test_a_word_that_may_be_misspelt_excuses_no_other_that_is_not_there(engine, query):
    assert said(engine, query).level == "none"


@pytest.mark.parametrize("query", ["how is the", "what is it for"])
def test_common_words_alone_are_said_to_be_such(engine, query):
    found = said(engine, query)
    assert found.level != "strong"
    assert "common words" in found.line


CHATTING = [
    "how do I",
    "How do I do this?",
    "how can I use it",
    "what is this",
    "what does this do",
    "how does this work",
    "how to do it",
    "how to use",
    "where is the",
    "where are they used",
    "who are you",
    "can you help me",
    "show me",
    "please tell me why",
    "is there a",
    "do you have any",
]


@pytest.fixture(scope="module")
def called_by_common_words(tmp_path_factory):
    root = tmp_path_factory.mktemp("common")
    files = {
        "i.swift": "func i() -> Int { return 1 }\n",
        "do.go": "package a\n\nfunc Do(i int) int { return i }\n\nfunc g() int { return 2 }\n",
        "use.js": "export function use(me) { return me }\nexport function help(you) { return you }\n",
        "it.py": "def where(this):\n    return this\n\n\ndef show(what):\n    return what\n\n\nme = any(1)\n",
        "who.rb": "def you(are)\n  are\nend\n\ndef session(s)\n  work_of(s)\nend\n",
        "z.ts": "export namespace z { export function infer(a: number) { return a } }\n",
    }
    for path, content in files.items():
        (root / path).write_text(content)
    refresh(root, root / "index", processes=0, tell=lambda *_: None)
    return Engine(open_index(root / "index"), None)


@pytest.mark.parametrize("query", CHATTING)
def test_common_words_are_no_names_in_a_sentence(called_by_common_words, query):
    found = said(called_by_common_words, query)
    assert found.level != "strong"
    assert "common words" in found.line or found.level == "none"


@pytest.mark.parametrize("query", ["g", "i", "I", "do", "session", "z.infer", "where", "use()", "where is the session"])
def test_a_name_alone_is_one_however_common(called_by_common_words, query):
    assert said(called_by_common_words, query).level == "strong"


@pytest.mark.parametrize("query", ["this", "what", "are", "any"])
def test_a_common_word_that_nothing_is_called_is_no_name(called_by_common_words, query):
    assert said(called_by_common_words, query).level != "strong"


def test_a_word_that_others_are_called_by_is_found_where_it_is_only_written(tmp_path):
    files = {"a/mail.py": "class Mail:\n    pass\n", "b/user.py": "def send_mail(to):\n    return to\n"}
    for path, content in files.items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(content)
    refresh(tmp_path, tmp_path / "index", processes=0, tell=lambda *_: None)
    engine = Engine(open_index(tmp_path / "index"), None)
    assert said(engine, "mail", path="b/*").level == "strong"
    assert said(engine, "Mail", path="b/*").level == "strong"
    assert said(engine, "class", path="b/*").level != "strong"


def test_what_a_filter_hides_is_not_said_to_be_nowhere(engine):
    found = said(engine, "QueuePool", path="shop/*")
    assert found.level == "none"
    assert "only other files" in found.line
    assert not found.absent


def test_the_line_is_one_line_whatever_is_typed():
    found = Certainty("none", ["a\x1b[2J\nb"], ["c\rd"])
    assert found.line.isprintable()
    assert json.loads(json.dumps(found.record))["level"] == "none"


def test_every_interface_says_it(folder, capsys):
    index = index_folder(folder)
    assert index.certainty("asdfqwerzxcv").level == "none"
    assert index.certainty("cancel an order").level == "strong"
    file = f"--index={index.path}"
    assert main(["search", "closeDrawer", file, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["certainty"]
    assert told == {"level": "none", "absent": ["Drawer"], "nearest": [], "text": told["text"]}
    assert main(["search", "cancel an order", file, "--json"]) == 0

    tools = AgentTools(FreshIndex(folder, "none", lambda *_: None))
    told = tools.search("QeuePool")["certainty"]
    assert (told["level"], told["nearest"]) == ("weak", ["QueuePool", "queue_pool"])
