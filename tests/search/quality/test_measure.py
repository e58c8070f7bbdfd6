import shutil
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from data_prep.languages.identifiers import query_words
from search.engine import evidence
from search.engine.question import RankingSettings
from search.files.words import terms_of
from search.index.build import refresh
from search.index.index_file import open_index
from search.quality.command import quality_lines
from search.quality.measure import measure_quality, with_comments, without_documentation
from search.quality.questions import FEWEST, of_comments, of_members, of_names, of_returns
from tests.odd_files import KINDS, deadline, odd_thing


class Knows:
    """A model that scores one row of each query above all others."""

    def __init__(self, questions):
        self.golds = dict(zip(map(tuple, questions.words), questions.rows.tolist(), strict=True))

    def scores(self, words, rows):
        return np.where(rows == self.golds[tuple(words)], 1.0, 0.0).astype(np.float32)

    def alignment(self, *_):
        return None


def test_questions_are_comments_that_can_be_asked_each_once(index):
    found = of_comments(index, 0, 0)
    asked = [*map(tuple, found.words)]
    assert asked == [tuple(index.split.word_list("query", row)) for row in found.rows.tolist()]
    assert len(set(asked)) == len(asked) == len(found.rows) > 300
    assert index.asks[found.rows].all()
    assert {tuple(index.split.word_list("query", row)) for row in np.flatnonzero(index.asks).tolist()} == set(asked)
    drawn = of_comments(index, 50, 1).rows
    assert set(drawn.tolist()) < set(found.rows.tolist())
    assert len(drawn) == 50
    assert (of_comments(index, 50, 1).rows == drawn).all()
    assert (of_comments(index, 50, 2).rows != drawn).any()


