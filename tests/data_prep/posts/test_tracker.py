"""A tracker's tickets become the tables of a dump, and are read back by the ordinary reader."""

import json

import pytest

from data_prep.files.json_text import json_lines
from data_prep.posts.sets import PostsConfig, PostSets
from data_prep.posts.store import prepare_posts
from data_prep.posts.tracker import markdown_to_html, write_tracker
from tests.evaluation.real_data import SHARED

MARKDOWN = "Say `a<b` & go:\n\n```python\nx = '<&'\n\n~~~\n```\nThen ``y``.\n~~~~\nlast *block*"
TICKETS = [
    {"id": 3, "title": "It \u0007 fails", "body": MARKDOWN, "best_answer": "Fixed by `z`.", "tags": ["c: a|b", "bug"]},
    {"id": 5, "title": "Again", "body": "```\nx = '<&'\n```", "duplicate_of": [3], "created": "2007-01-19T21:27:32Z"},
    {"id": 6, "title": "See", "body": "", "best_answer": None},
]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_markdown():
    html = markdown_to_html(MARKDOWN)
    assert html == (
        "<p>Say <code>a&lt;b</code> &amp; go:</p>\n\n<pre><code>x = '&lt;&amp;'\n\n~~~\n</code></pre>\n\n"
        "<p>Then <code>y</code>.</p>\n\n<pre><code>last *block*\n</code></pre>"
    )


def test_round_trip(tmp_path):
    links = write_lines(tmp_path / "links.jsonl", [{"query": 6, "original": 3}])
    tickets = write_lines(tmp_path / "tickets.jsonl", TICKETS)
    counts = write_tracker(tickets, links, tmp_path / "bugs", {"site": "bugs", "licence": "GPL"})
    assert counts == {"questions": 3, "answers": 1, "duplicate links": 1, "weak links": 1}
    config = PostsConfig(path=(str(tmp_path / "bugs"),), tag="", inline=False, root=str(tmp_path / "data"))
    first, second, third = prepare_posts(config, command="", say=lambda _: None).posts
    assert first.title == "It \N{REPLACEMENT CHARACTER} fails"
    assert first.tags == ("c: a b", "bug")
    assert first.code == "x = '<&'\n\n~~~\nlast *block*"
    assert first.best_answer == "Fixed by z."
    assert (second.duplicate_of, third.linked_to) == ((3,), (3,))
    assert second.creation_date == "2007-01-19T21:27:32"


def test_broken_lines_are_left_out_and_counted(tmp_path):
    tickets, links = tmp_path / "tickets.jsonl", tmp_path / "links.jsonl"
    tickets.write_text("\n".join(["", '{"id": 3', '{"id": 5, "title": "a"}', '{"id": 6, "title": "b"}']))
    links.write_text('{"query": 6, "original": 5}\n{"query"\n')
    counts = write_tracker(tickets, links, tmp_path / "bugs", {})
    assert (counts["questions"], counts["weak links"], counts["lines left out, blank or no JSON"]) == (2, 1, 3)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"title": "a"}, "id takes"),
        ({"id": "3"}, "id takes"),
        ({"id": 1, "body": 3}, "body takes a text"),
        ({"id": 1, "duplicate_of": ["2"]}, "duplicate_of takes"),
    ],
)
def test_lines_that_are_no_tickets(tmp_path, row, said):
    with pytest.raises(ValueError, match=rf"jsonl:1: {said}"):
        write_tracker(write_lines(tmp_path / "t.jsonl", [row]), None, tmp_path / "out", {})
    assert not (tmp_path / "out").exists()


def test_the_sagemath_tracker_has_the_sets_that_its_description_states(tmp_path):
    source = SHARED / "sage_trac"
    if not (source / "tickets.jsonl.gz").is_file():
        pytest.skip("needs the tracker sage_trac/tickets.jsonl.gz beside the repository, in ../shared/data")
    rows = [row for _, row in json_lines(source / "tickets.jsonl.gz")]
    linked = {number for row in rows if row["duplicate_of"] for number in (row["id"], *row["duplicate_of"])}
    tickets = write_lines(tmp_path / "tickets.jsonl", [row for row in rows if row["id"] in linked])
    out = tmp_path / "sage_trac"
    counts = write_tracker(tickets, source / "weak_links.jsonl.gz", out, {})
    assert (len(rows), counts["duplicate links"], counts["weak links"]) == (34_440, 885, 418)
    config = PostsConfig(path=(str(out),), tag="", inline=False, root=str(tmp_path / "data"))
    sets = PostSets(prepare_posts(config, command="", say=lambda _: None).posts, config)
    assert (len(sets.evaluation), len(sets.pretraining)) == (405, 70)
    assert sum(bool(sets.posts[query.row].error) for query in sets.evaluation) == 130
    held = {sets.posts[row].id for row in sets.held_out}
    assert not held & {sets.posts[row].id for row in (*sets.training, *sets.dev_same_post)}
