"""The TabCS release: the known numbers of its test sets, and small releases made here for what can be wrong."""

import pickle
import re
import shutil
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from cli.main import main
from data_prep.config import DataConfig
from data_prep.datasets.tabcs import CsnTabcs, JcgTabcs, Published
from data_prep.languages.java.javalang_trees import parse_published, statement_trees
from data_prep.prepare import prepare
from data_prep.records import CODE_FIELDS, SPLITS, UNKNOWN
from data_prep.sources.tabcs_release import FILE_FIELDS, ReleasedPairs, ReleasedSplit, load_plain, read_vocabulary
from data_prep.store.prepared_data import PreparedData, open_prepared
from data_prep.store.split import Split
from data_prep.store.tokenizing import WordsConfig, WordTokenizer

RELEASES = Path(__file__).parents[4] / "shared" / "data" / "published"
DATA_SETS: Mapping[str, type[Published]] = {"csn_tabcs": CsnTabcs, "jcg_tabcs": JcgTabcs}
NAMES = tuple(DATA_SETS)

LENGTHS = {
    "csn_tabcs": {"name": 6, "api": 30, "tokens": 40, "ast": 20, "query": 30},
    "jcg_tabcs": {"name": 6, "api": 30, "tokens": 50, "ast": 150, "query": 30},
}
"""Longest lists that the release's models read."""
VOCABULARIES = {
    "csn_tabcs": {"name": 9_857, "api": 19_871, "tokens": 14_245, "ast": 15_414, "query": 12_316},
    "jcg_tabcs": {"name": 27_176, "api": 52_891, "tokens": 46_144, "ast": 88, "query": 30_000},
}
# mean, median, 95th percentile and largest length; % of rows above LENGTHS; unknown words, and their % of all;
# rows that are empty, and rows without a known word
STATISTICS = {
    ("csn_tabcs", "name"): (2.64, 2, 5, 17, 1.7, 374, 1.42, 0, 46),
    ("csn_tabcs", "api"): (14.27, 11, 37, 351, 7.8, 48_030, 33.65, 1, 82),
    ("csn_tabcs", "tokens"): (18.09, 13, 48, 213, 7.4, 5_357, 2.96, 1, 2),
    ("csn_tabcs", "ast"): (18.24, 12, 52, 780, 24.4, 49_369, 27.07, 0, 27),
    ("csn_tabcs", "query"): (7.72, 7, 16, 60, 0.3, 3_271, 4.23, 0, 7),
    ("jcg_tabcs", "name"): (2.47, 2, 5, 14, 1.0, 0, 0, 0, 0),
    ("jcg_tabcs", "api"): (10.13, 7, 32, 70, 5.6, 31_019, 30.61, 8, 929),
    ("jcg_tabcs", "tokens"): (56.06, 36, 176, 360, 37.9, 26, 0, 0, 0),
    ("jcg_tabcs", "ast"): (87.08, 52, 284, 544, 18.8, 0, 0, 0, 0),
    ("jcg_tabcs", "query"): (10.27, 9, 19, 29, 0, 623, 0.61, 0, 0),
}
# rows that are not the only one with their query; with their name, tokens and api as read; with these, ast and query
DUPLICATES = {"csn_tabcs": (927, 15, 8), "jcg_tabcs": (1_117, 521, 451)}
BLANK = {"csn_tabcs": {"empty": 2, "all_oov": 135}, "jcg_tabcs": {"empty": 8, "all_oov": 929}}


def release_of(name: str) -> Path:
    folder = RELEASES / name.partition("_")[0]
    if not (folder / "test.desc.pkl").is_file():
        pytest.skip(f"needs the files of the release beside the repository, in ../shared/data/published/{folder.name}")
    return folder


_read = ReleasedSplit.read


@cache
def released(name: str) -> ReleasedSplit:
    return _read(release_of(name), "test")


@pytest.fixture(scope="module")
def published() -> Callable[[str], Split]:
    """The published test set of a name, as it is prepared."""

    @cache
    def split(name: str) -> Split:
        data_set = DATA_SETS[name](DataConfig(path=str(release_of(name))))
        with patch.object(ReleasedSplit, "read", lambda *_: released(name)):  # once for all tests
            return Split.of("test", [*data_set.pairs()["test"]])

    return split


