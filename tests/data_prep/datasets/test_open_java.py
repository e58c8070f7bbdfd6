"""Open Java pairs: the known counts of a tenth of the real files, and small ones made here for every rule and fault."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from data_prep.config import DataConfig
from data_prep.datasets.open_java import FILES, OpenJava
from data_prep.prepare import prepare
from data_prep.records import SPLITS, WORD_FIELDS, Pair
from data_prep.store.prepared_data import PreparedData, open_prepared
from tests.evaluation.real_data import SHARED

REPOSITORY = Path(__file__).resolve().parents[3]

ROWS = {"rows of deepcs_example": 1_000, "rows of tlcodesum": 1_744, "rows of r252": 2_391}
LEFT_OUT = {
    "in a published test": 137,
    "not one Java method": 21,
    "no name or no tokens": 27,
    "same query and code": 26,
    "inherited documentation": 2,
    "short documentation": 83,
    "short method": 10,
    "test": 161,
    "constructor": 113,
    "standard method": 75,
}
PAIRS = {"deepcs_example": 879, "tlcodesum": 1_412, "r252": 2_189}
"""All of each tenth row of a real file."""

DEEPCS, TLCODESUM, R252 = "deepcs_example/pairs.jsonl.gz", "tlcodesum/valid.jsonl.gz", "r252/train.jsonl.gz"
ROW: dict[str, dict[str, Any]] = {
    DEEPCS: {
        "query": ["return", "the", "size", "of", "this", "list"],
        "code": "public int size ( ) { return count ( \"a b\" ) ; }",
        "repo": "1_me_Lists",
        "file": "src/main/java/LinkedList.java",
        "eval_overlap": [],
    },
    TLCODESUM: {
        "query": ["doesn", "'", "t", "close", "it", ",", "e", ".", "g", ".", "a", "file", ".", "never", "fails", "."],
        "code": "void close ( InputStream in ) { if ( _BOOL ) { in . skip ( _NUM ) ; free ( _STR ) ; } }",
        "eval_overlap": [],
    },
    R252: {
        "query": ["returns", "current", "rate", "limit"],
        "name": ["get", "mb", "limit2"],
        "tokens": ["rate", "thread", "rate", "c", "field0"],
        "api": ["string.substring.trim", "arraylist.new"],
        "eval_overlap": [],
    },
}  # fmt: skip


def write(root: Path, name: str, *rows: object) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def read(root: Path, **settings: Any) -> tuple[list[Pair], dict[str, int]]:
    raw = OpenJava(DataConfig(path=str(root), **settings))
    splits = raw.pairs()
    assert set(splits) == {"train"}
    return list(splits["train"]), raw.counts


def part(name: str) -> list[dict[str, Any]]:
    """Each tenth row of a real file."""
    with gzip.open(SHARED / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in islice(lines, 0, None, 10)]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> PreparedData:
    if lacking := [name for name in FILES if not (SHARED / name).is_file()]:
        pytest.skip(f"needs {', '.join(lacking)} beside the repository, in ../shared/data")
    root = tmp_path_factory.mktemp("prepared")
    for name in FILES:
        write(root / "part", name, *part(name))
    program = (
        "from data_prep.prepare import prepare; from data_prep.config import DataConfig\n"
        f"config = DataConfig(path={str(root / 'part')!r}, root={str(root)!r})\n"
        "prepare('open_java', config, command='', say=print)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, check=True)  # unchecked shapes
    return open_prepared(root / "open_java")


def test_real_files_have_the_known_counts(real: PreparedData) -> None:
    pairs = sum(PAIRS.values())
    left_out = {f"left out ({reason})": count for reason, count in LEFT_OUT.items()}
    assert real.manifest["counts"] == {**ROWS, **left_out, "pairs": pairs}
    assert sum(ROWS.values()) == sum(LEFT_OUT.values()) + pairs
    assert {name: len(real.splits[name]) for name in SPLITS} == {"train": pairs, "valid": 0, "test": 0}
    train = real.splits["train"]
    texts = [train.text(row) for row in range(len(train))]
    folders = Counter(text.path.split("/")[0] if text.path in FILES else "deepcs_example" for text in texts)
    assert folders == PAIRS
    assert (real.manifest["missing_files"], real.manifest["broken_files"]) == ([], [])


def test_the_first_and_last_real_pairs(real: PreparedData) -> None:
    train = real.splits["train"]
    first, last = ({field: train.word_list(field, row) for field in WORD_FIELDS} for row in (0, -1))
    assert first["query"][:4] == ["determine", "whether", "the", "specified"]
    assert first["name"] == first["tokens"] == ["contains", "key"]
    assert first["api"] == ["SymbolTable", "containsKey"]
    assert first["ast"][:3] == ["method_declaration", "modifiers", "boolean_type"]
    assert train.text(0).path.endswith("coref/src/LBJ2/IR/SymbolTable.java")
    assert last["query"][:4] == ["tests", "string", "blank", "null"]
    assert last["name"] == ["is", "blank"]
    assert last["tokens"] == ["code", "point", "length", "util", "whitespace", "string"]
    assert (last["api"], last["ast"]) == (["string", "length"] * 2, [])
    assert train.text(len(train) - 1).start_line == 152


def test_every_flagged_row_is_left_out_and_no_pair_stands_twice(real: PreparedData) -> None:
    flagged = sum(bool(row["eval_overlap"]) for name in FILES for row in part(name))
    assert flagged == LEFT_OUT["in a published test"]
    train = real.splits["train"]
    keys = Counter(
        tuple(train.words[field][row].tobytes() for field in ("query", "name", "tokens", "api"))
        for row in range(len(train))
    )
    assert max(keys.values()) == 1


def test_code_is_read_like_that_of_a_file(tmp_path: Path) -> None:
    write(tmp_path, DEEPCS, ROW[DEEPCS])
    ((pair,), counts) = read(tmp_path)
    assert counts == {"rows of deepcs_example": 1}
    method = pair.method
    assert pair.query == ("return", "the", "size", "of", "this", "list")
    assert method.source.splitlines() == ["public int size ( ) {", '    return count ( "a b" ) ;', "}"]
    assert (method.origin, method.path) == ("open_java", "1_me_Lists/src/main/java/LinkedList.java")
    assert (method.start_line, method.end_line, method.type_name, method.name) == (1, 3, "LinkedList", "size")
    assert {field: method.fields[field] for field in ("name", "tokens", "api")} == {
        "name": ("size",),
        "tokens": ("count",),
        "api": ("LinkedList", "count"),
    }


def test_statement_trees_are_those_of_code(tmp_path: Path) -> None:
    for name, row in ROW.items():
        write(tmp_path, name, row)
    found = {pair.method.path: pair.words("statements") for pair in read(tmp_path, statements=True)[0]}
    assert found["1_me_Lists/src/main/java/LinkedList.java"][0] == (
        "MethodDeclaration(Modifier(public))(BasicType(int))(size)"
    )
    assert found[TLCODESUM][1] == "IfStatement(MemberReference(BOOL_))"
    assert found[R252] == ()


def test_the_published_profile_is_refused_for_rows_without_code() -> None:
    with pytest.raises(ValueError, match=r"no --data\.profile=jcg"):
        OpenJava(DataConfig(profile="jcg"))


def test_literals_sentences_and_the_lost_class_of_tlcodesum(tmp_path: Path) -> None:
    write(tmp_path, TLCODESUM, ROW[TLCODESUM])
    ((pair,), _) = read(tmp_path)
    assert pair.query_text == "doesn't close it, e.g. a file."
    assert pair.query == ("doesnt", "close", "it", "e", "g", "a", "file")
    assert pair.method.fields["tokens"] == ("in", "skip", "free")
    assert pair.method.fields["api"] == ("InputStream", "skip")
    assert (pair.method.path, pair.method.type_name) == (TLCODESUM, "")
    assert 'skip ( 0 ) ;\n        free ( "" ) ;' in pair.method.source


def test_lists_of_r252_are_split_like_identifiers(tmp_path: Path) -> None:
    write(tmp_path, R252, ROW[R252])
    ((pair,), _) = read(tmp_path)
    assert pair.query == ("returns", "current", "rate", "limit")
    assert dict(pair.method.fields) == {
        "name": ("get", "mb", "limit", "2"),
        "tokens": ("rate", "thread", "field"),
        "api": ("string", "substring", "trim", "arraylist", "new"),
    }
    assert (pair.method.name, pair.method.path, pair.method.start_line) == ("getMbLimit2", R252, 1)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        (DEEPCS, {"eval_overlap": ["jcg_tabcs"]}, "in a published test"),
        (R252, {"eval_overlap": ["csn_tabcs", "jcg_tabcs"]}, "in a published test"),
        (DEEPCS, {"code": "public int size ( ) { return"}, "not one Java method"),
        (TLCODESUM, {"code": "abstract int size ( ) ;"}, "not one Java method"),
        (TLCODESUM, {"code": "x"}, "not one Java method"),
        (DEEPCS, {"code": '@ Generated ( value = "a" ) int size ( ) { return 1 ; }'}, "generated code"),
        (DEEPCS, {"code": "LinkedList ( ) { clear ( ) ; go ( ) ; }"}, "constructor"),
        (DEEPCS, {"code": "int size ( ) { }"}, "short method"),
        (DEEPCS, {"query": ["go", "on"]}, "short documentation"),
        (DEEPCS, {"query": ["@param", "a", "b", "c"]}, "short documentation"),
        (DEEPCS, {"file": "src/test/java/LinkedList.java"}, "test"),
        (DEEPCS, {"code": "public int hashCode ( ) { return 1 ; }"}, "standard method"),
        (R252, {"name": ["hash", "code"]}, "standard method"),
        (R252, {"name": ["test", "it"]}, "test"),
        (R252, {"query": ["go", "on"]}, "short documentation"),
        (R252, {"tokens": ["a"]}, "no name or no tokens"),
        (R252, {"name": ["_"]}, "no name or no tokens"),
    ],
)
def test_what_is_left_out_is_counted_by_reason(tmp_path: Path, name: str, change: dict[str, Any], reason: str) -> None:
    write(tmp_path, name, ROW[name] | change, ROW[name])
    pairs, counts = read(tmp_path)
    assert len(pairs) == 1
    assert counts == {f"rows of {name.split('/')[0]}": 2, f"left out ({reason})": 1}


def test_the_same_query_and_code_is_kept_once_over_all_files(tmp_path: Path) -> None:
    other = ROW[R252] | {"query": ["another", "query", "for", "it"]}
    write(tmp_path, R252, ROW[R252], other, ROW[R252])
    write(tmp_path, "r252/valid.jsonl.gz", ROW[R252] | {"api": []}, ROW[R252] | {"name": ["get", "mb", "limit", "2"]})
    pairs, counts = read(tmp_path)
    assert [(pair.method.path, pair.method.start_line) for pair in pairs] == [
        (R252, 1), (R252, 2), ("r252/valid.jsonl.gz", 1),
    ]  # fmt: skip
    assert counts == {"rows of r252": 5, "left out (same query and code)": 2}


def test_settings_of_the_filters_hold(tmp_path: Path) -> None:
    for name, row in ROW.items():
        write(tmp_path, name, row)
    assert [pair.method.name for pair in read(tmp_path)[0]] == ["size", "close", "getMbLimit2"]
    assert [pair.method.name for pair in read(tmp_path, min_query_words=5)[0]] == ["size", "close"]
    assert [pair.method.name for pair in read(tmp_path, min_method_lines=5)[0]] == ["close", "getMbLimit2"]


def test_it_works_with_some_files_and_names_the_others(tmp_path: Path) -> None:
    write(tmp_path / "raw", R252, ROW[R252])
    said: list[str] = []
    data = prepare("open_java", DataConfig(path=str(tmp_path / "raw"), root=str(tmp_path)), command="", say=said.append)
    assert data.manifest["missing_files"] == [name for name in FILES if name != R252]
    assert "1 rows of r252; deepcs_example/pairs.jsonl.gz is not used: it is not there; " in said[1]
    assert all("\n" not in line for line in said)


def test_without_any_file_one_line_tells_what_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prepare", "open_java", f"--data.root={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"open_java needs one or more of its three releases in {tmp_path}/raw/open_java: git clone https://" in error


@pytest.mark.parametrize(
    ("name", "row", "reason"),
    [
        (
            DEEPCS,
            {key: value for key, value in ROW[DEEPCS].items() if key != "repo"},
            "expected a text in 'repo', not None",
        ),
        (TLCODESUM, ROW[TLCODESUM] | {"code": ["a"]}, "expected a text in 'code', not ['a']"),
        (R252, ROW[R252] | {"api": "a.b"}, "expected a list of words in 'api', not 'a.b'"),
        (R252, ROW[R252] | {"tokens": ["a", 1]}, "expected a list of words in 'tokens', not ['a', 1]"),
        (
            R252,
            {key: value for key, value in ROW[R252].items() if key != "eval_overlap"},
            "words in 'eval_overlap', not None",
        ),
    ],
)
def test_a_row_that_lacks_something_is_named(tmp_path: Path, name: str, row: object, reason: str) -> None:
    path = write(tmp_path, name, ROW[name], row)
    with pytest.raises(ValueError, match=r"jsonl\.gz:2") as error:
        read(tmp_path)
    assert reason in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_broken_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    half = ROW[R252] | {"query": ["a", "b\udc00"]}
    write(tmp_path, R252, ROW[R252], half, [1])
    source = OpenJava(DataConfig(str(tmp_path)))
    assert len(source.pairs()["train"]) == 1
    assert source.counts == {
        "rows of r252": 2,
        "left out (half a surrogate pair)": 1,
        "left out (no JSON object)": 1,
    }


def test_a_damaged_file_is_named_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "raw", TLCODESUM, *[ROW[TLCODESUM]] * 50)
    path.write_bytes(path.read_bytes()[:-20])
    assert main(["prepare", "open_java", f"--data.path={tmp_path / 'raw'}", f"--data.root={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert f"{path} is damaged after line" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "open_java").exists()
