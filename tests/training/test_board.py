import html
import re
import warnings

import pytest
import torch
from google.protobuf import text_format
from tensorboard.backend.event_processing.event_accumulator import TENSORS, EventAccumulator
from tensorboard.plugins.hparams.metadata import EXPERIMENT_TAG, SESSION_END_INFO_TAG, SESSION_START_INFO_TAG
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from training.board import Board, Sample
from training.drawing import alignment_picture


@pytest.fixture
def board(tmp_path):
    board = Board(tmp_path)
    board.open(0)
    yield board
    board.close()


def events(board):
    board.flush()
    return EventAccumulator(str(board.folder), size_guidance={TENSORS: 0}).Reload()


def points(read, tag):
    return [(event.step, event.value) for event in read.Scalars(tag)]


def test_the_curves_stand_at_the_pairs_trained_on(board):
    for step in range(1, 51):
        board.training(step, step * 8, step / 4, learning_rate=0.5, gradient_norm=2.0, seconds=1.0 + step % 2)
    board.validation({"mrr": 0.5, "top1": 0.25})
    read = events(board)
    assert points(read, "train/loss") == [(8, 0.25), (200, 6.25), (400, 12.5)]
    assert points(read, "valid/mrr") == [(400, 0.5)]
    speeds = {200: 24 * 8 / 36, 400: 25 * 8 / 37}  # means since the point before
    assert dict(points(read, "train/pairs_per_second")) == pytest.approx(speeds)
    assert {"train/learning_rate", "train/gradient_norm"} <= set(read.Tags()["scalars"])


def test_after_a_resume_what_was_written_beyond_it_is_gone(tmp_path):
    first = Board(tmp_path)
    first.open(0)
    for step in (25, 50, 75):
        first.training(step, step * 8, float(step), 1.0, 1.0, 1.0)
    first.close()
    again = Board(tmp_path)
    again.open(400)
    again.training(75, 600, 7.5, 1.0, 1.0, 4.0)
    assert points(read := events(again), "train/loss") == [(200, 25.0), (400, 50.0), (600, 7.5)]
    assert points(read, "train/pairs_per_second")[-1] == (600, 50.0)
    again.close()


def test_hyper_parameters_and_results_are_in_the_run_itself(board):
    board.results({"model.width": 16, "train.schedule": "step", "model.flag": True}, {"mrr": 0.5}, {"mrr": 0.75})
    read = events(board)
    assert points(read, "test/mrr") == [(0, 0.5)]
    assert points(read, "valid_kept/mrr") == [(0, 0.75)]
    assert {SESSION_START_INFO_TAG, SESSION_END_INFO_TAG} <= set(read.summary_metadata)
    assert EXPERIMENT_TAG not in read.summary_metadata  # with it, TensorBoard does not begin with what differs
    assert not [path for path in board.folder.iterdir() if path.is_dir()]


def table(board):
    return events(board).Tensors("samples/text_summary")[0].tensor_proto.string_val[0].decode()


def test_misses_come_first_and_of_them_the_worst(board):
    board.samples("samples", [Sample(f"query{rank}", "code", rank) for rank in (1, 7, 2, 30)])
    assert re.findall(r"rank (\d+)<br>query\1", table(board)) == ["30", "7", "2", "1"]


def test_a_sample_is_shown_as_it_stands(board):
    code = '  /** <script>x</script> | `a` *b* _c_ # \\ ${d} [e](f) &amp; */\n    if (a<b) return "1";\n'
    board.samples("samples", [Sample("first | <b>*query*</b>", code, 3, "other()")])
    shown = table(board)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of a part of TensorBoard's own
        from tensorboard.plugin_util import markdown_to_safe_html
    page = markdown_to_safe_html(shown)
    assert page.count("<td>") == 3
    assert "<em>" not in page
    assert "<a " not in page
    assert "<code>" not in page
    assert "<script" not in page
    text = html.unescape(page.replace("<br>", "\n").replace("<td>", "").replace("</td>", "")).replace("\xa0", " ")
    assert "first | <b>*query*</b>" in text
    for line in code.strip().splitlines():
        assert line in text


def test_a_picture_is_an_event(board):
    words = ["a", "b", "c"]
    board.picture("alignment/0", alignment_picture(torch.eye(3).numpy(), words, words, words, "t"))
    assert [event.step for event in events(board).Images("alignment/0")] == [0]


def test_word_vectors_are_as_the_projector_reads_them(board):
    words = ["get", "a\tb\nc", ""]
    for _ in range(2):  # a second set replaces the first
        board.word_vectors({"query": (torch.arange(6.0).view(3, 2), words), "code": (torch.ones(1, 2), ["x"])})
    config = text_format.Parse((board.folder / "projector_config.pbtxt").read_text(), ProjectorConfig())
    assert [entry.tensor_name for entry in config.embeddings] == ["query", "code"]
    entry = config.embeddings[0]
    assert (board.folder / entry.tensor_path).read_text() == "0\t1\n2\t3\n4\t5\n"
    assert (board.folder / entry.metadata_path).read_text().splitlines() == ["get", "a b c", '""']
    with pytest.raises(ValueError, match="a word for each of 2 vectors of query, but got 1"):
        board.word_vectors({"query": (torch.ones(2, 2), ["x"])})