@pytest.mark.parametrize("name", NAMES)
def test_vocabularies_have_the_known_sizes(name: str) -> None:
    folder = release_of(name)
    words = {field: read_vocabulary(folder / f"vocab.{FILE_FIELDS[field]}.pkl") for field in FILE_FIELDS}
    assert {field: len(each) - 1 for field, each in words.items()} == VOCABULARIES[name]
    assert all(each[0] == UNKNOWN for each in words.values())
    union = set().union(*(words[field][1:] for field in ("name", "tokens", "api")))
    lost = UNKNOWN in union  # <UNK> of JCG's tokens
    assert len(union) == {"csn_tabcs": 31_578, "jcg_tabcs": 101_165}[name]
    assert lost == (name == "jcg_tabcs")


@pytest.mark.parametrize(("name", "field"), STATISTICS)
def test_the_test_sets_have_the_known_words(published: Callable[[str], Split], name: str, field: str) -> None:
    split = published(name)
    lists = split.words[field]
    lengths, lost = lists.lengths, lists.values == [*split.lexicon].index(UNKNOWN)
    known = [int((~lost[start:end]).sum()) for start, end in zip(lists.offsets, lists.offsets[1:], strict=False)]
    mean, median, high, longest, over, unknown, share, empty, blank = STATISTICS[name, field]
    assert len(lists) == 10_000
    assert float(lengths.mean()) == pytest.approx(mean, abs=0.005)
    assert (np.median(lengths), np.percentile(lengths, 95), lengths.max()) == (median, high, longest)
    assert 100 * float((lengths > LENGTHS[name][field]).mean()) == pytest.approx(over, abs=0.05)
    assert lost.sum() == unknown
    assert 100 * float(lost.mean()) == pytest.approx(share, abs=0.005)
    assert ((lengths == 0).sum(), known.count(0)) == (empty, blank)


@pytest.mark.parametrize("name", NAMES)
def test_the_test_sets_have_the_known_duplicates(published: Callable[[str], Split], name: str) -> None:
    split = published(name)

    def as_read(row: int, *fields: str) -> Hashable:
        return tuple(split.words[field][row][: LENGTHS[name][field]].tobytes() for field in fields)

    def repeated(*fields: str) -> int:
        counts = Counter(as_read(row, *fields) for row in range(len(split)))
        return sum(count for count in counts.values() if count > 1)

    assert (repeated("query"), repeated("name", "tokens", "api"), repeated(*FILE_FIELDS)) == DUPLICATES[name]
    queries = len({as_read(row, "query") for row in range(len(split))})
    assert queries / len(split) == pytest.approx(0.921, abs=0.0005)  # the best Top@1 there is


def test_the_first_rows_are_the_releases_first(published: Callable[[str], Split]) -> None:
    first = published("jcg_tabcs")
    assert first.word_list("name", 0) == ["task", "class", "name"]
    assert " ".join(first.word_list("tokens", 0)) == "public string task class name ( ) { return task cls name ; }"
    assert first.word_list("api", 0) == [UNKNOWN, UNKNOWN]
    assert " ".join(first.word_list("ast", 0)) == (
        "( MethodDeclaration ( ReferenceType ) ReferenceType ( ReturnStatement ( MemberReference ) MemberReference ) "
        "ReturnStatement ) MethodDeclaration"
    )
    text = first.text(0)
    assert text.query_text == "gets name of task class that triggered this event ."
    assert text.source == "public String taskClassName ( ) { return taskClsName ; }"
    assert (text.method_name, text.path, text.start_line) == ("taskClassName", "test", 1)
    first = published("csn_tabcs")
    assert (first.text(0).method_name, first.text(0).source) == ("setTypeS", "")
    assert first.text(0).query_text == "sets setter types generated into feature value set"


def test_rows_and_sources_stay_together(published: Callable[[str], Split]) -> None:
    """The name's words, written together, stand in the source of their row."""
    split = published("jcg_tabcs")
    for row in (1, 10, 4_999, 9_999):
        assert "".join(split.word_list("name", row)) in re.sub(r"[_\W]", "", split.text(row).source).lower()
        assert split.text(row).start_line == row + 1


