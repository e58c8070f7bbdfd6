"""Whole files: their words, how they are stored, and how they are ranked."""

import math
import re
from collections import Counter

import numpy as np
import pytest

from data_prep.records import SourceFile
from search.engine.engine import Engine
from search.engine.file_ranking import FileRanking, FileWeights, file_ranking, subject
from search.engine.question import RankingSettings
from search.files.java_units import read_java
from search.files.tree import is_test
from search.files.words import file_words, folded, path_stems, stems_of
from search.index.build import refresh
from search.index.index_file import open_index
from search.index.joint_index import JointFiles
from search.index.read_part import callers_index
from search.retrieval.word_index import KINDS, FileIndex
from tests.word_lists import counted

FILES = {
    "web/session_store.py": b"class SessionStore:\n    def save(self, session):\n        return session.write(store)\n",
    "web/cookies.py": b"def read_cookies(session):\n    return session.cookies\n",
    "web/__init__.py": b"from web.session_store import SessionStore\nstore = SessionStore()\nstore.store()\n",
    "tests/test_session_store.py": b"def test_session_store():\n    assert SessionStore().save(store)\n",
    "go/router.go": b"package router\n// finds the handler\nfunc (r *Router) Handle() {}\ntype Router struct{}\n",
    "empty.ts": b" \n",
}


@pytest.fixture
def project(tmp_path):
    for path, content in FILES.items():
        place = tmp_path / "project" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return tmp_path / "project"


def indexed(project):
    path = project.parent / "index"
    done = refresh(project, path, processes=0, tell=lambda *_: None)
    return open_index(path), done


def test_words_of_comments_are_counted_apart_where_comments_are_known():
    source = b'class A { // the http reader\n String s = "// no comment"; /* readers */ char c = \'"\'; int getHTTP; }'
    java = read_java(SourceFile("", "A.java", source)).words
    assert counted(java, comments=True) == {"the": 1, "http": 1, "reader": 2}
    assert (
        counted(java, comments=False)["no"],
        counted(java, comments=False)["http"],
        counted(java, comments=False)["comment"],
    ) == (1, 1, 1)
    assert list(java.names) == ["a"]
    other = file_words(source)
    assert counted(other, comments=True) == {}
    assert counted(other, comments=False)["reader"] == 2
    assert counted(file_words(b"x" * 5000), comments=False) == {}
    assert list(file_words(FILES["go/router.go"]).names) == ["handle", "router"]
    for hostile in (b'\\"' * 200_000, b"func(" * 200_000, b"/*" * 200_000, b"'" * 200_001, b"func" + b" " * 400_000):
        file_words(hostile)  # in time that grows with its length


def one_by_one(data, spans):
    """The places of stems and the ends of lines, word by word."""
    places, line_ends, number, start = {}, [], 0, 0
    for first, last in [*spans, (len(data), len(data))]:
        for part, in_comment in ((data[start:first], 0), (data[first:last], 1)):
            for count, line in enumerate(folded(part.decode(errors="replace")).split("\n")):
                line_ends += [number] * (count > 0)
                for run in re.findall(r"\w+", line):
                    for stem in stems_of(run) if len(run) <= 100 or not run.isascii() else ():
                        places.setdefault(stem, []).append(2 * number + in_comment)
                        number += 1
        start = last
    return places, [*line_ends, number]


@pytest.mark.parametrize(
    "text",
    [
        "int readAll; // the reader's notes\n\nint b_2, é; /* Größe\n読む音楽 \u0e01\u0e02\u0e03 */ readAll",
        f"a\0b\1c // d\1e\0\r\n\x1c\x1df\u2028g\u00a0h ｗｉｄｅ {'x' * 101} {'ß' * 101} _ __ $x",
        "",
        "\n",
        "// ½ ² ١٢ e\u0301 \ud7a3\n" * 3,
    ],
)
def test_words_counted_at_once_are_those_counted_one_by_one(text):
    data = text.encode(errors="replace")
    spans = [match.span() for match in re.finditer(rb"//[^\n]*|/\*.*?\*/", data, re.DOTALL)]
    for each in ([], spans):
        found = file_words(data, each)
        places = {stem: found.places[number].tolist() for stem, number in found.stems.items()}
        assert (places, found.line_ends) == one_by_one(data, each)
        assert [*found.stems.values()] == [*range(len(places))]


