"""README and docs state no measurement without a saved result: tests/docs_figures.toml says which row has it."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.docs_figures import figures, is_saved, page_name, saved_rows

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
WRITTEN = tomllib.loads((REPOSITORY / "tests" / "docs_figures.toml").read_text(encoding="utf-8"))
SOURCES: Mapping[str, Mapping[str, str]] = WRITTEN["saved"]
"""Page -> row of results -> its figures on the page."""
STATED: Mapping[str, Mapping[str, str]] = WRITTEN["stated"]
"""Page -> what they are -> figures that are no measurements: settings, limits, numbers of a paper."""
NOT_SAVED: Mapping[str, str] = WRITTEN["not_saved"]
"""Page, or "page > section" -> why its figures have no saved result."""
MOST_NOT_SAVED = 14

of_each = pytest.mark.parametrize("page", PAGES, ids=page_name)


def explained(page: str) -> set[str]:
    return {figure for texts in (SOURCES, STATED) for each in texts.get(page, {}).values() for figure in each.split()}


@of_each
def test_each_figure_is_from_a_result(page: Path) -> None:
    name = page_name(page)
    known = explained(name)
    unknown = [
        f"{name}:{line} says {figure}, no saved result has it: name its row in tests/docs_figures.toml"
        for line, section, figure in figures(page.read_text(encoding="utf-8"))
        if figure not in known and name not in NOT_SAVED and f"{name} > {section}" not in NOT_SAVED
    ]
    assert not unknown, "\n".join(unknown)


@of_each
def test_the_results_still_have_them(page: Path) -> None:
    name = page_name(page)
    differing = [
        f"{name} says {figure}, which {source} has not"
        for source, each in SOURCES.get(name, {}).items()
        for figure in each.split()
        if not is_saved(figure, source)
    ]
    assert not differing, "\n".join(differing)


@of_each
def test_nothing_is_listed_that_the_page_does_not_say(page: Path) -> None:
    name = page_name(page)
    gone = explained(name) - {figure for _, _, figure in figures(page.read_text(encoding="utf-8"))}
    assert not gone, f"tests/docs_figures.toml has {sorted(gone)} of {name}, which says so no more"


def test_what_is_not_saved_is_the_exception() -> None:
    names = {page_name(page) for page in PAGES}
    assert len(NOT_SAVED) <= MOST_NOT_SAVED
    assert {each.partition(" > ")[0] for each in (*NOT_SAVED, *SOURCES, *STATED)} <= names
    for place in NOT_SAVED:
        page, _, section = place.partition(" > ")
        found = {where for _, where, _ in figures((REPOSITORY / page).read_text(encoding="utf-8"))}
        assert section in found if section else found, place


def test_larger_indexes_are_in_proportion() -> None:
    index, vectors, both = (saved_rows("speed.md")[f"search > {row}"] for row in ("index", "vectors", "index, both"))
    size, seconds = (float(index[0]) + float(vectors[0])), float(both[0])
    per_row = {
        " GB": size / 1e9,
        " s": seconds / 63_233,
        " minutes": seconds / 63_233 / 60,
        " hours": seconds / 63_233 / 3600,
    }
    text = (REPOSITORY / "docs" / "scale.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| ([\d,]+) \| ([\d.]+)( GB) \| ([\d.]+)( s| minutes| hours) \|$", text, re.MULTILINE)
    assert len(table) == 3
    for rows, *cells in table:
        for figure, unit in zip(cells[::2], cells[1::2], strict=True):
            expected = per_row[unit] * int(rows.replace(",", ""))
            assert float(figure) == round(expected, len(figure.partition(".")[2])), (rows, unit)


def test_figures_and_rows_are_found() -> None:
    text = "# A\n\nIt has .598 (-.026) in 12.8 ms, a 95 % interval, `.999`.\n\n## B\n\n2,902 MB of 17.0.19, 3 %, .2 s\n"
    found = [(3, "A", ".598"), (3, "A", "-.026"), (3, "A", "12.8ms"), (7, "B", "2,902"), (7, "B", "3"), (7, "B", ".2")]
    assert list(figures(text)) == found
    row = "main-all.md > All models > jdk > galm_plus"
    assert is_saved(".598", row)
    assert is_saved("-.072", f"minus {row}")
    assert not is_saved(".597", row)
    with pytest.raises(LookupError):
        is_saved(".598", "main-all.md > All models > jdk > none")
