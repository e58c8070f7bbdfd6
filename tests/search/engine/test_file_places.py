"""What the paths of files say: examples and the like stand behind, and files gain by what stands beside them."""

import numpy as np
import pytest

from search.engine.engine import Engine
from search.engine.file_places import FilePlaces, asks_for_shown, shown
from search.engine.file_ranking import FileRanking, FileWeights
from search.engine.penalties import Penalties
from search.engine.question import RankingSettings
from search.files.words import file_words
from search.index.build import refresh
from search.index.index_file import open_index
from search.retrieval.word_index import FileIndex

PENALTY = RankingSettings().test


def places(*paths):
    return FilePlaces(paths, FileIndex.of([*paths], [file_words(b"") for _ in paths]))


def ranking(texts, **weights):
    files = FileIndex.of([*texts], [file_words(text.encode()) for text in texts.values()])
    return FileRanking(files, [*texts], np.zeros(len(texts), np.bool_), FileWeights(**weights))


@pytest.mark.parametrize(
    ("path", "is_shown"),
    [
        ("examples/revoke.py", True),
        ("src/Samples/app.kt", True),
        ("lib/benches/copy.rs", True),
        ("store/fake_store.go", True),
        ("web/router.mock.ts", True),
        ("db/benchmark-read.cc", True),
        ("src/sampling.py", False),
        ("src/resample.py", False),
        ("doc/man.rs", False),
        ("demographics/people.py", False),
    ],
)
def test_what_only_shows_or_stands_for_other_code(path, is_shown):
    assert shown([path]) == [is_shown]


@pytest.mark.parametrize(
    ("words", "means"),
    [
        (("examples", "of", "routes"), True),
        (("benchmarking", "reads"), True),
        (("mocked", "clock"), True),
        (("route", "matching"), False),
        ((), False),
    ],
)
def test_a_question_means_it_by_a_word_of_its_kind(words, means):
    assert asks_for_shown(words) is means


def test_the_best_file_around_is_another_one_of_the_same_folder():
    own = places("a/one.py", "b/other.py", "a/two.py", "top.py", "a/deep/three.py", "a/four.py")
    assert own.best_around(np.array([3.0, 5.0, 2.0, 7.0, 9.0, 0.0])).tolist() == [2.0, 0.0, 3.0, 0.0, 0.0, 3.0]
    assert places().best_around(np.zeros(0)).tolist() == []


def test_a_file_gains_by_the_best_one_around_it_if_it_has_a_word_itself():
    texts = {"zoo/giraffe.py": "", "zoo/keeper.py": "giraffe", "zoo/gate.py": "none", "farm/barn.py": "giraffe"}
    with_it, without = (
        ranking(texts, around=around).scores(["giraffe"], "?", for_tests=False) for around in (0.05, 0.0)
    )
    best, second, none, alone = without
    assert with_it - without == pytest.approx([0.05 * second, 0.05 * best, 0.0, 0.0])
    assert none == 0 < alone == pytest.approx(second)


def test_examples_keep_half_of_their_score_unless_they_are_meant():
    own = ranking({"zoo/giraffe.py": "", "examples/giraffe.py": "", "lib/other.py": ""}, around=0.0, folder_times=0)

    def scores(*words, **options):
        return own.scores(words, "?", **{"for_tests": False, **options})[:2].tolist()

    code, example = scores("giraffe")
    assert example == pytest.approx(0.5 * code)
    meant, for_tests = scores("giraffe", "demo"), scores("giraffe", for_tests=True)
    assert meant[0] == meant[1]
    assert for_tests[0] == for_tests[1]


@pytest.fixture
def index(tmp_path):
    root = tmp_path / "project"
    texts = {
        "examples/keeper.py": "def feed(giraffe):\n    return giraffe.leaves\n",
        "zoo/keeper.py": "def feed(giraffe):\n    return giraffe.hay\n",
        "zoo/gate.py": "def gate(key):\n    return key.turned\n",
    }
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None)
    return open_index(tmp_path / "index")


def test_their_functions_lose_as_those_of_tests_do(index):
    rows = np.arange(len(index))

    def lost(*words, for_tests=False):
        found = Penalties(index).of(rows, words, RankingSettings(), for_tests=for_tests).tolist()
        return {index.file(row).path: each for row, each in zip(rows.tolist(), found, strict=True)}

    plain = {"examples/keeper.py": PENALTY, "zoo/gate.py": 0.0, "zoo/keeper.py": 0.0}
    assert lost("feed", "giraffe") == plain
    assert lost() == plain
    none = dict.fromkeys(plain, 0.0)
    assert lost("example", "giraffe") == lost("feed", "giraffe", for_tests=True) == none


def test_an_example_stands_behind_the_code_it_shows(index):
    engine = Engine(index, None)

    def first(query):
        return index.file(engine.search(query, by_file=True)[0].row).path

    assert first("feed the giraffe") == "zoo/keeper.py"
    assert first("example of feeding the giraffe") == "examples/keeper.py"