def test_stems_of_paths():
    assert path_stems("src/http-client/RequestReaders.test.ts") == (
        ("request", "reader", "test"),
        ("src", "http", "client"),
    )
    assert path_stems("a/__init__.py")[0] == path_stems("b/a/index.ts")[0] == ("a",)
    assert path_stems("__init__.py")[0] == ("init",)
    assert path_stems(".hidden")[1] == ()


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/a.py", True), ("a/test_b.py", True), ("a/b_test.go", True), ("a/b.spec.ts", True),
        ("a/__tests__/b.js", True), ("a/BTest.java", True), ("conftest.py", True), ("benchmarks/a.ts", True),
        ("src/Shop.Core.Tests/Fakes/Bag.cs", True), ("Shop.UnitTest/Bag.cs", True), ("shop/BagTests.cs", True),
        ("shop/commonTest/Bag.kt", True), ("shop/BagTest.kt", True), ("Sources/AppTests/Bag.swift", True),
        ("src/BagTestCase.php", True), ("lib/bag_unittest.cc", True), ("lib/BagTest.cpp", True),
        ("integration-tests/bag.py", True), ("shop/tests.py", True), ("src/tests.rs", True), ("a/testdata/b.go", True),
        ("shop/test.py", False), ("lib/test-utils/driver.ts", False), ("shop/Latest.cs", False),
        ("a/ContestBag.cs", False), ("latest/a.rs", False), ("a/Attest.kt", False), ("protests/a.py", False),
        ("a/latest.py", False), ("contest.py", False), ("a/testimony.go", False), ("spectrum/a.js", False),
        ("okio/src/commonTest/kotlin/A.kt", True), ("a/ReadLineTest.kt", True), ("src/jvmMain/kotlin/Latest.kt", False),
        ("Shop.Tests/Cart.cs", True), ("src/Shop.UnitTests/Cart.cs", True), ("src/Shop/CartTests.cs", True),
        ("src/Shop/Contests.cs", False), ("Sources/Fastest/A.swift", False), ("CartTests/A.swift", True),
        ("core/CartSpec.scala", True), ("core/CartSuite.scala", True), ("core/Spec.scala", False),
        ("a/CartTest.php", True), ("a/Attest.php", False), ("a/cart_unittest.cc", True), ("a/tst_cart.cpp", True),
        ("e2e/cart.ts", True), ("cypress/cart.js", True), ("x/testFixtures/A.java", True),
        ("src/integrationTest/java/A.java", True), ("integration_test/a.exs", True), ("shop-client-tests/a.kt", True),
        ("a/OrderIT.java", True), ("a/ShopTestCase.java", True), ("a/Tests.java", True), ("a/Test.java", True),
        ("a/Commit.java", False), ("a/Credit.java", False), ("a/Split.java", False), ("a/Latest.java", False),
        ("a/Contest.java", False), ("a/BIT.java", False), ("a/Manifest.kt", False), ("a/latest/b.go", False),
        ("regress/a.sh", True), ("lib/test_functions.bash", False), ("test_a.sh", True), ("regression/a.py", False),
        ("benches/a.rs", True), ("src/jmh/java/A.java", True), ("a/bench.rs", False), ("workbenches/a.rs", False),
        ("contests/a.py", False), ("a/protest-tools/b.py", False), ("latest-tests/a.py", True),
        ("t/unit/base.py", True), ("t/01-basic.pl", True), ("src/t/base.py", False), ("t.py", False),
    ],
)  # fmt: skip
def test_which_files_are_tests(path, test):
    assert is_test(path) is test


