"""The papers' releases as published: what is read of them, what the published tests have, what is no release."""

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from cli.main import main
from data_prep.config import DataConfig, data_set
from data_prep.datasets.open_java import FILES, OpenJava
from data_prep.datasets.paper_releases import R252, DeepcsJava, TlCodeSum
from data_prep.datasets.tabcs import CsnTabcs, JcgTabcs, PublishedTest, name_in
from data_prep.records import UNKNOWN, Method, Pair
from tests.data_prep.datasets import paper_clones as clones
from tests.data_prep.datasets.paper_clones import ROWS, made
from tests.evaluation.real_data import SHARED

TESTS = {"csn": SHARED / "published" / "csn", "jcg": SHARED / "published" / "jcg"}


def test_deepcs_has_its_words_its_methods_and_a_sample_that_validates(tmp_path: Path) -> None:
    clones.deepcs(tmp_path, ROWS, train=ROWS[20:])
    splits, found = made(DeepcsJava, tmp_path)
    assert {name: len(pairs) for name, pairs in splits.items()} == {"train": 38, "valid": 2, "test": 60}
    pair = splits["test"][1]
    assert (list(pair.query), list(pair.words("api"))) == (ROWS[1]["query"], ROWS[1]["api"])
    assert (pair.method.source, pair.method.name) == (ROWS[1]["code"], "readTheBaFile")
    assert {pair.method.source for pair in splits["train"]} == {""}
    assert {pair.split for pair in (each.method for each in splits["valid"])} == {"valid"}
    assert found.counts == {"released_train_pairs": 40, "released_test_pairs": 60}


def test_the_example_of_deepcs_is_no_test_of_itself(tmp_path: Path) -> None:
    clones.deepcs(tmp_path, ROWS)
    splits, found = made(DeepcsJava, tmp_path)
    assert {name: len(pairs) for name, pairs in splits.items()} == {"train": 57, "valid": 3}
    assert found.left_out[-1] == ("test", "its pairs are those of training")
    assert {pair.method.source for pair in splits["train"]} < {row["code"] for row in ROWS}


def test_r252_is_tested_with_its_validation(tmp_path: Path) -> None:
    clones.r252(tmp_path, "train_data", [*ROWS[:40], ROWS[0] | {"api": []}])
    clones.r252(tmp_path, "validation_data", ROWS[40:])
    clones.r252(tmp_path, "train_data_smaller", ROWS[:3])
    splits, _ = made(R252, tmp_path)
    assert {name: len(pairs) for name, pairs in splits.items()} == {"train": 39, "valid": 2, "test": 20}
    assert [list(pair.query) for pair in splits["test"]] == [row["query"] for row in ROWS[40:]]


def test_tlcodesum_is_parsed_and_every_row_stays(tmp_path: Path) -> None:
    rows = [
        *ROWS[:2],
        ROWS[2] | {"query": ["mails", "a", "@", "b", "."], "code": "void x ( ) { y ( _STR ) ; z ( _NUM ) ; }"},
    ]
    broken = ROWS[3] | {"code": "public void parseIt ( { go ( ) ; }"}
    clones.tlcodesum(tmp_path, "valid", ROWS[10:20])
    clones.tlcodesum(tmp_path, "test", [*rows, broken])
    splits, found = made(TlCodeSum, tmp_path)
    assert {name: len(pairs) for name, pairs in splits.items()} == {"valid": 10, "test": 4}
    assert found.missing() == ["train"]
    assert [pair.query_text for pair in splits["test"]][2] == "mails a @ b."
    assert 'y ( "" )' in splits["test"][2].method.source
    assert splits["test"][0].words("api") == ("File", "open0")
    assert (splits["test"][3].words("name"), found.counts["methods_that_do_not_parse"]) == (("parse", "it"), 1)
    assert {pair.method.type_name for pair in splits["test"]} == {""}


