"""The page of printed numbers: its answer is the counts of its own table."""

from experiments.tables.published import published_page


def test_the_page_begins_with_how_many_rows_can_be_exact():
    page = published_page()
    title, answer, *_ = page.split("\n\n")
    assert title.endswith("?")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")][2:]
    found = [row[6].split(" or ") for row in rows]
    never, alone = sum("exact" not in each for each in found), found.count(["exact"])
    assert answer.startswith(f"Of {len(rows)} printed rows, {never} cannot be exact: ")
    assert f" {alone} can only be exact, and {len(rows) - never - alone} may be either." in answer
    for row, each in zip(rows, found, strict=True):
        told = f"`{row[1].split(' ')[0]}` on {row[0].removeprefix('| ')} has an exact Top@1 of {row[7]}."
        assert (told in answer) == ("exact" in each and len(each) > 1)
