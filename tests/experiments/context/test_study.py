"""The study of pairs: outcomes whatever the order, a page that escapes, answers that are saved."""

import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from experiments.context.study import Comparison, Shown, Study, StudyServer, load_study, outcome_page, page, win_share

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
    assert win_share(8, 2) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)  # Wilson's, of 8 in 10
    assert "go           win 53.3 %, lose 13.3 %, tie 33.3 %; incoherent 1; wins among decided 0.80" in outcome_page(
        Study("one", "two", found)
    )
    assert win_share(0, 0) == (0.5, 0.0, 1.0)


def test_the_page_escapes_and_does_not_tell_the_runs(path):
    found = page(load_study(path), "t")
    assert all(escaped in found for escaped in ("&lt;script&gt;q", "&lt;b&gt;one()", "a &amp; b"))
    assert "<script>" not in found
    assert "1 of 3 done" in found


def test_answers_are_saved_and_only_this_machine_is_served(path):
    with StudyServer(path, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/"

        def status(fields: dict[str, str] | None = None, host: str = "") -> int:
            data = None if fields is None else urllib.parse.urlencode(fields).encode()
            request = urllib.request.Request(address, data, {"Host": host} if host else {})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                error.close()
                return error.code

        try:
            assert status() == 200
            assert status(host="evil.example") == 403
            good = {"token": server.token, "place": "1", "answer": "left"}
            assert status({**good, "token": "x"}) == 403
            assert (
                status({**good, "place": "9"})
                == status({**good, "answer": "no"})
                == status({**good, "place": "x"})
                == 400
            )
            assert status({**good, "answer": "x" * 5000}) == 413
            assert [*load_study(path).open] == [1, 2]
            assert status(good) == 200
        finally:
            server.shutdown()
            thread.join()
    assert [*load_study(path).open] == [2]
    assert load_study(path).comparisons[1].answer == "left"


def test_a_damaged_study_is_refused(path):
    path.write_text('{"first": "a"}')
    with pytest.raises(ValueError, match="second"):
        load_study(path)
