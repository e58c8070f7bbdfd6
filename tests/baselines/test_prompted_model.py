import json
import logging
import re
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from baselines import chat_endpoint
from baselines.chat_endpoint import EndpointError
from baselines.prompted_model import (
    AnswerJournal,
    PromptedModel,
    PromptedModelConfig,
    matching_prompt,
    read_answer,
)
from data_prep.files.writing import sole_user
from modeling.ranker import Ranker
from tests.local_server import send, serving
from tests.odd_files import KINDS, deadline, odd_thing
from tests.raw_pairs import read

PAIRS = [(f" text {number} ", f" code{number}(x)") for number in range(6)]
KEY = "sk-very-secret-0123456789"


def completion(handler, answer: str | None) -> None:
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": answer}}]})
    send(handler, 200, body.encode(), Content_Type="application/json")


def right(handler, asked) -> None:
    """True where the numbers of text and code are the same."""
    text, code = re.search(r"text (\d) \[CODESPLIT\] code(\d)", _prompt(asked)).groups()
    completion(handler, str(text == code))


def _prompt(asked) -> str:
    return json.loads(asked.bodies[-1])["messages"][0]["content"]


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def config(tmp_path):
    def of(asked, **settings) -> PromptedModelConfig:
        place = {"url": f"http://127.0.0.1:{asked.port}/v1/", "journal": str(tmp_path / "kept" / "answers.jsonl")}
        return PromptedModelConfig("small", **place, first_wait=0.0, timeout=5.0, language="R", **settings)

    return of


def failing_first(times: int, fail):
    """``fail``, so often, then right answers."""

    def answer(handler, asked) -> None:
        if len(asked.requests) <= times:
            fail(handler, asked)
        else:
            right(handler, asked)

    return answer


def test_a_model_is_asked_as_the_paper_says(config):
    with serving(right) as asked:
        model = PromptedModel(config(asked))
        answers = model.answers([*PAIRS, (PAIRS[0][0], PAIRS[1][1])])
    assert answers == [True] * 6 + [False]
    assert asked.requests == [("POST", "/v1/chat/completions")] * 7
    body = json.loads(asked.bodies[0])
    assert body == {
        "model": "small",
        "max_tokens": 10,
        "messages": [{"role": "user", "content": matching_prompt("text 0", "code0(x)", "R")}],
    }
    assert "Authorization" not in asked.headers[0]


def test_prompts_say_what_the_input_is_and_what_is_wanted():
    comment = matching_prompt(" reads a file ", " read.csv(f) ", "R")
    assert "code comment [CODESPLIT] code" in comment
    assert "reads a file [CODESPLIT] read.csv(f)\n" in comment
    assert "R code" in comment
    assert "True or False" in comment
    query = matching_prompt("read file", "open(f)", "Python", "search query")
    assert "search query [CODESPLIT] code" in query
    assert "comment" not in query


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("True", True), (" false.", False), ("**TRUE**", True), ("Answer: False\n", False), ("True, it is true", True),
        ("", None), ("Yes", None), ("True or False", None), ("Untrue", None), ("truely", None), ("I cannot say", None),
    ],
)  # fmt: skip
def test_answers_are_read_with_tolerance(answer, read):
    assert read_answer(answer) is read


@pytest.mark.parametrize("said", ["Yes, they match", "", None, "maybe\u2028true or false"])
def test_nonsense_is_no_answer_and_is_kept(config, said):
    with serving(lambda handler, _: completion(handler, said)) as asked:
        model = PromptedModel(config(asked))
        assert model.answers(PAIRS[:2]) == [None, None]
        assert PromptedModel(config(asked)).answers(PAIRS[:2]) == [None, None]
    assert len(asked.requests) == 2


def test_answers_are_scores(config):
    with serving(lambda h, asked: completion(h, "hm") if "text 5" in _prompt(asked) else right(h, asked)) as asked:
        model = PromptedModel(config(asked))
        assert isinstance(model, Ranker)
        scores = model.over(*read([text for text, _ in PAIRS], [code for _, code in PAIRS]))
        found = scores(np.array([2, 5]), np.array([[2, 1], [5, 0]]))
    np.testing.assert_array_equal(found, [[1, 0], [np.nan, np.nan]])
    assert model.natural_threshold == 0.5


def slow(*_) -> None:
    time.sleep(1.5)


def html(handler, _) -> None:
    send(handler, 200, b"<html><body>True</body></html>", Content_Type="text/html")


