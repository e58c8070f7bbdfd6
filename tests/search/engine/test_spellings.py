"""Other spellings of a question's words in names of files and folders."""

import numpy as np
import pytest

from search.engine.file_ranking import FileRanking, FileWeights, stemmed
from search.engine.path_reading import Spellings
from search.files.words import family, file_words, path_stems
from search.retrieval.word_index import FileIndex


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("parse the text", "parser"),
        ("routes of a page", "router"),
        ("log a line", "logger"),
        ("formats the output", "formatter"),
        ("the parser of options", "parse"),
        ("validate an extractor", "extract"),
        ("thread pool of workers", "threadpool"),
        ("URL-encoded body", "urlencoded"),
        ("file system calls", "fs"),
        ("server-sent events", "sse"),
        ("the abstract syntax tree", "ast"),
        ("load the configuration", "config"),
        ("context of a request", "ctx"),
        ("run a command", "cmd"),
        ("list a directory", "dir"),
        ("memory map a file", "mmap"),
        ("in-memory table of writes", "memtable"),
        ("parameters that exclude each other", "exclusive"),
        ("divides the work", "division"),
        ("extends a type", "extension"),
        ("submit a form", "submission"),
        ("convert a value", "conversion"),
        ("subscribe to a topic", "subscription"),
        ("resolves a name", "resolution"),
        ("produces a value", "production"),
        ("notify the owner", "notification"),
        ("apply a patch", "application"),
        ("registration of plugins", "registry"),
        ("register a plugin", "registry"),
        ("recover a file", "recovery"),
        ("discover services", "discovery"),
        ("analyze the code", "analysis"),
        ("analysis of code", "analyzer"),
        ("compare two versions", "comparison"),
        ("define a type", "definition"),
    ],
)
def test_names_spell_words_otherwise(question, name):
    (stem,) = path_stems(f"{name}.py")[0]
    asked = stemmed(question.lower().replace(":", "").replace("-", " ").split())
    found = Spellings([stem, "other", "xy"]).of(asked)
    assert {other for every in found.values() for other in every} == {stem}
    assert all(0 < share <= 1 for every in found.values() for share in every.values())
    ranking = _ranking({f"{name}.py": "", "else.py": f"{question}\n"})
    with_names = ranking.scores([*asked], question, for_tests=False)
    assert with_names[0] > 0


def test_names_that_are_two_words_have_half_of_each():
    paths = ["http/selectionpolicies.go", "import.go"]
    words = Spellings(["selectionpolici", "import"], paths, {"select", "polici", "port", "im"})
    assert words.of({"policies": "polici"}) == {"polici": {"selectionpolici": 0.7}}
    assert words.of({"select": "select"}) == {"select": {"selectionpolici": 0.7}}
    assert words.of({"port": "port"}) == {}  # two letters are no word
    assert Spellings(["selectionpolici"], paths, {"polici"}).of({"policies": "polici"}) == {}
    texts = {"selectionpolicies.go": "", "selection_policies.go": "", "other.go": "polygons"}
    spoken = {f"{number}.go": "selection of policies" for number in range(3)}
    half, whole, none, *_ = _ranking({**texts, **spoken}).scores(["policies"], "?", for_tests=False)
    assert whole > half > none == 0


def test_what_is_no_other_spelling():
    words = Spellings(["ctx", "conf", "pars", "th", "re", "parser", "context"])
    assert words.of({"text": "text", "cat": "cat", "xtc": "xtc"}) == {}
    assert words.of({"parse": "pars", "parser": "parser"}) == {}  # both are asked for as they are
    assert words.of({"消費": "消費"}) == {}
    assert words.of({}) == {}
    assert Spellings(["mmap", "map"]).of({"my": "my", "map": "map"}) == {}  # two letters are no word
    assert Spellings(["is", "ridis", "unmap"]).of({"id": "id", "map": "map", "un": "un"}) == {}
    assert family("ab") == family("消費") == set()


def test_texts_are_read_as_they_are_spelt():
    ranking = _ranking({"a.py": "parser parser\n", "b.py": "parse\n"})
    assert ranking.scores(["parse"], "parse", for_tests=False).tolist()[0] == 0.0


def test_a_word_counts_once_however_often_a_name_spells_it():
    paths = {"thread/threadpool.py": "", "other.py": ""}
    plain, both = (_ranking(paths, weight).scores(["thread", "pool"], "?", for_tests=False) for weight in (0.0, 1.0))
    exact = _ranking({"thread/thread_pool.py": "", "other.py": ""}).scores(["thread", "pool"], "?", for_tests=False)
    assert plain[0] < both[0] <= exact[0]


def _ranking(texts, spelling=0.7):
    words = [file_words(text.encode()) for text in texts.values()]
    index = FileIndex.of([*texts], words)
    return FileRanking(index, [*texts], np.zeros(len(texts), np.bool_), FileWeights(spelling=spelling))