@pytest.mark.parametrize("name", NAMES)
def test_statement_trees_are_those_of_the_sources(published: Callable[[str], Split], tmp_path: Path, name: str) -> None:
    """Of the first rows; the number of all trees is in test_javalang_trees.py."""
    folder, rows = release_of(name), 300
    lines = (folder / "test_source.txt").read_text("utf-8").split("\n")[:rows] if name == "jcg_tabcs" else []
    release = write_release(tmp_path / "release", {})
    for field in FILE_FIELDS.values():
        shutil.copy(folder / f"vocab.{field}.pkl", release)
        write(release / f"test.{field}.pkl", load_plain(folder / f"test.{field}.pkl")[:rows])
    (release / "test_source.txt").write_text("\n".join(lines), "utf-8")
    data, _ = made(release, name, statements=True)
    split = data.splits["test"]
    found = [split.word_list("statements", row) for row in range(rows)]
    assert found == ([[*statement_trees(parse_published(line))] for line in lines] or [[]] * rows)
    assert data.manifest["counts"].get("test_methods_without_statement_trees", 0) == 0
    assert queries(split) == queries(published(name).take(np.arange(rows)))
    if lines:
        assert found[0][1] == "ReturnStatement(MemberReference(taskClsName))"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rule", ["empty", "all_oov"])
def test_blank_pairs_are_left_out_when_asked(published: Callable[[str], Split], name: str, rule: Any) -> None:
    whole = published(name)
    lost = [*whole.lexicon].index(UNKNOWN) if rule == "all_oov" else -1
    fields = [whole.words[field] for field in ("name", "tokens", "api", "query")]
    expected = [row for row in range(10_000) if all((lists[row] != lost).any() for lists in fields)]
    data_set = DATA_SETS[name](DataConfig(path=str(release_of(name)), drop_empty=rule))
    with patch.object(ReleasedSplit, "read", lambda *_: released(name)):
        pairs = data_set.pairs()["test"]
    assert isinstance(pairs, ReleasedPairs)
    assert pairs.rows.tolist() == expected
    assert len(pairs) == 10_000 - BLANK[name][rule]
    assert data_set.counts == {"released_test_pairs": 10_000, "blank_test_pairs_dropped": BLANK[name][rule]}


VOCABULARY = {"get": 1, "size": 2, "<UNK>": 3, "": 4, "List": 5, "\x00": 6}


def write(path: Path, content: object) -> None:
    path.write_bytes(pickle.dumps(content, 3))


def write_release(folder: Path, sizes: Mapping[str, int], words: Mapping[str, int] = VOCABULARY) -> Path:
    """A release with ``sizes`` of train and test; row i's query holds the digits of i, in base 6."""
    folder.mkdir()
    for field in FILE_FIELDS.values():
        write(folder / f"vocab.{field}.pkl", dict(reversed(words.items())))
        for part, size in sizes.items():
            write(
                folder / f"{part}.{field}.pkl", [ids_of(row) if field == "desc" else [1, 0, 5] for row in range(size)]
            )
    return folder


def ids_of(row: int) -> list[int]:
    return [1 + int(digit) for digit in np.base_repr(row, 6)]


def made(path: Path, name: str = "csn_tabcs", **settings: Any) -> tuple[PreparedData, list[str]]:
    said: list[str] = []
    config = DataConfig(path=str(path), root=str(path.parent / "data"), **settings)
    return prepare(name, config, command="the tests", say=said.append), said


def queries(split: Split) -> list[list[str]]:
    return [split.word_list("query", row) for row in range(len(split))]


def words_of(row: int) -> list[str]:
    words = {number: UNKNOWN if word == "<UNK>" else word for word, number in VOCABULARY.items()}
    return [words[number] for number in ids_of(row)]


def test_ids_become_words_and_lost_ones_unknown(tmp_path: Path) -> None:
    release = write_release(tmp_path / "release", {"test": 3})
    write(release / "test.desc.pkl", [[0, 1, 3], [6, 4], []])
    data, said = made(release)
    test = data.splits["test"]
    assert queries(test) == [[UNKNOWN, "get", UNKNOWN], ["\x00", ""], []]
    assert test.word_list("api", 1) == ["get", UNKNOWN, "List"]
    assert test.text(0).method_name == "get<unk>List"
    assert data.manifest["origin"] == "tabcs-release-csn"
    assert said[0] == "preparing csn_tabcs: not prepared yet"
    ids = WordTokenizer.build(test, WordsConfig(min_count=1)).encode(test)
    assert [query.tolist().count(0) for query in ids.fields["query"]] == [0, 0, 0]  # none reads as padding


