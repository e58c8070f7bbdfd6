"""A search of several indexes against that of one index of all their files."""

import json
import shutil

import numpy as np
import pytest
import Stemmer
from repositories import commit, write
from serving import index_of

from cli.main import main
from data_prep.files.access import read_whole
from data_prep.languages.identifiers import split_identifier
from experiments.recipes.config import REPOSITORY
from search.engine.engine import Engine
from search.engine.file_ranking import FileWeights, file_ranking
from search.engine.question import RankingSettings
from search.files.words import terms_of
from search.index.index_file import open_index, read_head
from search.index.joint_index import JointBm25
from search.index.vector_encoding import update_vectors
from search.index.vectors import near_rows
from search.models.packed import reranker_maker
from search.repository_list import joined, open_member, read_list
from search.retrieval.word_index import WEIGHTS, Bm25Index, counts_by_norm, gains, idf

LICENCE = REPOSITORY / "LICENSE"
QUESTIONS = (
    "returns the base iterator of a stream",
    "close the pipeline",
    "sort elements by a comparator",
    "read all lines of a file",
    "JsonStore.save",
    "flatMap",
    "AbstractPipeline",
    "test of joining collectors",
)
PYTHON = {
    "store.py": '"""Stores."""\n\n\nclass JsonStore:\n    def save(self, path):\n        """Save all lines."""\n'
    "        path.write_text(self.text)\n",
    "tests/test_store.py": "def test_joining_lines():\n    assert JsonStore().save('x')\n",
}


@pytest.fixture(scope="module")
def halves(java_folder, tmp_path_factory):
    """A folder of files, and two folders with a half of them each, which have an index and vectors; and their list."""
    base = tmp_path_factory.mktemp("halves")
    files = sorted((java_folder / "java.base/java/util/stream").glob("*.java"))[:8]
    for number, file in enumerate(files):
        for name in ("whole", ("one", "two")[number % 3 == 0]):
            (base / name / "src").mkdir(parents=True, exist_ok=True)
            shutil.copy(file, base / name / "src")
    for name in ("whole", "two"):
        write(base / name, PYTHON)
    (base / "list.tsv").write_text("one\ntwo\n")
    for path in (base / "whole.index", *(each.index for each in read_list(base / "list.tsv"))):
        name = "whole" if path.name == "whole.index" else path.parent.name.partition("-")[0]
        index_of(base / name, path)
        update_vectors("", path, lambda *_: None)
    return base


def engines(base, model):
    """That of the whole and the joint one."""
    reranker_of = reranker_maker("") if model else lambda _: None
    whole = open_index(base / "whole.index")
    reranker = reranker_of(whole)
    path = base / "whole.index"
    retriever = near_rows(path, read_head(path).content, len(whole), "") if model else None
    joint = joined([open_member(each, reranker_of, near=model) for each in read_list(base / "list.tsv")])
    joint.ranking = RankingSettings(
        shortlist=10_000,  # else rows of equal scores at its end may differ
        depth=0.0,  # a half has folders with one entry that have more in the whole
    )
    alone = FileWeights(callers=0.0, around=0.0)  # a half knows no callers, nor files of a folder, in the other one
    one = Engine(whole, reranker, None, retriever).changed(joint.ranking, file_ranking(whole, alone))
    return one, joint.changed(joint.ranking, file_ranking(joint.index, alone))


def ranked(engine, hits):
    """The places of hits, without the names of repositories, and their scores."""
    texts = [engine.index.split.text(hit.row) for hit in hits]
    names = [engine.index.repository(hit.row) for hit in hits]
    return {
        (text.path.removeprefix(f"{name}/" if name else ""), text.start_line, engine.index.names[hit.row]): (
            hit.score,
            hit.lexical,
            hit.near or 0.0,
            hit.of_file,
        )
        for text, hit, name in zip(texts, hits, names, strict=True)
    }


@pytest.mark.parametrize("model", [False, True])
@pytest.mark.parametrize("by_file", [False, True])
def test_two_halves_rank_as_the_whole(halves, model, by_file):
    whole, joint = engines(halves, model)
    assert len(whole.index) == len(joint.index) > 100
    assert model == (joint.retriever is not None)
    for question in QUESTIONS:
        hits = [engine.search(question, top=1000, by_file=by_file) for engine in (whole, joint)]
        one, other = ranked(whole, hits[0]), ranked(joint, hits[1])
        assert one.keys() == other.keys()
        for place, scores in one.items():
            assert other[place] == pytest.approx(scores, rel=1e-4, abs=1e-4)


def test_rows_stand_at_the_lines_of_their_texts(halves):
    _, joint = engines(halves, False)
    split = joint.index.split
    texts = [split.text(row) for row in range(len(split))]
    assert [split.lines(row) for row in range(len(split))] == [(each.start_line, each.end_line) for each in texts]


