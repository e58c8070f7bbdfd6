"""``bash run.sh search --usages NAME``, who calls or mentions a name: as JSON, and in a terminal.

The definitions come first, then the lines that use the name, by file.
"""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from data_prep.errors import UserError, one_line
from experiments.terminal import console
from experiments.terminal.console import BOLD, CYAN, DIM, GREEN, cut
from search.cli import freshness_of, of_all, path_inside, question_and_folder, read_on, ready, source_for
from search.engine.certainty import Certainty, shown_words
from search.engine.preview import signature
from search.engine.show import place_record
from search.engine.usages import USUAL, Usages, UsedIn, find_usages
from search.hits import View
from search.index.code_index import Index
from search.options import SearchOptions

if TYPE_CHECKING:
    from search.engine.engine import Engine
    from search.opening import Source

LONGEST: Final = 300
"""Characters of a line that are told."""

_LEAST: Final = 60
"""Cells of a line of code, however long its place is."""


def said(found: Usages) -> str:
    """What was found, in one line."""
    if found.hidden:
        return f"nothing found: only other files than those asked for have {one_line(found.name)[:60]}"
    if not found.files and not found.definitions:
        near = f"; nearest: {shown_words(found.nearest)}" if found.nearest else ""
        return f"nothing found: nothing is called {one_line(found.name)[:60]}, and no file has it{near}"
    parts = [_counted(found.defined, "definition") if found.defined else "not defined here"]
    uses = f"{_counted(found.count, 'usage')} in {_counted(len(found.files), 'file')}" if found.count else "no usage"
    parts.append(f"{uses}, {_counted(found.calls, 'call')}" if found.calls else uses)
    if found.in_text:
        parts.append(f"{found.in_text:,} in comments and strings not counted")
    return f"{one_line(found.name)[:60]}: {'; '.join(parts)}; by name, not by type"


def certainty_of(found: Usages) -> Certainty:
    """The same as of a question."""
    if found.is_there:
        return Certainty("strong")
    name = "" if found.hidden else found.name
    return Certainty(
        "none", nearest=found.nearest, name=name, why=said(found).partition(": ")[2] if found.hidden else ""
    )


def narrowed(found: Usages) -> str:
    """By what usages were told apart, in one line; "" if by nothing."""
    if not found.owner or not (found.files or found.untold or found.others):
        return ""
    last = found.name.rpartition(".")[2]
    left = [f"{found.others:,} of others left out"] if found.others else []
    if found.untold:
        left.append(f"{found.untold:,} whose text does not tell left out: ask for {last} alone")
    how = (
        "the text does not tell whose these are"
        if found.is_untold
        else "told by what stands before its dot, or is imported"
    )
    return f"of {one_line(found.owner)}: {'; '.join([how, *left])}"


def as_record(index: Index, found: Usages, top: int) -> dict[str, Any]:
    """The first ``top`` usages as JSON."""
    files = found.first(top)
    told: dict[str, Any] = {
        "name": found.name,
        "certainty": certainty_of(found).record,
        "text": said(found),
        "definitions": [place_record(index, row) for row in found.definitions],
        "definition_count": found.defined,
        "count": found.count,
        "calls": found.calls,
        "file_count": len(found.files),
        "in_text": found.in_text,
        "files": [_file(index, each) for each in files],
        "left_out": found.count - sum(len(each.usages) for each in files),
    }
    if found.owner:
        told["narrowed"] = {
            "owner": found.owner,
            "untold": found.untold,
            "others": found.others,
            "text": narrowed(found),
        }
    return told


def as_text(view: View, found: Usages, top: int) -> str:
    """The definitions, then the first ``top`` usages by file."""
    index, paint = view.engine.index, view.paint
    lines = [paint(BOLD, said(found))]
    if told := narrowed(found):
        lines.append(paint(DIM, told))
    for row in found.definitions:
        text = index.text(row)
        lines.append(
            f"    {paint(CYAN, view.place(row))}  {paint(GREEN, cut(signature(text.source, text.path), view.width))}"
        )
    if found.defined > len(found.definitions):
        lines.append(f"    and {_counted(found.defined - len(found.definitions), 'other definition')}")
    files = found.first(top)
    totals = {each.place: len(each.usages) for each in found.files}
    for file in files:
        lines += ["", *_file_lines(view, file, totals[file.place])]
    if left := found.count - sum(len(each.usages) for each in files):
        lines += ["", paint(DIM, f"{left:,} more: --top={found.count} shows all")]
    return "\n".join(lines)


