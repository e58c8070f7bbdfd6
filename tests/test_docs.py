"""The pages about this project: their links lead somewhere, their length is bounded, and files that they name exist."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.sentences import long_sentences

LONGEST = 150
FOLDER = REPOSITORY / "docs"
DOCS = sorted(FOLDER.glob("*.md"))
PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *DOCS,
    *sorted((REPOSITORY / "experiments" / "results").glob("*.md")),
]
RESULTS = REPOSITORY / "experiments" / "results"
WRITTEN = [
    *(RESULTS / f"{name}.md" for name in ("ablations", "languages", "published", "scotch", "speed")),
    *sorted((RESULTS / "ablations").glob("*.md")),
    *sorted((RESULTS / "posts").glob("*.md")),
]
"""Pages that commands write, whose prose is held to the same length of sentences."""
ROOMS = {each.parent.name for each in REPOSITORY.glob("*/__init__.py")} | {
    "tests",
    "docs",
    "examples",
    "vscode",
    "locks",
}
FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
OF_THE_READER = {"app.py", "my.py", "my_model.py", "index.js", "index.ts", "package.json", "pom.xml"}
OF_THE_READER |= {"comparison.md", "sweep.md"}
"""Names of files that commands and examples take or write, and that are not of this repository."""

of_each = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path, text: str) -> list[str]:
    broken = []
    for link in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = page.parent / place if place else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    return broken


def modules(text: str) -> list[str]:
    """What ``python -m`` and dotted names such as ``modeling.base.NeuralRanker`` name in a page."""
    dotted = [word for word in CODE.findall(text) if re.fullmatch(r"\w+(\.\w+)+", word)]
    return [name for name in (*re.findall(r"-m (\w+(?:\.\w+)+)", text), *dotted) if name.split(".")[0] in ROOMS]


def is_module(name: str) -> bool:
    """Whether a dotted name is a module, or a name in one."""
    parts = name.split(".")
    places = [REPOSITORY.joinpath(*parts[:length]) for length in (len(parts), len(parts) - 1)]
    return any(place.with_suffix(".py").exists() or (place / "__init__.py").exists() for place in places)


@cache
def file_names() -> frozenset[str]:
    """The names of the files of this repository, without their folders."""
    found = [each for room in ROOMS for each in (REPOSITORY / room).rglob("*.*") if "node_modules" not in each.parts]
    return frozenset(each.name for each in [*found, *REPOSITORY.iterdir()])


def missing_files(text: str) -> list[str]:
    """Words in code style that name a file or folder of this repository, and are none."""
    words = {word.split(":")[0] for word in CODE.findall(FENCE.sub("", text))}
    paths = {word for word in words if re.fullmatch(r"[\w.-]+(/[\w.*-]+)+/?", word) and word.split("/")[0] in ROOMS}
    missing = [path for path in paths if not any(REPOSITORY.glob(path.rstrip("/")))]
    bare = {word for word in words if re.fullmatch(r"[\w-]+\.(py|c|h|ts|sh|md|lock)", word)} - OF_THE_READER
    missing += bare - file_names()
    return sorted([*missing, *(name for name in modules(text) if not is_module(name))])


@of_each
def test_links_and_anchors_exist(page: Path) -> None:
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


@of_each
def test_files_that_are_named_exist(page: Path) -> None:
    assert missing_files(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_a_page_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("page", [*PAGES[:2], *DOCS, *WRITTEN], ids=lambda page: page.name)
def test_sentences_are_short(page: Path) -> None:
    found = long_sentences(page.read_text(encoding="utf-8"))
    assert found == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_a_page_begins_with_its_question_and_an_answer(page: Path) -> None:
    title, answer, *_ = page.read_text(encoding="utf-8").split("\n\n")
    assert re.fullmatch(r"# .+\?", title), title
    assert not answer.startswith(("|", "#", "!", "`")), answer


def test_the_index_has_every_page() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    linked = {link.partition("#")[0] for link in LINK.findall(index)}
    assert [page.name for page in DOCS if page.name not in {*linked, "README.md"}] == []


def test_mistakes_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```sh\n# no heading\n```\n", encoding="utf-8")
    good = "[a](page.md#a-page) [b](#a-page) [c](https://example.org/none) `[d](command:e)`"
    assert broken_links(page, good) == []
    bad = "[a](none.md) [b](page.md#other) [c](#no-heading)"
    assert broken_links(page, bad) == ["none.md", "page.md#other", "#no-heading"]
    assert missing_files("`galm/model.py` `galm/fast` `modeling.base.NeuralRanker` `data/jdk` `app.py`") == []
    named = "`galm/none.py` `no_such_file.py` `modeling.none.NeuralRanker` and `python -m tests.none`"
    assert missing_files(named) == ["galm/none.py", "modeling.none.NeuralRanker", "no_such_file.py", "tests.none"]
