"""The subsets as data, and found: published files, the shared ones, and a folder of neither."""

import gzip
import json
from pathlib import Path

import pytest

from data_prep.gencodesearchnet.records import example, write_raw
from data_prep.gencodesearchnet.subsets import EQUAL, POOLS, SUBSETS, find_subsets
from tests.data_prep.gencodesearchnet.shared_data import shared

PAIRS = [example("a", "A"), example("b", "B")]

# pairs, first words of the first text, first words of the last code
REAL = {
    "cosqa_released": (10_293, "Writes a Boolean", "def _check_env_var ("),
    "cosqa_fixed": (779, "loading a series of images", "def _unzip_handle ("),
    "ruby": (38, "Delete all copies", "def perform file_infos"),
    "go": (152, "SetMaxStructPoolSize sets", "func ( c * Cluster )"),
    "java": (482, "Test whether find", "public void add ( double"),
    "javascript": (272, "string . max", "function ( ) { //<debug"),
    "php": (407, "Read the next", "protected function arguments"),
    "statcodesearch": (749, "2. compare model", "strip.text.x ="),
}


def test_the_subsets_are_those_of_the_paper() -> None:
    published = [entry for entry in SUBSETS if entry.name != "cosqa_fixed"]
    assert sum(entry.pairs for entry in published) == 108_926
    assert len({entry.language for entry in SUBSETS}) == 7
    of = {
        kind: [entry.name for entry in SUBSETS if kind in entry.generalisation]
        for kind in ("robustness", "cross-lingual", "domain")
    }
    assert of == {
        "robustness": ["adv", "cosqa_released", "cosqa_fixed"],
        "cross-lingual": ["ruby", "go", "java", "javascript", "php", "statcodesearch"],
        "domain": ["statcodesearch"],
    }


@pytest.mark.parametrize("end", ["", ".gz"])
def test_published_files_are_found(tmp_path: Path, end: str) -> None:
    names = ("adv", "cosqa", "ruby", "go", "java", "javascript", "php", "statcodesearch")
    for row, name in enumerate(names):
        write_raw(tmp_path / f"test_{name}.jsonl{end}", [*PAIRS, example(name, "x")] * (row + 1))
    found, missing = find_subsets(tmp_path)
    assert missing == ["cosqa_fixed"]
    assert [subset.name for subset in found] == [entry.name for entry in SUBSETS if entry.name != "cosqa_fixed"]
    assert [subset.texts[2] for subset in found] == [f"{name} " for name in names]
    assert found[2].codes == (" A", " B", " x") * 3
    assert found[2].examples == (*PAIRS, example("ruby", "x")) * 3
    assert found[2].origin == f"test_ruby.jsonl{end}: 9 pairs; published: 2,279"
    assert not found[2].dropped


def test_published_files_go_before_others_and_drops_are_told(tmp_path: Path) -> None:
    write_raw(tmp_path / "test_go.jsonl", PAIRS * 50)
    with (tmp_path / "test_go.jsonl").open("a") as file:
        file.write('{"input": "no separator", "target": 1, "target_options": ["no_match", "match"]}\n')
    for name in ("go", "php"):
        path = tmp_path / f"csn_cloze/{name}.jsonl.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps({"query": ["q"], "tokens": ["t"]}).encode()))
    (go, php), missing = find_subsets(tmp_path)
    assert (go.name, len(go.texts), go.dropped) == ("go", 100, {"no separator": 1})
    assert (php.name, php.texts, php.codes) == ("php", ("q ",), (" t",))
    assert php.origin == "csn_cloze/php.jsonl.gz (csn_cloze, not the CSN test): 1 pairs; published: 28,391"
    assert missing == ["adv", "cosqa_released", "cosqa_fixed", "ruby", "java", "javascript", "statcodesearch"]


def test_cosqas_training_file_gives_what_the_paper_means(tmp_path: Path) -> None:
    row = {"doc": "q", "code": "raw", "code_tokens": "c", "docstring_tokens": "d"}
    rows = [row | {"label": 1}, row | {"label": 0}, row | {"label": 1}]
    (tmp_path / "cosqa-train.json").write_text(json.dumps(rows))
    (subset,), _ = find_subsets(tmp_path)
    assert (subset.name, subset.texts, subset.codes) == ("cosqa_fixed", ("q ",) * 2, (" c",) * 2)
    assert subset.dropped == {"no match (label 0)": 1}


@pytest.mark.parametrize("name", ["", "nothing"])
def test_a_folder_without_files_is_refused_with_their_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no folder with files of GenCodeSearchNet") as error:
        find_subsets(tmp_path / name)
    for expected in ("test_adv.jsonl, ", "cosqa-train.json, ", "test_php.jsonl, ", "docs/gencodesearchnet.md"):
        assert expected in str(error.value)
    assert len(str(error.value)) - len(str(tmp_path / name)) < 300


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_ruby.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"test_ruby.jsonl:1: expected a text in 'input'"):
        find_subsets(tmp_path)


