"""What a logger or a terminal puts around a message is no part of a question."""

import pytest

import neural_code_search as ncs
from search.engine.printed import is_message, message_in

MESSAGE = "cannot open pond 7: gone"
AROUND = (
    *("2024-01-02 10:11:12,345 ERROR [main] c.e.Foo - ", "2024-01-02T10:11:12.345Z  WARN app::server: "),
    *("[2024-01-02 10:11:12] production.ERROR: ", "ERROR:root:", "Jan  2 10:11:12 web-1 app[1234]: "),
    *("10:11:12 | worker-3 | ", "2024-01-02 10:11:12.345 | ERROR    | app.mod:func:12 - ", "[ERROR] ", "ERROR: "),
    *("E0102 10:11:12.345678    1234 file.go:12] ", "error: ", "npm ERR! ", "2024/01/02 10:11:12 main.go:12: "),
    *("I, [2024-01-02T10:11:12.345678 #123]  INFO -- : ", "10:11:12.345 [error] ", "[12:00:01 ERR] ", "fatal: "),
    *("2024-01-02 10:11:12.345  INFO 1234 --- [           main] c.e.Foo  : ", "W/Tag(  123): ", "WARNING: "),
    *("10:11:12.345 [main] INFO  c.e.Foo -- ", "\x1b[31mERROR\x1b[0m ", "[31m", "^[[1;33m", "\\e[31m"),
    *("2024-01-02 10:11:12 +0000 [error]: ", "01-02 10:11:12.345  1234  5678 E Tag: ", "[main] ERROR c.e.Foo - "),
    *("[2024-01-02T10:11:12Z ERROR my_app::db] ", "2024-01-02 10:11:12 UTC [123] ERROR:  ", "ERROR app::server: "),
    *("WARN  [o.a.k.Consumer] ", "ERROR [pool-1-thread-2] c.e.Foo: ", 'time="2024-01-02" level=error msg="'),
)


@pytest.mark.parametrize("around", AROUND)
def test_what_a_logger_prints_before_a_message_is_left_out(around):
    assert message_in(around + MESSAGE) == MESSAGE


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"level":"error","time":1,"msg":"cannot open pond"}', "cannot open pond"),
        ('{"severity": "ERROR", "error": "cannot open pond", "n": {"a": 1}}', "cannot open pond"),
        ('level=error ts=1 err="gone" msg="cannot open \\"x\\" now" a=b', 'cannot open "x" now'),
        ('level=error msg="cannot open "x" now" a=b', 'cannot open "x" now'),
        ("\x1b[31mcannot open pond\x1b[0m", "cannot open pond"),
    ],
)
def test_a_record_is_read_by_its_message(record, message):
    assert message_in(record) == message


@pytest.mark.parametrize(
    "question",
    [
        *("ERROR handling in the pool", "how is level=3 set", "[id=42] failed to check", "10 of 20 parts are lost"),
        *("INFO", "arr[mid] of list", "WARN about foo.bar", "error codes of the parser", "12:30", "src/a.py:12"),
        *("Error: x: y", "std::vector: push", '{"a": 1}', "{" * 1500, '{"a":' * 400, "12 : 13", ""),
    ],
)
def test_a_question_that_nothing_printed_is_left_as_it_is(question):
    assert message_in(question) == question


@pytest.mark.parametrize(
    ("around", "place"),
    [
        *(
            ("ERROR: ", "src/pond.ts:12:5 - "),
            ("[error] ", "src/pond.ts: "),
            ("ERROR: NoPond - ", "src/pond.php:12:5 - "),
        ),
        *(("error: ", "src/pond.ts[12, 5]: "), ("WARN ", "pond.go:12 - "), ("ERROR ", "src/pond.c:12:5 ")),
        *(("2024-01-02T10:11:12.345Z ", "src/pond.c:12:5: error: "), ("10:11:12 ", "src/pond.ts(12,5): error: ")),
    ],
)
def test_a_place_that_a_compiler_prints_behind_a_severity_stays(around, place):
    assert message_in(f"{around}{place}{MESSAGE}") == f"{place}{MESSAGE}"


def test_a_place_in_brackets_stays_with_them():
    assert message_in(f"[src/pond.c:12]: (error) {MESSAGE}") == f"[src/pond.c:12]: (error) {MESSAGE}"


def test_a_line_of_a_log_is_asked_for_by_its_message(tmp_path):
    files = {
        "pond.py": 'def fill(n):\n    raise OSError(f"cannot fill pond {n}")\n',
        "production.py": 'def production(error):\n    return main(error, "production error")\n',
        "main.py": "def main(error):\n    return error\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = ncs.index_folder(tmp_path)
    for around in ("[2024-01-02 10:11:12] production.ERROR: ", "ERROR [main] production.error - "):
        assert found.search(f"{around}cannot fill pond 7", top=1)[0].name == "fill"
        assert found.certainty(f"{around}cannot fill pond 7").level == "strong"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("2024-01-02 10:11:12 ERROR [main] c.e.Foo - cannot open pond", True),
        ("ValueError: cannot open pond", True),
        ("[ERROR] cannot open pond", True),
        ("error: string;", False),
        ("x = pond[7]", False),
        ("ERROR: cannot\nopen pond", False),
    ],
)
def test_a_line_of_a_log_alone_is_a_message(text, is_one):
    assert is_message(text) is is_one