def test_what_methods_return_is_asked_where_their_comment_does_not_say_it(index, java_folder):
    found = of_returns(index, java_folder, 0, 0)
    assert len(found.rows) > 100
    for row, words in zip(found.rows.tolist(), found.words, strict=True):
        text = index.split.text(row)
        lines = (java_folder / text.path).read_text("utf-8").splitlines()[: text.start_line]
        comment = lines[max(number for number, line in enumerate(lines) if "/**" in line) :]
        assert any(line.strip(" *").startswith("@return") for line in comment)
        assert len(words) >= 3
        assert not set(terms_of(words)) <= set(terms_of(index.split.word_list("query", row)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_is_no_file_any_more_is_told(index, java_folder, tmp_path, kind):
    root = shutil.copytree(java_folder, tmp_path / "tree")
    path = root / index.file(int(np.flatnonzero(index.asks)[0])).path
    path.unlink()
    odd_thing(kind, path)
    with deadline(), pytest.raises(OSError, match=r"not a regular file|links") as told:
        of_returns(index, root, 0, 0)
    assert told.value.filename == str(path)


def test_a_type_is_named_before_what_its_member_says(index):
    plain, found = of_comments(index, 50, 1), of_members(index, 50, 1)
    assert (found.rows == plain.rows).all()
    for row, text, words, own in zip(found.rows.tolist(), found.texts, found.words, plain.words, strict=True):
        owner, _, sentence = text.partition(" ")
        assert index.names[row].split(".")[-2] == owner
        assert sentence.split() == [*own]
        assert [*words] == [*query_words(owner), *own]


def test_names_are_asked_that_lead_to_one_row(index):
    found = of_names(index, 0, 0)
    assert len(found.rows) > 300
    rows_of = defaultdict(list)  # a name, or its end behind a dot -> rows
    for row, each in enumerate(index.names):
        parts = each.split(".")
        for start in range(len(parts)):
            rows_of[".".join(parts[start:])].append(row)
    for row, name in zip(found.rows.tolist(), found.texts, strict=True):
        assert not index.file(row).test
        assert rows_of[name] == [row]
    drawn, unknown = of_names(index, 30, 0), RankingSettings(exact_name_boost=0.0, mention_boost=0.0)
    assert (measure_quality(index, {}, RankingSettings(), drawn)[0].ranks == 1).all()
    assert not (measure_quality(index, {}, unknown, drawn)[0].ranks == 1).all()


def test_a_row_that_is_named_is_looked_at_however_short_the_list(index, monkeypatch):
    monkeypatch.setattr(evidence, "FILES", 1)  # the best rows of files are looked at too, as those with passages
    few = RankingSettings(shortlist=1, phrases=0.0, phrases_of_file=0.0)
    named, asked = (
        measure_quality(index, {}, few, questions(index, 60, 0))[0].listed for questions in (of_names, of_comments)
    )
    assert named == 1
    assert asked < 1


def test_bm25_alone_ranks_without_comments_over_all_rows(index):
    questions, hidden = of_comments(index, 60, 0), with_comments(index, 0)
    alone = dict.fromkeys(
        ("test", "old", "deprecated", "constant", "files", "phrases", "phrases_of_file", "beside", "depth", "made"), 0.0
    )
    (found,) = measure_quality(hidden, {}, RankingSettings(**alone), questions)
    for row, words, rank in zip(questions.rows.tolist(), questions.words, found.ranks.tolist(), strict=True):
        scores = hidden.lexical.scores(words)
        best = np.sort(np.argpartition(-scores, 199)[:200])
        if row in best:
            assert rank == (scores[best] >= scores[row]).sum()
        else:
            assert rank > 200
    assert found.measures["mrr"] == pytest.approx(np.mean(1 / found.ranks))
    row, words = int(questions.rows[0]), questions.words[0]
    assert index.lexical.scores(words)[row] > hidden.lexical.scores(words)[row]


def test_comments_that_can_be_read_answer_what_they_say(index, java_folder):
    """A word of a comment counts as often as is said."""
    questions = of_returns(index, java_folder, 60, 0)
    mrrs = [
        measure_quality(with_comments(index, n), {}, RankingSettings(), questions)[0].measures["mrr"] for n in (0, 3)
    ]
    assert mrrs[1] > mrrs[0]
    assert (with_comments(index, RankingSettings().comments).lexical.gains == index.lexical.gains).all()


def test_a_model_that_knows_the_answers_leads(index):
    questions = of_comments(index, 60, 0)
    knows = {"knows": Knows(questions)}
    bm25, found = measure_quality(with_comments(index, 0), knows, RankingSettings(weight=1.0), questions)
    assert found.lead.mean == pytest.approx(found.measures["mrr"] - bm25.measures["mrr"])
    assert found.lead.mean > 0.2
    assert found.lead.p_value < 0.01
    assert (found.ranks[bm25.ranks <= 100] == 1).all()
    lines = quality_lines([bm25, found], questions.source, len(index))
    assert lines[0].startswith(f"60 methods whose comment became a query, each ranked among {len(index):,}")
    assert f"{found.measures['mrr']:.3f}" in lines[3]


def test_too_few_questions_are_refused(index):
    few = np.zeros_like(index.asks)
    few[of_comments(index, 0, 0).rows[: FEWEST - 1]] = 1
    with pytest.raises(ValueError, match=f"expected {FEWEST} or more methods .* found {FEWEST - 1}"):
        of_comments(replace(index, asks=few), 0, 0)


def test_sources_without_documentation_have_neither_comments_nor_docstrings(tmp_path):
    code = tmp_path / "code"
    code.mkdir()
    (code / "box.py").write_text(
        'class Box:\n    """Keeps things dry."""\n\n    def open_it(self, key):\n        """Open the lid."""\n'
        '        # turn it twice\n        return key + "# no comment"\n'
    )
    (code / "Box.java").write_text("class Box {\n  /** Shuts the lid. */\n  int shut() { return 1; /* once */ }\n}\n")
    refresh(code, tmp_path / "index", processes=1, tell=lambda *_: None, recorded=False)
    index = open_index(tmp_path / "index")
    bare = without_documentation(index)
    told = ("dry", "lid", "twice", "once")
    sources = "\n".join(index.split.text(row).source for row in range(len(index.split)))
    left = "\n".join(bare.split.text(row).source for row in range(len(bare.split)))
    assert all(word in sources for word in told)
    assert not [word for word in told if word in left]
    assert 'key + "# no comment"' in left
    assert "int shut() { return 1;" in left
    assert bare.split.words is index.split.words