def test_postings_are_the_counts_of_each_file_in_any_order():
    paths = sorted(FILES)
    words = [file_words(FILES[path]) for path in paths]
    whole = FileIndex.of(paths, words)

    def counts(found, number):
        told = {kind: Counter() for kind in KINDS}
        for term in found.terms:
            _, files, held = found.postings((term,))
            for place in np.flatnonzero(files == number):
                for kind in KINDS:
                    told[kind][term] += int(held[kind][place])
        return {kind: dict(+each) for kind, each in told.items()}

    for number, (path, each) in enumerate(zip(paths, words, strict=True)):
        stem, folders = path_stems(path)
        parts = (
            counted(each, comments=False),
            counted(each, comments=True),
            dict(Counter(stem)),
            dict(Counter(folders)),
        )
        assert counts(whole, number) == dict(zip(KINDS, parts, strict=True))
    apart = whole.taken(np.array([4, 0])).joined(whole.taken(np.array([3])))
    for number, old in enumerate([4, 0, 3]):
        assert counts(apart, number) == counts(whole, old)
        assert list(apart.names[number]) == list(whole.names[old])
    assert whole.taken(np.arange(0)).terms == []


def test_an_update_gives_the_index_made_anew(project):
    first, _ = indexed(project)
    assert "empty.ts" in [file.path for file in first.files]
    assert list(first.names) == [
        "router",
        "Router.Handle",
        "Router",
        "test_session_store",
        "test_session_store",
        "__init__",
        "store",
        "cookies",
        "read_cookies",
        "session_store",
        "SessionStore",
        "SessionStore.save",
    ]
    (project / "web/cookies.py").write_bytes(b"def write_cookies(jar): return jar\n")
    (project / "go/router.go").unlink()
    updated, done = indexed(project)
    assert done.read == 1
    (project.parent / "index").unlink()
    anew, _ = indexed(project)
    one, other = updated.whole, anew.whole
    assert (one.terms, one.names) == (other.terms, other.names)
    for name in ("starts", "files"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert all((one.counts[kind] == other.counts[kind]).all() for kind in KINDS)


def test_scores_are_those_of_the_definition(project):
    index, _ = indexed(project)
    paths = [file.path for file in index.files]
    tests = np.array([file.test for file in index.files])
    ranking = FileRanking(index.whole, paths, tests, FileWeights(around=0.0))
    found = dict(zip(paths, ranking.scores(["how", "session", "stores"], "?", for_tests=False).tolist(), strict=True))
    terms = ["session", "store"]
    idf, bm25, weights = {}, {}, FileWeights()
    for path in paths:
        words, (stem, folders) = file_words(FILES[path]), path_stems(path)
        parts = {
            "text": counted(words, comments=False),
            "comments": counted(words, comments=True),
            "stem": Counter(stem),
            "folders": Counter(folders),
        }
        bm25[path] = {
            term: sum(weights.times[kind] * counts.get(term, 0) for kind, counts in parts.items()) for term in terms
        }
    for term in terms:
        holding = sum(each[term] > 0 for each in bm25.values())
        idf[term] = math.log(1 + (len(paths) - holding + 0.5) / (holding + 0.5))
    sums = {path: sum(idf[term] * n / (n + weights.k1) for term, n in each.items()) for path, each in bm25.items()}
    for path in paths:
        stem = path_stems(path)[0]
        cover = sum(idf[term] for term in terms if term in stem) / sum(idf.values())
        share = len({*stem} & {*terms}) / len({*stem})
        expected = sums[path] / max(sums.values()) + 2.0 * cover**0.5 * share + 0.4 * (terms[0] in stem)
        expected += 0.3 * sum(idf[term] for term in terms if bm25[path][term]) / sum(idf.values())
        expected *= 0.9 if path.endswith("__init__.py") else 0.1 if path.startswith("tests/") else 1
        assert found[path] == pytest.approx(expected, rel=1e-5)
    for_tests = ranking.scores(["session", "stores"], "?", for_tests=True)
    assert for_tests[paths.index("tests/test_session_store.py")] > found["tests/test_session_store.py"] * 9


def test_the_first_word_leads_and_words_that_explain_do_not_count(project):
    index, _ = indexed(project)
    paths = [file.path for file in index.files]
    ranking = FileRanking(index.whole, paths, np.zeros(len(paths), np.bool_))

    def scores(*words):
        return ranking.scores(words, "?", for_tests=True)

    led = scores("router", "cookies") - scores("cookies", "router")
    assert led[paths.index("go/router.go")] == pytest.approx(0.4)
    assert led[paths.index("web/cookies.py")] == pytest.approx(-0.4)
    assert scores("how", "cookies", "provided").tolist() == scores("cookies").tolist()


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("reference counting of values", {"refer", "count"}),
        ("how the memtable is flushed to disk", {"the", "memtabl"}),
        ("how does a lock file with versions work", {"a", "lock", "file"}),
        ("what is the JsonReader of a stream", {"the", "json", "reader"}),
        ("in-memory table of writes", {"memori", "tabl"}),
        ("bloom filter", set()),
        ("sessions and a session driver", {"session"}),
        ("KeyEncoder and KeyDecoder for a map key", {"key"}),
        ("retry a task after it failed and retry it again", {"retri", "a", "task", "it"}),
        ("Load a struct from a struct.", set()),
        ("endpoint for range queries", set()),
        ("Load structs from a query.", set()),
        ("pool size in lib/other", set()),
        ("pool size in lib\\other", set()),
        ("of with", set()),
        ("", set()),
    ],
)
def test_the_subject_of_a_question_stands_before_its_first_preposition(question, stems):
    assert subject(question) == stems


