import random
import time

import pytest

from search.engine.near_words import NearNames, distance


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
