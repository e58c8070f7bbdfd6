import random
import time

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.engine.near_words import NearNames, distance
from search.index.index_file import open_index


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("", "", 0), ("pool", "pool", 0), ("qeue", "queue", 1), ("uqeue", "queue", 1), ("abc", "", 3), ("ca", "abc", 3)],
)
def test_distance(one, other, edits):
    assert distance(one, other, 3) == distance(other, one, 3) == edits
    assert distance(one, other, 0) == min(edits, 1)


def test_a_short_name_may_have_one_edit_and_a_long_one_two():
    names = NearNames(["send", "sendAll", "QueuePool", "getPool"])
    assert names.near("snd") == ["send"]
    assert names.near("sn") == names.near("sadn") == []
    assert names.near("QeuePol") == ["QueuePool"]
    assert names.near("QeuePl") == []


def test_short_words_that_differ_by_a_letter_are_other_words():
    names = NearNames(["agg", "arm", "norm", "bool", "poc", "base", "drain", "break", "queue", "form"])
    assert [names.near(word) for word in ("egg", "orm", "pool", "pod", "bake", "train")] == [[]] * 6
    assert [names.near(word) for word in ("uqeue", "qeue", "from", "braek")] == [
        ["queue"],
        ["queue"],
        ["form"],
        ["break"],
    ]


def test_odd_names_do_no_harm():
    assert NearNames([]).near("anything") == []
    names = NearNames(["a\nb", "x" * 5000, "", "größe", "\ud800abc", "取消订单"])
    assert names.near("grösse") == ["größe"] or names.near("größee") == ["größe"]
    assert names.near("\udfffabcd") in ([], ["\ud800abc"])


def test_every_edit_of_a_name_finds_it_among_many_quickly():
    chance = random.Random(0)
    words = ["get", "set", "queue", "pool", "connection", "close", "drawer", "render", "scene", "request", "client"]
    names = {
        "".join(word.title() for word in chance.choices(words, k=4)) + str(chance.randint(0, 99)) for _ in range(60_000)
    }
    near = NearNames(sorted(names))
    near.near("warm")
    seconds = []
    for name in chance.sample(sorted(names), 30):
        place = chance.randrange(1, len(name) - 1)
        started = time.process_time()
        found = near.near(name[:place] + name[place + 1 :])
        seconds.append(time.process_time() - started)
        assert name in found or len(found) == 3
    assert sorted(seconds)[15] < 0.02


WRITTEN = {
    "json.rs": (
        "fn make_rejection(err: Error) -> JsonRejection {\n    JsonRejection::from(err)\n}\n\n"
        "fn json_of(value: u8) -> Json {\n    Json(value)\n}\n"
    ),
    "form.rs": "fn read_form(body: Body) -> Result<Form, FormRejection> {\n    parse(body)\n}\n",
    "limits.c": "int limits_of(int size) {\n  return size > MAX_BODY_SIZE ? MAX_BODY_SIZE : size;\n}\n",
}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("JsonRejecton", "JsonRejection"),
        ("JsonRejectoin", "JsonRejection"),
        ("FormRejectionn", "FormRejection"),
        ("extract::JsonRejecton", "JsonRejection"),
        ("MAX_BODY_SZIE", "MAX_BODY_SIZE"),
        ("where is JsonRejecton made", "JsonRejection"),
    ],
)
def test_a_misspelt_name_that_is_only_written_in_texts(tmp_path, typed, meant):
    engine = Engine(open_index(index_of(write(tmp_path / "tree", WRITTEN), tmp_path / "index")), None)
    said = engine.certainty(typed, engine.search(typed))
    assert said.nearest[0] == meant
    assert said.level == "weak"


def test_two_letters_that_changed_places_find_a_short_word_among_many():
    chance = random.Random(1)
    known = ["help", "list", "parse", "read", "file", "cache", "write", "index", "query", "model", "token", "import"]
    letters = "etaoinshrdlcumwfgypbvk"
    others = {"".join(chance.choices(letters, k=chance.choice((3, 4, 4, 5, 5, 6)))) for _ in range(30_000)}
    near, lost = NearNames([*sorted(others), *known]), []
    for word in known:
        for place in range(1, len(word) - 1):
            typed = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
            near_ones = [each for each in others if distance(typed, each, 1) <= 1]
            if typed not in others and len(near_ones) < 3 and word not in near.near(typed):
                lost.append((typed, word))
    assert lost == []