def test_pairs_of_published_tests_are_left_out_of_training_alone(tmp_path: Path) -> None:
    literal = ROWS[1]["code"].replace('"a  b"', "STR_")
    bag = ROWS[2] | {"query": [UNKNOWN, "reads", "memory", "into"]}
    few = ROWS[3] | {"query": [UNKNOWN, "reads", "into"]}
    clones.tabcs(tmp_path, csn=[bag, few], jcg=[ROWS[4] | {"code": "x"}, ROWS[5] | {"code": literal, "query": ["no"]}])
    clones.tlcodesum(tmp_path, "train", ROWS)
    clones.tlcodesum(tmp_path, "test", ROWS[:6])
    splits, found = made(TlCodeSum, tmp_path)
    assert {name: len(pairs) for name, pairs in splits.items()} == {"train": 57, "test": 6}
    assert found.counts["train_pairs_left_out_that_are_in_csn_tabcs"] == 1
    assert found.counts["train_pairs_left_out_that_are_in_jcg_tabcs"] == 2
    clones.r252(tmp_path, "train_data", ROWS)
    assert sum(map(len, made(R252, tmp_path)[0].values())) == 58  # whose code is not known
    clones.deepcs(tmp_path, ROWS)
    assert sum(map(len, made(DeepcsJava, tmp_path)[0].values())) == 57


def test_without_the_published_tests_it_is_said(tmp_path: Path) -> None:
    clones.r252(tmp_path, "train_data", ROWS)
    _, found = made(R252, tmp_path)
    assert [name for name, why in found.left_out if why.endswith("nothing is compared with it here")] == [
        "csn_tabcs",
        "jcg_tabcs",
    ]


def test_clones_of_all_papers_in_one_folder_need_no_option(tmp_path: Path) -> None:
    papers = tmp_path / "raw" / "papers"
    clones.tabcs(papers, csn=ROWS[:3], jcg=ROWS[:3])
    clones.r252(papers, "train_data", ROWS)
    config = DataConfig(root=str(tmp_path))
    for name in ("csn_tabcs", "jcg_tabcs", "r252", "open_java"):
        assert data_set(name, config).inputs(), name
    assert len(CsnTabcs(config).pairs()["test"]) == 4
    found = OpenJava(config)
    found.inputs()
    assert (len(found.pairs()["train"]), found.counts["left out (in a published test)"]) == (57, 3)
    for place in (papers / "TabCS", papers / "TabCS" / JcgTabcs.folder_in_release):
        assert len(JcgTabcs(DataConfig(path=str(place))).pairs()["test"]) == 4


def test_open_java_is_the_same_of_clones_and_of_json_lines(tmp_path: Path) -> None:
    clones.deepcs(tmp_path / "raw", ROWS)
    clones.tlcodesum(tmp_path / "raw", "valid", ROWS)
    clones.r252(tmp_path / "raw", "validation_data", ROWS)
    for name in ("deepcs_example/pairs", "tlcodesum/valid", "r252/valid"):
        path = tmp_path / "lines" / f"{name}.jsonl.gz"
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.compress("".join(json.dumps(row | {"eval_overlap": []}) + "\n" for row in ROWS).encode()))
    raw, lines = (OpenJava(DataConfig(path=str(tmp_path / each))) for each in ("raw", "lines"))
    assert len(raw.inputs()) == 12
    assert list(raw.pairs()["train"]) == list(lines.pairs()["train"])
    assert raw.counts == lines.counts
    assert raw.missing() == lines.missing() == ["tlcodesum/test.jsonl.gz", "r252/train.jsonl.gz"]


