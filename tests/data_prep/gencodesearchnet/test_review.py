"""The review file: what is written comes back, decisions are read, and whatever does not fit is refused in a line."""

import csv
import io

import pytest

from data_prep.gencodesearchnet.pair_filter import CLASSES, COLUMNS, ClassifiedPair, read_review, write_review
from data_prep.gencodesearchnet.r_pairs import RPair

TEXTS = (
    "plain text", "=1+1", "+1", "-1 ", "@SUM(A1)", " =HYPERLINK(1)", "'quoted'", "''", "\tx", 'a "b", c;\nd\n', "é²あ",
    "＝1+1", "-", "\n=x", "", "x\x0cy", "0012", "a" * 200_000,
)  # fmt: skip
PAIRS = tuple(
    ClassifiedPair(RPair(f"a/b.R {n}", text, TEXTS[-1 - n]), CLASSES[n % len(CLASSES)]) for n, text in enumerate(TEXTS)
)


def lines(path):
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


@pytest.fixture(autouse=True)
def long_cells():
    before = csv.field_size_limit(1 << 20)
    yield
    csv.field_size_limit(before)


@pytest.fixture
def edited(tmp_path):
    """Writes the table of the first three pairs, with some cells changed: (line, column) -> text."""

    def edit(changes=None, pairs=PAIRS[:3]):
        path = tmp_path / "review.csv"
        write_review(path, pairs)
        table = lines(path)
        for (line, column), cell in (changes or {}).items():
            table[line][COLUMNS.index(column)] = cell
        text = io.StringIO(newline="")
        csv.writer(text).writerows(table)
        path.write_bytes(text.getvalue().encode("utf-8-sig"))
        return path

    return edit


def refusal(path, pairs=PAIRS[:3]):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the callers look at the message
        read_review(path, pairs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_all_texts_come_back_and_none_is_a_formula(tmp_path):
    path = tmp_path / "review.csv"
    write_review(path, PAIRS)
    table = lines(path)
    assert tuple(table[0]) == COLUMNS
    assert len(table) == 1 + len(PAIRS)
    assert not [cell for row in table for cell in row if cell.strip(" ")[:1] in tuple("=+-@＝\t\n")]
    for row in table[1:]:
        row[4] = "yes"
    text = io.StringIO(newline="")
    csv.writer(text).writerows(table)
    path.write_bytes(text.getvalue().encode("utf-8-sig"))
    csv.field_size_limit(1 << 10)
    assert read_review(path, PAIRS).kept == PAIRS
    assert csv.field_size_limit() == 1 << 10  # as it was before


def test_decisions_and_notes_are_read(edited):
    path = edited({(1, "keep?"): " Yes ", (2, "keep?"): "NO", (2, "note"): "'=odd ", (1, "class"): "Visualization"})
    found = read_review(path, PAIRS[:3])
    assert found.kept == (ClassifiedPair(PAIRS[0].pair, "Visualization"),)  # corrected
    assert found.dropped == (PAIRS[1],)
    assert (found.unreviewed, found.notes) == (1, {"a/b.R 1": "'=odd"})


def test_lines_that_are_gone_or_empty_are_unreviewed_and_order_does_not_matter(edited):
    path = edited({(1, "keep?"): "yes", (3, "keep?"): "yes"})
    head, first, _, third = lines(path)
    text = io.StringIO(newline="")
    csv.writer(text).writerows([[*head, "mine"], [*third, "x"], [*first, ""], [""] * 7])
    path.write_text(text.getvalue())
    found = read_review(path, PAIRS[:3])
    assert (found.kept, found.unreviewed) == ((PAIRS[0], PAIRS[2]), 1)


def test_a_spreadsheet_s_line_ends_are_no_change(tmp_path):
    path, pair = tmp_path / "review.csv", ClassifiedPair(RPair("f 0", "load it", "a\nb"), CLASSES[0])
    write_review(path, [pair])
    path.write_bytes(path.read_bytes().replace(b'"a\nb"', b'"a\r\nb"').replace(b",,\r\n", b",yes,\r\n"))
    assert read_review(path, [pair]).kept == (pair,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({(1, "id"): "a/b.R 99"}, r":2: id 'a/b.R 99' is none of the pairs"),
        ({(2, "id"): "a/b.R 0"}, r":3: id 'a/b.R 0' was read before"),
        ({(1, "comment"): "plain texts"}, ":2: the comment of 'a/b.R 0' was changed"),
        ({(2, "comment"): "=1+1 "}, "the comment of 'a/b.R 1' was changed"),
        ({(3, "code"): ""}, "the code of 'a/b.R 2' was changed"),
        ({(1, "keep?"): "maybe"}, ":2: keep? is yes, no or empty, not 'maybe'"),
        ({(1, "class"): "Other"}, ":2: class 'Other' is none of Statistical Test,"),
        ({(0, "keep?"): "keep"}, "lacks the columns keep?: save it with commas"),
    ],
)
def test_what_does_not_fit_is_refused(edited, changes, message):
    pairs = tuple(ClassifiedPair(RPair(p.pair.id, p.pair.comment, "x"), p.label) for p in PAIRS[:3])
    assert message in refusal(edited(changes, pairs), pairs)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "review.csv"
    header = ",".join(COLUMNS)
    for content, message in (
        (b"", "lacks the columns id, comment, code, class, keep?, note"),
        (header.replace(",", ";").encode(), "lacks the columns"),
        (b"\xff\xfe", "is not UTF-8"),
        (f"{header}\na,b\n".encode(), ":2: expected 6 cells, found 2"),
        (f'{header}\n"a" b,c,d,e,f,g\n'.encode(), "is no CSV"),
    ):
        path.write_bytes(content)
        assert message in refusal(path)


def test_an_id_must_be_of_one_pair(tmp_path):
    with pytest.raises(ValueError, match=r"two pairs have the id 'a/b.R 0'"):
        write_review(tmp_path / "review.csv", [PAIRS[0], PAIRS[0]])
