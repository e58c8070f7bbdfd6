"""Rows by whatever program wrote them: marks, UTF-16, line ends, blank lines, NULs; broken rows are told."""

import gzip
import io
import json

import pytest

from data_prep.files import json_text, text_rows
from data_prep.files.json_text import json_lines
from data_prep.files.text_rows import csv_rows, utf8_lines

ROWS = [{"text": "größe 😀 \u2028", "number": number} for number in range(3)]
LINES = [json.dumps(row, ensure_ascii=False) for row in ROWS]
CODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")


def marked(text, coding):
    """The bytes of a text; in UTF-16 with its mark."""
    return (("\ufeff" if coding.endswith("e") else "") + text).encode(coding)


def objects(path, data):
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    left_out = {}
    return [row for _, row in json_lines(path, left_out.__setitem__)], left_out


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("coding", CODINGS)
def test_json_lines_of_every_encoding_and_line_end(tmp_path, coding, end, name):
    for text in (end.join(LINES), end.join([*LINES, ""])):
        assert objects(tmp_path / name, marked(text, coding)) == (ROWS, {})
        assert [*json_lines(tmp_path / name)] == [*enumerate(ROWS, 1)]


@pytest.mark.parametrize("coding", CODINGS)
def test_lines_that_are_no_object_are_left_out_and_told(tmp_path, coding):
    bad = ["", " \t", "\0\0", '{"a": ', '{"a": "\0"}', "[]", "\ufeff", LINES[0][:-1], "{'a': 1}"]
    found, left_out = objects(tmp_path / "a.jsonl", marked("\n".join([*bad, *LINES, *bad]), coding))
    assert found == ROWS
    assert [*left_out] == [f"{tmp_path / 'a.jsonl'}:{number}" for number in (*range(1, 10), *range(13, 22))]
    kinds = [reason.partition(":")[0] for reason in left_out.values()]
    blank, none = "blank line", "no JSON"
    assert kinds == [blank, blank, blank, none, none, "no JSON object", blank, none, none] * 2
    with pytest.raises(
        ValueError, match=r"a\.jsonl:4 is no JSON: "
    ):  # of a file of its own the program leaves none out
        list(json_lines(tmp_path / "a.jsonl"))


def test_files_with_marks_that_were_joined(tmp_path):
    data = b"".join(marked(f"{line}\n", "utf-8-sig") for line in LINES)
    assert objects(tmp_path / "a.jsonl", data) == (ROWS, {})


@pytest.mark.parametrize("bad", ["é".encode("latin-1"), b"\xed\xa0\x80", b"\xc3"])
def test_bytes_that_are_no_utf_8_break_their_line_only(tmp_path, bad):
    data = "\n".join(LINES).encode().replace(b'"text": "', b'"text": "' + bad, 1)
    found, left_out = objects(tmp_path / "a.jsonl", data)
    assert (found, len(left_out)) == (ROWS[1:], 1)


def test_what_is_no_utf_16_breaks_its_line_only(tmp_path):
    lines = [f"{line}\n".encode("utf-16-le") for line in LINES]
    lines[1] = lines[1].replace("größe".encode("utf-16-le"), b"\x00\xd8")
    found, left_out = objects(tmp_path / "a.jsonl", b"\xff\xfe" + b"".join(lines))
    assert (found, len(left_out)) == ([ROWS[0], ROWS[2]], 1)
    found, left_out = objects(tmp_path / "a.jsonl", b"\xff\xfe" + b"".join(lines)[:-1])  # half a line end
    assert (found, len(left_out)) == ([ROWS[0]], 2)


def test_a_file_without_any_row_is_refused_unless_it_is_blank(tmp_path):
    assert objects(tmp_path / "a.jsonl", b"\n \n\0\0")[0] == objects(tmp_path / "a.jsonl", b"")[0] == []
    with pytest.raises(ValueError, match=r"a\.jsonl:2 is no JSON: "):
        objects(tmp_path / "a.jsonl", b"\nPK\3\4\n{\n")


def test_long_lines_come_in_parts_and_are_refused(tmp_path, monkeypatch):
    assert [*utf8_lines(io.BufferedReader(io.BytesIO(marked("aé\nbcdef", "utf-16-le"))), 3)] == [
        "aé\n".encode(), b"bcd", b"ef",
    ]  # fmt: skip
    monkeypatch.setattr(json_text, "_LONGEST_LINE", 20)
    for coding in CODINGS:
        with pytest.raises(ValueError, match=r"a\.jsonl:1 is refused: no line has"):
            objects(tmp_path / "a.jsonl", marked(LINES[0], coding))


def table(path, data, needed=()):
    path.write_bytes(data)
    left_out = {}
    return [row for _, row in csv_rows(path, left_out.__setitem__, needed)], left_out


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("coding", CODINGS)
def test_tables_of_every_encoding_and_line_end(tmp_path, coding, end):
    text = end.join(["a,größe", '1,"x 😀"', '"2 ""', '",y', ""])
    text = end.join(["a,größe", '1,"x 😀"', f'"2{end}3",y', ""])
    assert table(tmp_path / "a.csv", marked(text, coding)) == (
        [{"a": "1", "größe": "x 😀"}, {"a": f"2{end}3", "größe": "y"}],
        {},
    )


@pytest.mark.parametrize("coding", CODINGS)
def test_rows_that_are_none_are_left_out_line_by_line(tmp_path, coding):
    bad = ["", "1", "1,2,3", '"1" 2,3', "\0,2"]
    found, left_out = table(tmp_path / "a.csv", marked("\n".join(["a,b", "1,2", *bad, "3,4", '5,"6', "7,8"]), coding))
    assert found == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert [place.rpartition(":")[2] for place in left_out] == ["3", "4", "5", "6", "7", "9", "10"]
    assert [reason.partition(":")[0] for reason in left_out.values()] == [
        *("blank line", "no CSV row", "no CSV row", "no CSV", "no text", "no CSV", "no CSV"),
    ]


def test_a_long_cell_is_one_and_a_longer_one_is_refused(tmp_path, monkeypatch):
    cell = "a, b\n" * 200_000
    assert table(tmp_path / "a.csv", f'a,b\n1,"{cell}"\n'.encode()) == ([{"a": "1", "b": cell}], {})
    monkeypatch.setattr(text_rows, "LONGEST_CELL", 20)
    with pytest.raises(ValueError, match=r"a\.csv:2 is refused: no cell has 20 characters or more"):
        table(tmp_path / "a.csv", f'a,b\n1,"{cell}"\n'.encode())


def test_a_table_that_is_none_is_refused(tmp_path):
    for data, said in (
        (b'"a" b,c\n1,2\n', "a.csv:1 is no CSV"),
        (b"a,b\n1\n", "a.csv:2 is no CSV row"),
        (b"", "lacks"),
    ):
        with pytest.raises(ValueError, match=said):
            table(tmp_path / "a.csv", data, ["b"])
    assert table(tmp_path / "a.csv", b"a,b\n\xff,2\n3,4\n")[0] == [{"a": "3", "b": "4"}]