def test_with_training_files_it_is_an_ordinary_data_set(tmp_path: Path) -> None:
    data, said = made(write_release(tmp_path / "release", {"train": 60, "test": 7}))
    assert [len(data.splits[name]) for name in SPLITS] == [57, 3, 7]
    assert queries(data.splits["test"]) == [words_of(row) for row in range(7)]
    lines = {name: [data.splits[name].text(row).start_line for row in range(len(data.splits[name]))] for name in SPLITS}
    for name in ("train", "valid"):
        assert lines[name] == sorted(lines[name])
        assert queries(data.splits[name]) == [words_of(line - 1) for line in lines[name]]
        assert {data.splits[name].text(row).path for row in range(3)} == {"train"}
    assert sorted(lines["train"] + lines["valid"]) == list(range(1, 61))
    assert data.manifest["missing_files"] == []
    assert data.manifest["counts"]["pairs"] == 67
    assert "67 pairs (train 57, valid 3, test 7) of 7 released test pairs" in said[1]
    assert "60 released training pairs" in said[1]


def test_the_hold_out_is_the_seeds(tmp_path: Path) -> None:
    def held_out(release: Path, seed: int) -> list[int]:
        pairs = CsnTabcs(DataConfig(path=str(release), split_seed=seed)).pairs()["valid"]
        assert isinstance(pairs, ReleasedPairs)
        assert {pair.method.split for pair in pairs[:9]} == {"valid"}
        return pairs.rows.tolist()

    small = write_release(tmp_path / "small", {"train": 200, "test": 1})
    assert held_out(small, 0) == held_out(small, 0) != held_out(small, 1)
    assert len(held_out(small, 0)) == 10
    large = write_release(tmp_path / "large", {"test": 1})
    for field in FILE_FIELDS.values():
        write(large / f"train.{field}.pkl", [[1] for _ in range(110_000)])
    assert len(held_out(large, 0)) == 5_000


def test_test_files_alone_serve_to_test_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = write_release(tmp_path / "release", {"test": 40})
    options = [f"--data.path={release}", f"--data.root={tmp_path / 'data'}", f"--out={tmp_path / 'run'}"]
    assert main(["csn_tabcs", "galm", *options]) == 2
    told = capsys.readouterr().err
    assert "has test pairs only, without train.desc.pkl, train.methodname.pkl" in told
    assert not (tmp_path / "run").exists()
    assert main(["csn_tabcs", "bm25", *options, "--data.limit=30", "--evaluate.bootstrap_samples=200"]) == 0
    assert (tmp_path / "run" / "metrics.json").exists()


def test_sources_are_taken_where_they_fit(tmp_path: Path) -> None:
    release = write_release(tmp_path / "release", {"test": 3})
    source = release / "test_source.txt"
    source.write_bytes("int a ( ) { }\nint \x0c\u2028b ( ) { }\r\nint c ( ) { \xff }\n".encode("latin-1", "replace"))
    test = made(release, "jcg_tabcs")[0].splits["test"]
    assert [test.text(row).source[:5] for row in range(3)] == ["int a", "int \x0c", "int c"]
    assert made(release, "csn_tabcs")[0].splits["test"].text(0).source == ""  # not known to fit there
    source.write_text("int a ( ) { }\n")
    data, said = made(release, "jcg_tabcs")
    assert data.splits["test"].text(0).source == ""
    assert "test_source.txt is not used: 1 lines for 3 test pairs" in said[-1]
    assert data.manifest["broken_files"] == [{"path": "test_source.txt", "reason": "1 lines for 3 test pairs"}]