def test_real_subsets_have_the_known_counts() -> None:
    cloze = [f"csn_cloze/{name}.jsonl.gz" for name in ("ruby", "go", "java", "javascript", "php")]
    cosqa = [f"cosqa/{name}.jsonl.gz" for name in ("qa_dev", "retrieval_test_500", "gencsn_mrr_test")]
    found, missing = find_subsets(shared(*cloze, *cosqa, "statcodesearch/test_70.jsonl.gz"))
    subsets = {subset.name: subset for subset in found}
    assert missing == ["adv"]
    assert {name: len(subset.texts) for name, subset in subsets.items()} == {name: row[0] for name, row in REAL.items()}
    assert [name for name, subset in subsets.items() if "not the CSN test" in subset.origin] == list(REAL)[2:7]
    for name, (_, first, last) in REAL.items():
        assert subsets[name].texts[0].startswith(first)
        assert subsets[name].codes[-1].startswith(f" {last}")
    assert subsets["cosqa_fixed"].dropped == {"no match (label 0)": 291, EQUAL: 20}
    assert sum(subset.dropped.total() for subset in found) == 311
    assert len(set(subsets["cosqa_released"].examples)) == 4_545
    assert sum(not text.strip() for text in subsets["cosqa_released"].texts) == 57
    assert len(set(subsets["cosqa_fixed"].codes)) == 697
    assert all(text.endswith(" ") for subset in found for text in subset.texts)
    assert all(code.startswith(" ") for subset in found for code in subset.codes)


def test_all_pairs_of_statcodesearch_belong_to_projects(tmp_path: Path) -> None:
    rows = "Idx,Comment,Code,Source\n1 a.R 0,plot it,plot(x),osf/1\n1 b.R 0,fit it,lm(y),osf/1\n2 c.R 0,t,u,osf/2\n"
    (tmp_path / "statcodesearch_1k_final.csv").write_text(rows)
    write_raw(tmp_path / "test_go.jsonl", [*PAIRS, example("c", "A")])
    (go, statistics), _ = find_subsets(tmp_path)
    assert statistics.texts == ("plot it ", "fit it ", "t ")
    assert statistics.groups == ("osf/1", "osf/1", "osf/2")
    assert go.groups == go.codes == (" A", " B", " A")  # where no project is known, equal codes


def pool_files(folder: Path, golds: tuple[object, ...]) -> Path:
    """CoSQA's retrieval test in small: codes 10, 20 and 30, and a query for each of ``golds``."""
    files = {
        "codebase_6267": [{"retrieval_idx": 10 * n, "code": f"code {n}"} for n in (1, 2, 3)],
        "retrieval_test_500": [{"query": f"q{gold}", "code": "", "retrieval_idx": gold} for gold in golds],
    }
    (folder / "cosqa").mkdir()
    for name, rows in files.items():
        content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        (folder / f"cosqa/{name}.jsonl.gz").write_bytes(gzip.compress(content))
    return folder


def test_a_pool_has_codes_that_no_text_asks_for(tmp_path: Path) -> None:
    ((found,), missing) = find_subsets(pool_files(tmp_path, (30, 10, 30)), POOLS)
    assert missing == ["android"]
    assert (found.texts, found.codes) == (("q30 ", "q10 ", "q30 "), ("code 3", "code 1", "code 3"))
    assert (found.pool, found.golds) == (("code 1", "code 2", "code 3"), (2, 0, 2))


@pytest.mark.parametrize(
    ("gold", "message"),
    [(40, "no code with the retrieval_idx 40"), ("10", "expected a whole number in 'retrieval_idx")],
)
def test_a_row_whose_code_is_not_in_the_pool_is_named(tmp_path: Path, gold: object, message: str) -> None:
    with pytest.raises(ValueError, match=rf"retrieval_test_500.jsonl.gz:2: .*{message}"):
        find_subsets(pool_files(tmp_path, (30, gold)), POOLS)


def test_real_pools_have_the_known_sizes() -> None:
    names = ("cosqa/retrieval_test_500", "cosqa/codebase_6267", "ncs_android/questions_287")
    (cosqa, android), _ = find_subsets(shared(*(f"{name}.jsonl.gz" for name in names)), POOLS)
    assert (len(cosqa.texts), len(cosqa.pool), len({*cosqa.golds})) == (500, 6267, 472)
    assert (android.golds, android.pool) == (tuple(range(287)), android.codes)