def test_the_words_of_the_subject_count_more():
    texts = {"a.py": "reader", "b.py": "buffer", "c.py": "none"}
    index = FileIndex.of([*texts], [file_words(text.encode()) for text in texts.values()])

    def scores(query, raised):
        ranking = FileRanking(index, [*texts], np.zeros(len(texts), np.bool_), FileWeights(subject=raised))
        return ranking.scores(["reader", "buffer"], query, for_tests=False).tolist()

    first, second, _ = scores("reader of a buffer", 1.0)
    assert first > second
    assert scores("reader of a buffer", 0.0) == scores("reader buffer", 1.0) == scores("reader buffer", 0.0)


def test_what_a_file_says_of_itself_at_its_beginning_counts():
    texts = {
        "head.py": "# Walks the giraffe.\nuse()\n",
        "below.py": f"{'use() ' * 200}\n# Walks the giraffe.\n",
        "code.py": "walks(giraffe)\n# Walks the giraffe.\n",
        "named/giraffe.py": "",
    }
    spans = {path: [(text.index("#"), text.index(".\n"))] for path, text in texts.items() if text}
    words = [file_words(text.encode(), spans.get(path, ())) for path, text in texts.items()]
    index = FileIndex.of([*texts], words)
    tests = np.zeros(len(texts), np.bool_)
    own, without = (
        FileRanking(index, [*texts], tests, weights).scores(["giraffe"], "?", for_tests=False)
        for weights in (FileWeights(head=0.4, around=0.0), FileWeights(head=0.0, around=0.0))
    )
    assert (own - without).round(6).tolist() == [0.4, 0.0, 0.0, 0.0]
    hidden = FileRanking(index, [*texts], tests).scores(["giraffe"], "?", for_tests=False, comments=False)
    assert hidden[0] == 0.0
    names_alone = FileIndex.of(["giraffe.py"], [file_words(b"")])
    assert names_alone.postings(["giraff", "other"])[2]["head"].tolist() == [0]
    halves = JointFiles.over([index.taken(np.array([0, 1])), index.taken(np.array([2, 3]))])
    heads = [each.postings(["walk", "giraff"])[2]["head"].tolist() for each in (index, halves)]
    assert heads == [[1, 0, 0, 1, 0, 0, 0]] * 2


def test_files_are_ranked_and_a_defined_name_leads_to_its_file(project):
    index, _ = indexed(project)
    engine = Engine(index, None)

    def files(query, **options):
        return [index.file(hit.row).path for hit in engine.search(query, by_file=True, **options)]

    assert files("how are sessions stored")[0] == "web/session_store.py"
    assert files("Router")[0] == "go/router.go"
    assert files("test the session store")[0] == "tests/test_session_store.py"
    assert files("session", path="tests/*") == ["tests/test_session_store.py"]
    assert files("zzqq") == []
    assert all(hit.of_file == 0 for hit in Engine(index, None, RankingSettings(files=0.0)).search("session"))
    named = engine.search("router", top=3)
    assert {index.names[hit.row] for hit in named if hit.stage == "name"} == {"router", "Router"}
    hit = next(hit for hit in named if index.names[hit.row] == "router")
    text = index.split.text(hit.row)
    assert (text.start_line, text.end_line) == (1, 4)
    assert text.source.startswith("package router")