def test_joint_bm25_has_the_gains_of_all_rows(halves):
    whole, joint = engines(halves, False)
    lengths = []
    for row in range(len(whole.index)):
        words = {field: whole.index.split.word_list(field, row) for field in WEIGHTS}
        lengths.append(_length(words))
    assert whole.index.lexical.average_length == pytest.approx(np.mean(lengths), rel=1e-4)
    assert joint.index.lexical.average_length == pytest.approx(np.mean(lengths), rel=1e-4)
    for term in terms_of(["stream", "returns", "pipelin", "json", "nothing-like-it"]):
        ours, theirs = joint.index.lexical.postings(term)[1], whole.index.lexical.postings(term)[1]
        assert np.sort(ours) == pytest.approx(np.sort(theirs), rel=1e-4)


def test_callers_are_those_of_an_index(halves):
    _, joint = engines(halves, False)
    parts = [member.index for member in joint.index.members]
    expected = np.concatenate([part.callers.scores(["stream"]) > 0 for part in parts])
    assert 0 < np.count_nonzero(expected) < len(joint.index.files)
    assert (joint.index.callers.scores(["stream"]) > 0).tolist() == expected.tolist()


def _length(words):
    """The number of terms of a row as BM25 counts them: repeated ones of a name each, others once a field."""
    found = WEIGHTS["name"] * len(words["name"])
    for field in ("tokens", "api", "query"):
        parts = [part for word in words[field] for part in (split_identifier(word) if field == "api" else (word,))]
        found += WEIGHTS[field] * len({*Stemmer.Stemmer("english").stemWords(parts)})
    return found


def test_a_count_by_its_norm_is_found_again():
    weights = idf(np.array([1, 5, 90]), 100)
    counts, norms = np.array([1, 3, 10]), np.array([0.2, 2.0, 7.0])
    assert counts_by_norm(gains(weights, counts, norms), weights) == pytest.approx(counts / norms)


def test_an_index_that_takes_no_part_changes_nothing(halves):
    """Statistics are those of what is searched: a third index is not seen."""
    one, two = (open_member(each, lambda _: None).index.lexical for each in read_list(halves / "list.tsv"))
    alone, both = JointBm25.over([one]), JointBm25.over([one, two])
    for term in ("list", "iterat", "none of them"):
        assert both.holders(term) == one.holders(term) + two.holders(term) == len(both.postings(term)[0])
    assert np.allclose(alone.scores(["stream"]), one.scores(["stream"]), rtol=1e-4)
    assert not np.allclose(both.scores(["stream"])[: one.size], one.scores(["stream"]), rtol=1e-2)
    assert isinstance(both, Bm25Index)


def test_hits_name_their_repository_and_its_licence(halves, tmp_path, capsys):
    shop = commit(tmp_path / "shop", {"LICENSE": read_whole(LICENCE), "pay.py": "def pay_invoice(bill):\n    bill()\n"})
    (tmp_path / "list.tsv").write_text(f"shop\tteam/shop\n{halves / 'two'}\n{tmp_path / 'none'}\n")
    assert main(["index", f"--list={tmp_path / 'list.tsv'}", "--processes=1"]) == 2
    capsys.readouterr()
    assert main(["search", "pay an invoice", f"--list={tmp_path / 'list.tsv'}", "--json", "--top=3"]) == 0
    told, error = capsys.readouterr()
    assert error.startswith("none: there is no index at ")
    assert len(error.splitlines()) == 1
    first = json.loads(told)["results"][0]
    assert (first["repository"], first["path"], first["license"]) == ("team/shop", "team/shop/pay.py", "MIT")
    assert shop
    within = [
        "search",
        "save all lines",
        f"--list={tmp_path / 'list.tsv'}",
        "--path=two/*",
        "--language=python",
        "--json",
    ]
    assert main(within) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert {each["repository"] for each in found} == {"two"}
    code = tmp_path / "like.py"
    code.write_text("def settle_invoice(bill):\n    bill()\n")
    assert main(["search", f"--snippet={code}", f"--list={tmp_path / 'list.tsv'}"]) == 0
    assert "shop/pay.py:1  team/shop" in capsys.readouterr().out


def test_a_list_without_an_index_is_one_line(tmp_path, capsys):
    (tmp_path / "list.tsv").write_text("a\n")
    assert main(["search", "x", f"--list={tmp_path / 'list.tsv'}"]) == 2
    assert "has an index: make them by" in capsys.readouterr().err.splitlines()[-1]
    assert main(["search", "x", f"--list={tmp_path / 'list.tsv'}", "--index=x"]) == 2
    assert "leave out --index" in capsys.readouterr().err