def huge(handler, _) -> None:
    send(handler, 200, b'{"choices": [{"message": {"content": "True", "pad": "' + b" " * (2 << 20) + b'"}}]}')


def closing(handler, _) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def half(handler, _) -> None:
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices"')
    closing(handler, _)


def garbage(handler, _) -> None:
    handler.wfile.write(b"\xff\x00 no http\r\n\r\n")


def status(number: int, **headers):
    return lambda handler, _: send(handler, number, b'{"error": {"message": "not now"}}', **headers)


FAILURES = [
    *map(status, (429, 500, 502, 503, 504)), slow, html, huge, closing, half, garbage,
    lambda handler, _: send(handler, 200, b"[" * 5000), lambda handler, _: send(handler, 200, b'{"choices": []}'),
]  # fmt: skip


@pytest.mark.parametrize("fail", FAILURES)
def test_a_failure_that_passes_is_asked_again(config, fail):
    with serving(failing_first(2, fail)) as asked:
        settings = replace(config(asked), timeout=1.0 if fail is slow else 5.0)
        assert PromptedModel(settings).answers(PAIRS[:2]) == [True, True]
    assert len(asked.requests) == 4


@pytest.mark.parametrize("fail", [status(500), html, closing])
def test_a_failure_that_stays_ends_the_run_in_one_line_and_answers_are_kept(config, fail):
    with serving(lambda h, asked: right(h, asked) if len(asked.requests) <= 3 else fail(h, asked)) as asked:
        model = PromptedModel(config(asked, tries=4))
        with pytest.raises(EndpointError, match=r"gave no answer in 4 tries: .*; run again to continue") as raised:
            model.answers(PAIRS)
    assert "\n" not in str(raised.value)
    assert len(asked.requests) == 3 + 4


def test_waits_double_and_honour_the_server_within_limits(config, monkeypatch):
    waits = []
    monkeypatch.setattr(chat_endpoint.time, "sleep", waits.append)
    answers = iter([status(500), status(500), status(429, Retry_After="7"), status(429, Retry_After="9999"), right])
    with serving(lambda handler, asked: next(answers)(handler, asked)) as asked:
        assert PromptedModel(replace(config(asked), first_wait=1.0)).answers(PAIRS[:1]) == [True]
    assert waits == [1, 2, 7, 60]


@pytest.mark.parametrize("number", [400, 401, 403, 404])
def test_a_refusal_ends_the_run_at_once(config, number):
    with serving(status(number)) as asked, pytest.raises(EndpointError, match=f"answers {number} .*not now"):
        PromptedModel(config(asked)).answers(PAIRS)
    assert len(asked.requests) == 1


def test_redirects_are_not_followed(config):
    with serving(right) as elsewhere:
        target = f"http://localhost:{elsewhere.port}/v1/chat/completions"
        for number in (301, 302, 307, 308):
            with serving(status(number, Location=target)) as asked, pytest.raises(EndpointError, match="redirects"):
                PromptedModel(config(asked)).answers(PAIRS[:1])
    assert elsewhere.requests == []