def test_what_lies_in_the_own_place_is_found(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    write_release(tmp_path / "raw" / "jcg_tabcs", {"test": 3})
    files = JcgTabcs(DataConfig(root=str(tmp_path))).inputs()
    assert [file.name for file in files][:2] == ["vocab.desc.pkl", "vocab.methodname.pkl"]
    assert len(files) == 10
    with pytest.raises(ValueError, match=r"csn_tabcs needs vocab\.desc\.pkl, .* in .*raw/csn_tabcs: put them there"):
        CsnTabcs(DataConfig(root=str(tmp_path))).inputs()


BAD: Sequence[tuple[str, object, str]] = (
    ("vocab.desc.pkl", ["get"], r"vocab\.desc\.pkl is no vocabulary"),
    ("vocab.desc.pkl", {}, r"vocab\.desc\.pkl is no vocabulary"),
    ("vocab.sbt.pkl", {1: "get"}, r"vocab\.sbt\.pkl is no vocabulary"),
    ("vocab.sbt.pkl", {"get": [1]}, r"vocab\.sbt\.pkl is no vocabulary"),
    ("vocab.sbt.pkl", {"get\ud800": 1}, r"vocab\.sbt\.pkl has a word with half a surrogate pair"),
    ("vocab.tokens.pkl", {"get": 0, "size": 1}, r"vocab\.tokens\.pkl has 2 words, but their ids are not 1 to 2"),
    ("vocab.tokens.pkl", {"get": 1, "size": 1}, r"vocab\.tokens\.pkl has 2 words, but their ids are not 1 to 2"),
    ("vocab.apiseq.pkl", {"get": 1, "size": 2}, r"test\.apiseq\.pkl has the id 5, but vocab\.apiseq\.pkl ends at 2"),
    ("test.apiseq.pkl", [[1], [7], [2]], r"test\.apiseq\.pkl has the id 7, but vocab\.apiseq\.pkl ends at 6"),
    ("test.apiseq.pkl", [[1], [-1], [2]], r"test\.apiseq\.pkl has the id -1: expected ids of 0 or more"),
    ("test.apiseq.pkl", {"get": 1}, r"test\.apiseq\.pkl is no list of lists"),
    ("test.apiseq.pkl", [1, 2, 3], r"test\.apiseq\.pkl is no list of lists"),
    ("test.apiseq.pkl", [["get"], [], []], r"test\.apiseq\.pkl is no list of lists"),
    ("test.apiseq.pkl", [[1.5], [], []], r"test\.apiseq\.pkl is refused: .* makes something else"),
    ("test.apiseq.pkl", [[1] * 100] * 500, r"test\.apiseq\.pkl is refused: it unfolds to more ids than it has bytes"),
    ("test.apiseq.pkl", [[1], [2]], r"test\.apiseq\.pkl has 2 rows, but test\.desc\.pkl has 3"),
    ("train.desc.pkl", [[1]], r"has training files, but not train\.methodname\.pkl"),
)


@pytest.mark.parametrize(("file", "content", "told"), BAD)
def test_files_that_do_not_fit_are_one_line(tmp_path: Path, file: str, content: object, told: str) -> None:
    release = write_release(tmp_path / "release", {"test": 3})
    write(release / file, content)
    with pytest.raises(ValueError, match=told) as caught:
        made(release)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "data" / "csn_tabcs").exists()


@pytest.mark.parametrize("file", ["test.tokens.pkl", "vocab.desc.pkl", "train.sbt.pkl"])
def test_missing_and_cut_files_are_one_line(tmp_path: Path, file: str) -> None:
    release = write_release(tmp_path / "release", {"train": 40, "test": 3})
    whole = (release / file).read_bytes()
    (release / file).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=f"{file} is refused: it is cut short"):
        made(release)
    (release / file).unlink()
    with pytest.raises(ValueError, match=f"{file}.*"):
        made(release)


def test_nothing_to_test_on_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"test\.\*\.pkl have no pairs"):
        made(write_release(tmp_path / "none", {"test": 0}))
    blank = write_release(tmp_path / "blank", {"test": 3})
    write(blank / "test.tokens.pkl", [[0], [3, 0], []])
    with pytest.raises(ValueError, match=r"--data\.drop_empty=all_oov leaves none of the 3 test pairs"):
        made(blank, drop_empty="all_oov")
    data, said = made(blank, drop_empty="empty")
    assert queries(data.splits["test"]) == [words_of(0), words_of(1)]
    assert data.manifest["split_sizes"]["test"] == 2
    assert data.manifest["counts"]["blank_test_pairs_dropped"] == 1
    assert "test 2) of 3 released test pairs, 1 blank test pairs dropped" in said[-1]
    with pytest.raises(ValueError, match="have 19 pairs: expected 20 or more"):
        made(write_release(tmp_path / "few", {"train": 19, "test": 3}))


def test_it_opens_as_any_prepared_data_set(tmp_path: Path) -> None:
    data, _ = made(write_release(tmp_path / "release", {"test": 8}), limit=5)
    assert [len(data.splits[name]) for name in SPLITS] == [0, 0, 5]
    whole = open_prepared(data.folder)
    assert len(whole.splits["test"]) == 8
    words = {field: whole.splits["test"].word_list(field, 0) for field in CODE_FIELDS}
    assert words == {field: [] if field == "statements" else ["get", UNKNOWN, "List"] for field in CODE_FIELDS}
    assert {each["name"] for each in whole.manifest["sources"]["inputs"]} == {
        f"{part}.{field}.pkl" for part in ("vocab", "test") for field in FILE_FIELDS.values()
    }