def as_vimgrep(view: View, files: Sequence[UsedIn]) -> str:
    """``path:line:column:text`` of each usage."""
    return "\n".join(
        f"{_path(view, file)}:{each.line}:{each.column + 1}:{cut(each.text.strip(), LONGEST)}"
        for file in files
        for each in file.usages
    )


def as_files(view: View, files: Sequence[UsedIn]) -> str:
    """The path of each file, one on a line."""
    return "\n".join(_path(view, file) for file in files)


def _file_lines(view: View, file: UsedIn, total: int) -> Iterator[str]:
    index, paint, path = view.engine.index, view.paint, _path(view, file)
    test = ", a test" if file.test else ""
    yield f"{paint(BOLD, path)}  {paint(DIM, _counted(total, 'usage') + test)}"
    for each in file.usages:
        row = file.around(each.line)
        where = f"{path}:{each.line}"
        holder = "" if row is None else f"  {one_line(index.names[row])[:60]}"
        seen = each.at - len(each.text) + len(each.text.lstrip())
        code = cut(each.text.strip(), max(_LEAST, view.width - len(where) - len(holder) - 8), seen)
        yield f"    {paint(CYAN, where)}{paint(DIM, holder)}  {code}"


def _path(view: View, file: UsedIn) -> str:
    return one_line(view.places.path(file.row))


def _file(index: Index, file: UsedIn) -> dict[str, Any]:
    usages = []
    for each in file.usages:
        row = file.around(each.line)
        start = max(0, min(each.at - LONGEST // 2, len(each.text) - LONGEST))
        told = {
            "line": each.line,
            "column": each.column + 1,
            "kind": each.kind,
            "text": each.text.strip() if len(each.text) <= LONGEST else each.text[start : start + LONGEST],
        }
        usages.append(told | {"name": "" if row is None else index.names[row]})
    return {"path": index.files[file.place].path, "test": file.test, "usages": usages}


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def show_usages(words: Sequence[str], options: SearchOptions, top: int) -> bool:
    """Print the usages of a name; returns whether there is something.

    Args:
        words: as typed: the name, perhaps with filters, and perhaps a folder.
        options: as typed.
        top: how many usages; 0: as many as usual.

    Raises:
        UserError: there is no name, or an option has no part in it.
    """
    for name in ("at", "snippet", "explain", "regex"):
        if getattr(options, name):
            raise UserError(f"--{name} has no part in --usages: leave it out")
    if not words:
        raise UserError("expected a name: bash run.sh search --usages Type.method")
    asked, folder, _ = question_and_folder(words)
    source = source_for(options, folder, vectors=options.model != "none")

    def answer(source: "Source | None") -> "tuple[Engine, Path | None, Usages, float]":
        engine, root, languages, files = ready(options, source)
        started = time.perf_counter()
        found = find_usages(engine, asked, root, path=path_inside(options, root), languages=languages, files=files)
        return engine, root, found, round(1000 * (time.perf_counter() - started), 2)

    (engine, root, found, milliseconds), source = of_all(source, answer, lambda told: told[2].is_there)
    more = freshness_of(source)
    if options.json:
        told = {"query": asked, "milliseconds": milliseconds, **as_record(engine.index, found, top or USUAL), **more}
        console.show(json.dumps(told, indent=1).replace("\x7f", "\\u007f"))
    elif not (options.files or options.vimgrep):
        console.show(as_text(View.of(engine, "", root), found, top or USUAL), painted=True)
    elif found.files:
        console.show((as_files if options.files else as_vimgrep)(View.of(engine, "", root), found.first(top or USUAL)))
    else:
        console.complain(said(found))
    read_on(source)
    return found.is_there