def too_long(limit: int, model: str = ""):
    """Refuses prompts of more than ``limit`` characters, of one model or all."""

    def answer(handler, asked) -> None:
        body = json.loads(asked.bodies[-1])
        if len(_prompt(asked)) > limit and model in ("", body["model"]):
            error = {"error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}}
            send(handler, 400, json.dumps(error).encode())
        else:
            completion(handler, "True" if body["model"] == "large" or not model else "False")

    return answer


def test_too_long_an_input_goes_to_the_second_model(config):
    with serving(too_long(1000, "small")) as asked:
        settings = config(asked, second_model="large")
        assert PromptedModel(settings).answers([("short", "code"), ("long", "x" * 5000)]) == [False, True]
    assert [json.loads(body)["model"] for body in asked.bodies] == ["small", "small", "large"]


@pytest.mark.parametrize("second", ["", "large"])
def test_too_long_an_input_is_cut_where_no_model_reads_it(config, second):
    with serving(too_long(1500)) as asked:
        settings = config(asked, second_model=second)
        assert PromptedModel(settings).answers([("long", "x" * 5000)]) == [True]
    kept = json.loads(Path(settings.journal).read_text())
    assert kept["code_characters"] == 1250
    assert kept["model"] == (second or "small")
    assert len(asked.requests) == (4 if second else 3)


def test_an_endpoint_that_finds_all_too_long_is_given_up(config):
    with serving(too_long(0)) as asked, pytest.raises(EndpointError, match="finds even a short input too long"):
        PromptedModel(config(asked)).answers([("long", "x" * 5000)])
    assert len(asked.requests) == 6


def test_a_killed_run_asks_for_nothing_twice(config):
    with serving(right) as asked:
        settings = config(asked)
        PromptedModel(settings).answers(PAIRS[:4])
        with Path(settings.journal).open("ab") as file:
            file.write(b'{"key": "half a li')
        assert PromptedModel(settings).answers(PAIRS) == [True] * 6
        assert len(asked.requests) == 6
        assert PromptedModel(settings).answers(PAIRS) == [True] * 6
        assert len(asked.requests) == 6
        assert PromptedModel(replace(settings, model="other")).answers(PAIRS[:1]) == [True]
        assert PromptedModel(replace(settings, language="Go")).answers(PAIRS[:1]) == [True]
        assert len(asked.requests) == 8


def test_a_line_that_another_process_is_writing_is_waited_for(tmp_path):
    path, found = tmp_path / "answers.jsonl", []
    reading = threading.Thread(target=lambda: found.append(AnswerJournal.open(path)))
    with path.open("ab", buffering=0) as file, sole_user(file.fileno()):
        file.write(b'{"key": "a", "ans')
        reading.start()
        reading.join(0.2)
        file.write(b'wer": "True"}\n')
    reading.join(60)
    assert found[0]["a"] == "True"
    assert AnswerJournal.open(path)["a"] == "True"


def test_a_journal_damaged_within_is_told(tmp_path):
    journal = AnswerJournal.open(tmp_path / "answers.jsonl")
    journal.add("a", {"answer": "True"})
    with journal.path.open("ab") as file:
        file.write(b'{"key": "b"}\n')
    journal.add("c", {"answer": "Größe\nTrue"})
    with pytest.raises(ValueError, match=r"answers\.jsonl, line 2: expected a saved answer"):
        AnswerJournal.open(journal.path)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + lines[2])
    again = AnswerJournal.open(journal.path)
    assert (again["a"], again["c"], len(again), "b" in again) == ("True", "Größe\nTrue", 2, False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_journal_that_is_no_file_is_refused(tmp_path, kind):
    with deadline(), pytest.raises(OSError, match=r"not a regular file|links"):
        AnswerJournal.open(odd_thing(kind, tmp_path / "answers.jsonl"))


def echo(handler, _) -> None:
    send(handler, 500, f"you sent {handler.headers['Authorization']}".encode())


def test_the_key_goes_to_the_endpoint_and_nowhere_else(config, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    caplog.set_level(logging.DEBUG)
    with serving(failing_first(1, echo)) as asked:
        settings = config(asked)
        assert PromptedModel(settings).answers(PAIRS[:1]) == [True]
    assert asked.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "you sent Bearer ***" in caplog.text
    with serving(echo) as asked, pytest.raises(EndpointError) as raised:
        PromptedModel(config(asked, tries=1)).answers(PAIRS[1:2])
    told = caplog.text + str(raised.value) + repr(settings) + Path(settings.journal).read_text()
    assert KEY not in told


def test_a_key_of_other_characters_is_refused_and_not_shown(config, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nX-More: 1")
    with serving(right) as asked, pytest.raises(ValueError, match="OPENAI_API_KEY contains characters") as raised:
        PromptedModel(config(asked))
    assert KEY not in str(raised.value)


def test_a_key_is_not_sent_without_encryption(monkeypatch, tmp_path):
    settings = PromptedModelConfig("small", "http://models.example/v1", journal=str(tmp_path / "answers.jsonl"))
    assert PromptedModel(settings)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ValueError, match=r"is not sent without encryption: write https://models\.example"):
        PromptedModel(settings)


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://host/v1", "http://", "https://me:pass@host/v1", "http://h:x/"]
)
def test_bad_addresses_are_refused(url, tmp_path):
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        PromptedModel(PromptedModelConfig("small", url, journal=str(tmp_path / "answers.jsonl")))
    assert "pass" not in str(raised.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("settings", [{"model": ""}, {"model": "m", "tries": 0}, {"model": "m", "max_tokens": 0}])
def test_bad_settings_are_named(settings, tmp_path):
    with pytest.raises(ValueError, match=r"takes? "):
        PromptedModel(PromptedModelConfig(**settings, journal=str(tmp_path / "answers.jsonl")))
