"""The study of pairs: outcomes whatever the order, answers that are asked for and saved."""

from pathlib import Path

import pytest

from evaluation.significance import wilson
from experiments.context.study import Comparison, Shown, Study, ask, load_study, outcome_page

ONE, OTHER = Shown("<b>one()</b>", "u1"), Shown("other()", "u2")


def comparison(answer: str = "", *, left_is_first: bool = True, same: bool = False) -> Comparison:
    return Comparison("go", "<script>q", "a & b", ONE, ONE if same else OTHER, left_is_first, answer)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Study("one", "two", [comparison(same=True), comparison(), comparison(left_is_first=False)]).save(
        tmp_path / "s.json"
    )
    return tmp_path / "s.json"


def test_an_outcome_is_that_of_the_second_run_in_any_order():
    found = [comparison(answer, left_is_first=first).outcome for answer in ("left", "right") for first in (True, False)]
    assert found == ["lose", "win", "win", "lose"]
    assert (comparison("tie").outcome, comparison("incoherent").outcome, comparison().outcome) == (
        "tie",
        "incoherent",
        "",
    )
    assert comparison(same=True).outcome == "tie"


def test_the_interval_is_of_wins_among_decided_ones():
    found = [comparison("right")] * 8 + [comparison("left")] * 2 + [comparison("tie")] * 5 + [comparison("incoherent")]
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)  # 8 in 10
    assert "go           win 53.3 %, lose 13.3 %, tie 33.3 %; incoherent 1; wins among decided 0.80" in outcome_page(
        Study("one", "two", found)
    )
    assert "win 0.0 %, lose 0.0 %, tie 100.0 %; incoherent 0; wins among decided 0.50 (0.00 to 1.00)" in outcome_page(
        Study("one", "two", [comparison("tie")])
    )


def test_answers_are_asked_for_until_there_are_none_and_saved_at_once(path):
    typed = iter(["", "no", " Left\n"])

    def stopping() -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    ask(path, stopping)
    assert [each.answer for each in load_study(path).comparisons] == ["", "left", ""]
    assert load_study(path).open == [2]
    ask(path, lambda: "tie")
    assert [each.outcome for each in load_study(path).comparisons] == ["tie", "lose", "tie"]
    ask(path, lambda: pytest.fail("nothing is left to be asked"))


def test_what_is_shown_does_not_tell_the_runs(path):
    shown = str(load_study(path).comparisons[1])
    assert [*map(shown.index, ("<script>q", "a & b", ONE.code, OTHER.code))] == sorted(
        map(shown.index, ("<script>q", "a & b", ONE.code, OTHER.code))
    )
    assert "u1" not in shown
    assert "one\n" not in shown


def test_a_damaged_study_is_refused(path):
    path.write_text('{"first": "a"}')
    with pytest.raises(ValueError, match="second"):
        load_study(path)