def test_comments_that_are_hidden_do_not_count(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project/A.java").write_text("/** Walks the giraffe. */ class A { int b() { return 1; } }")
    (tmp_path / "project/B.java").write_text("class B { int c() { return 1; } }")
    index, _ = indexed(tmp_path / "project")
    ranking = FileRanking(index.whole, ["A.java", "B.java"], np.array([False, False]))
    shown, hidden = (ranking.scores(["giraffe"], "", for_tests=False, comments=each) for each in (True, False))
    assert shown.tolist() == pytest.approx([1.7, 0.0])
    assert hidden.tolist() == [0.0, 0.0]


def test_a_constant_is_found_by_its_name_and_else_below_functions(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "pool.py").write_text("MAX_ROOMS = 3\n\n\ndef open_rooms(rooms):\n    return load(rooms)\n")
    found, _ = indexed(root)
    engine, alike = (
        Engine(found, None, RankingSettings(beside=0.0)),
        Engine(found, None, RankingSettings(constant=0.0, beside=0.0)),
    )
    assert found.names[engine.search("MAX_ROOMS")[0].row] == "MAX_ROOMS"
    scores = [{found.names[hit.row]: hit.score for hit in each.search("rooms")} for each in (engine, alike)]
    assert scores[0]["MAX_ROOMS"] == pytest.approx(scores[1]["MAX_ROOMS"] - RankingSettings().constant)
    assert scores[0]["open_rooms"] == pytest.approx(scores[1]["open_rooms"])


def test_a_file_is_found_by_the_words_of_those_who_call_it(tmp_path):
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    (root / "crc32c.py").write_text("def extended(crc, data):\n    return crc\n\n\ndef opened():\n    return 0\n")
    (root / "writer.py").write_text(
        'def seal(block):\n    """Adds a checksum to the block."""\n    return extended(0, block)\n\n\n'
        "def opened():\n    return 1\n"
    )
    (root / "table.py").write_text("def verify_trailer(block):\n    return opened() + len(block)\n")
    (root / "tests/test_crc.py").write_text("def test_giraffes():\n    assert extended(0, b'')\n")
    index, _ = indexed(root)
    whole, bare = index.callers, callers_index(index, comments=False)
    place = {file.path: number for number, file in enumerate(index.files)}
    assert whole.terms == ["a", "add", "block", "checksum", "seal", "the", "to"]
    assert np.flatnonzero(whole.scores(["checksum"])).tolist() == [place["crc32c.py"]]
    assert bare.terms == ["seal"]
    own, without = (
        file_ranking(index, FileWeights(callers=share, around=0.0)).scores(["checksum"], "checksum", for_tests=False)
        for share in (0.15, 0.0)
    )
    gained = dict(zip(place, (own - without).round(5).tolist(), strict=True))
    assert gained == {"crc32c.py": 0.15, "table.py": 0.0, "tests/test_crc.py": 0.0, "writer.py": 0.0}
    assert [index.file(hit.row).path for hit in Engine(index, None).search("checksum", by_file=True)][:2] == [
        "writer.py",
        "crc32c.py",
    ]


def test_a_header_stands_behind_the_longer_file_that_has_its_functions():
    texts = {"include/log.h": "int rotate", "src/log.c": "int rotate, a, b", "a.hpp": "rotate a b", "a.cc": "rotate"}
    index = FileIndex.of([*texts], [file_words(text.encode()) for text in texts.values()])
    alike = np.zeros(len(texts), np.bool_)
    own, as_others = (
        FileRanking(index, [*texts], alike, FileWeights(header_share=share)).scores(["rotate"], "?", for_tests=False)
        for share in (0.7, 1.0)
    )
    assert (own / as_others).tolist() == [0.7, 1.0, 1.0, 1.0]