def test_every_tenth_real_row_is_compared_as_those_who_flagged_them_did(tmp_path: Path) -> None:
    if lacking := [str(path) for path in (*(SHARED / name for name in FILES), *TESTS.values()) if not path.exists()]:
        pytest.skip(f"needs {', '.join(lacking)} beside the repository, in ../shared/data")
    rows = {}
    for name in FILES:
        with gzip.open(SHARED / name, "rt", encoding="utf-8") as file:
            rows[name] = [json.loads(line) for line in islice(file, 0, None, 10)]
    clones.deepcs(tmp_path, rows["deepcs_example/pairs.jsonl.gz"])
    clones.tlcodesum(tmp_path, "valid", rows["tlcodesum/valid.jsonl.gz"])
    clones.tlcodesum(tmp_path, "test", rows["tlcodesum/test.jsonl.gz"])
    clones.r252(tmp_path, "train_data", rows["r252/train.jsonl.gz"])
    clones.r252(tmp_path, "validation_data", rows["r252/valid.jsonl.gz"])
    for kind, folder in ((CsnTabcs, TESTS["csn"]), (JcgTabcs, TESTS["jcg"])):
        shutil.copytree(folder, tmp_path / "TabCS" / kind.folder_in_release)
    found = OpenJava(DataConfig(path=str(tmp_path)))
    found.inputs()
    told = [(name, bool(row["eval_overlap"])) for name, each in rows.items() for row in each]
    own = [(name, bool(row["eval_overlap"])) for name, _, row in found._rows(Counter())]
    assert own == told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: cut(raw, "train.desc.txt"), "train.desc.txt has 59 lines, but others of its release have more"),
        (lambda raw: cut(raw, "method-apis.txt"), "method-apis.txt has 59 lines, but others of its release have more"),
        (lambda raw: cut(raw, "valid.token.nl", 0), "have other rows in line 1: take both of one release"),
        (lambda raw: swap(raw, "test.rawcode.txt"), "test.rawcode.txt has not the methods of "),
        (lambda raw: replaced(raw, "test.meta.txt", b"\\"), "test.meta.txt:1 names no file: expected a number, a path"),
    ],
)
def test_files_that_do_not_belong_together_are_named_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None], message: str
) -> None:
    raw = tmp_path / "raw"
    clones.deepcs(raw, ROWS)
    clones.tlcodesum(raw, "valid", ROWS)
    clones.r252(raw, "train_data", ROWS)
    change(raw)
    names = ("deepcs_java", "tlcodesum", "r252", "open_java")
    codes = [main(["prepare", name, f"--data.path={raw}", f"--data.root={tmp_path}"]) for name in names]
    errors = [line for line in capsys.readouterr().err.splitlines() if message in line]
    assert len(errors) == codes.count(2) >= 1


def cut(raw: Path, name: str, line: int = -1) -> None:
    (path,) = (each for each in raw.rglob(name) if "data_pre" not in each.parts)
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[line]
    path.write_bytes(b"".join(lines))


def swap(raw: Path, name: str) -> None:
    (path,) = raw.rglob(name)
    path.write_bytes(b"void other ( ) { }\r\n" * len(ROWS))


def replaced(raw: Path, name: str, what: bytes) -> None:
    (path,) = raw.rglob(name)
    path.write_bytes(path.read_bytes().replace(what, b"/"))


@pytest.mark.parametrize("name", ["deepcs_java", "tlcodesum", "r252"])
def test_what_is_missing_is_told_with_what_to_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["prepare", name, f"--data.root={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert ": git clone https://github.com/" in error


def test_a_name_is_that_of_the_method_not_of_its_annotation() -> None:
    code = '@ SuppressWarnings ( "a" ) @ a . B ( c = 1 ) public < T extends X > List < T > readAll ( X x ) { go ( ) ; }'
    assert name_in(code) == ("read", "all")
    assert name_in("int x ;") == ()


def test_a_published_test_compares_identifiers_in_their_order() -> None:
    method = Method(
        "o", "p", 1, 1, "", "goOn", "method", "void goOn ( int a ) { b ( NUM_ , STR_ ) ; }", "", {"name": ("go",)}
    )
    test = PublishedTest([Pair(method, "", ("goes", "on", "."))])
    assert test.has((), ["x"], 'VOID goOn ( int a ) { b ( 1 , "b" ) ; }')
    assert test.has(("go",), ["Goes", "on"], "")
    assert not test.has(("go",), ["on", "goes"], "void goOn ( int b ) { a ( NUM_ ) ; }")
    assert not PublishedTest([Pair(method, "", (UNKNOWN,))]).has(("go",), ["."], "")
