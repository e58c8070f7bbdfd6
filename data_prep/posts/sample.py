"""A synthetic tracker for machines without a dump: *genuine* tracebacks of examples that were broken on purpose.

The examples are those in the documentation of installed packages. Each is broken by one of five mutations, drawn by a
seed, and run in a child process under limits of time and memory. If it then fails, where it did not fail before, a
ticket is made of it: a sentence, the code and the traceback. Its answer states the mutation and shows the example as it
was. A second ticket, of the same broken example with other variable names and without an answer, is its duplicate or,
one in five, only linked to it; one original in ten has no answer. Results on it say that the pipeline runs, and nothing
about posts that people write.
"""

import ast
import doctest
import importlib
import inspect
import json
import multiprocessing
import os
import random
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.writing import write_atomically

MODULES: Final = (
    "numpy", "numpy.linalg", "numpy.ma", "numpy.char", "numpy.polynomial.polynomial", "scipy.stats", "scipy.linalg",
    "scipy.special", "scipy.signal", "scipy.spatial", "scipy.optimize", "scipy.interpolate", "scipy.sparse",
    "statistics", "fractions", "collections", "textwrap", "difflib", "heapq", "random", "string", "decimal",
)  # fmt: skip
"""Packages whose documented examples are used, as far as they are installed."""
_ANSWERED, _ASKED_AGAIN, _LINKED = 0.9, 0.4, 0.2
_TURNS: Final = 10  # through all examples, at most
_SECONDS: Final = 2  # of an example
_MEMORY: Final = 4 << 30
_LONGEST: Final = 12
"""Statements of an example."""
_KEYWORDS: Final = ("verbosity", "inplace", "axes", "limits", "copy_data")
_NAMES: Final = ("left", "table", "total", "values", "part", "current", "found", "matrix", "entry", "number")


@dataclass(frozen=True, slots=True)
class Example:
    """A documented example as one program."""

    of: str  # the documented object
    code: str


def write_sample(
    folder: Path, count: int, seed: int, say: Callable[[str], None], modules: Sequence[str] = MODULES
) -> int:
    """Write ``tickets.jsonl`` and ``links.jsonl``: a tracker of about ``count`` questions, and their duplicates.

    Returns:
        The number of tickets.

    Raises:
        UserError: too few examples of the installed packages fail as wanted.
        OSError: the file cannot be written.
    """
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=_produce, args=(writer, count, seed, tuple(modules)), daemon=True)
    child.start()
    writer.close()
    tickets: list[dict[str, Any]] = []
    with suppress(EOFError):
        while True:
            tickets.append(reader.recv())
            if len(tickets) % 500 == 0:
                say(f"{len(tickets):,} tickets")
    child.join()
    if len(tickets) < 10:
        raise UserError(f"only {len(tickets)} documented examples of {', '.join(modules[:3])} ... could be broken")
    folder.mkdir(parents=True, exist_ok=True)
    links = [{"query": each["id"], "original": each["linked_to"]} for each in tickets if "linked_to" in each]
    for name, rows in (("links.jsonl", links), ("tickets.jsonl", tickets)):
        write_atomically(folder / name, "".join(json.dumps(row) + "\n" for row in rows))
    return len(tickets)


def examples(modules: Sequence[str]) -> Iterator[Example]:
    """The examples of all documented functions and classes of ``modules``, each object once."""
    parser, seen = doctest.DocTestParser(), set[str]()
    for name in modules:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for member in sorted(dir(module)):
            value = getattr(module, member, None)
            text = inspect.getdoc(value) if callable(value) and not member.startswith("_") else ""
            if not text or ">>>" not in text or text in seen:
                continue
            seen.add(text)
            with suppress(ValueError):
                lines = [each.source for each in parser.get_examples(text) if not each.exc_msg]
                yield Example(f"{name}.{member}", _prepared(name, member, lines[:_LONGEST]))


def _prepared(module: str, member: str, lines: Sequence[str]) -> str:
    code = "".join(lines)
    imports = ["import numpy as np"] if "np." in code and "import numpy as np" not in code else []
    if "." not in module and module != "numpy" and f"{member}(" in code and "import" not in code:
        imports.append(f"from {module} import *")
    return "\n".join([*imports, code.rstrip("\n")])


def broken(example: Example, kind: str, random_source: random.Random) -> str | None:
    """The example with one place changed; None if it has no such place."""
    tree = ast.parse(example.code)
    places = [node for node in ast.walk(tree) if _fits(node, kind)]
    if not places:
        return None
    _change(random_source.choice(places), kind)
    if kind == "missing import":
        tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)] or tree.body
    return ast.unparse(ast.fix_missing_locations(tree))


KINDS: Final = {
    "wrong attribute": "the attribute was misspelt",
    "wrong type": "a text was given where a number belongs",
    "missing import": "the import was missing",
    "index off by one": "the index was beyond the end",
    "wrong keyword": "there is no argument with that name",
}
"""Kind of mutation -> what the answer says about it."""


def _fits(node: ast.AST, kind: str) -> bool:
    match kind:
        case "wrong attribute":
            return isinstance(node, ast.Attribute)
        case "wrong type":
            return isinstance(node, ast.Constant) and type(node.value) in (int, float)
        case "missing import":
            return isinstance(node, ast.Import | ast.ImportFrom)
        case "index off by one":
            return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.Name)
        case _:
            return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name)


def _change(node: ast.AST, kind: str) -> None:
    match node:
        case ast.Attribute() if kind == "wrong attribute":
            node.attr = node.attr[:-1] + ("" if len(node.attr) > 3 else node.attr[-1] * 2)
        case ast.Constant():
            node.value = str(node.value)
        case ast.Subscript():
            node.slice = ast.Constant(99_999)
        case ast.Call():
            node.keywords.append(ast.keyword(_KEYWORDS[len(ast.unparse(node)) % len(_KEYWORDS)], ast.Constant(1)))


def renamed(code: str, random_source: random.Random) -> str:
    """``code`` with other names for the variables that it assigns."""
    tree = ast.parse(code)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    stored = sorted({node.id for node in names if isinstance(node.ctx, ast.Store)})
    new = dict(zip(stored, random_source.sample(_NAMES, min(len(stored), len(_NAMES))), strict=False))
    for node in names:
        node.id = new.get(node.id, node.id)
    return ast.unparse(tree)


def failure(code: str) -> str:
    """The traceback that running ``code`` ends with, as Python prints it; "" if it runs through."""
    shown = compile(code, "example.py", "exec")
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_SECONDS)
    try:
        with redirect_stdout(StringIO()):
            exec(shown, {"__name__": "__main__"})
    except Exception as error:
        signal.alarm(0)
        lines = code.splitlines()
        frames = [frame for frame in traceback.extract_tb(error.__traceback__)[1:] if "data_prep" not in frame.filename]
        told = ["Traceback (most recent call last):"]
        for frame in frames:
            source = lines[frame.lineno - 1].strip() if frame.filename == "example.py" and frame.lineno else frame.line
            told += [f'  File "{Path(frame.filename).name}", line {frame.lineno}, in {frame.name}', f"    {source}"]
        return "\n".join([*told, *(line.rstrip() for line in traceback.format_exception_only(error))])
    finally:
        signal.alarm(0)
    return ""


def _too_long(*_: object) -> None:
    raise KeyboardInterrupt


def _produce(writer: Any, count: int, seed: int, modules: Sequence[str]) -> None:
    """In the child: send tickets until ``count`` questions were made."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    os.environ["MPLBACKEND"] = "Agg"
    warnings.simplefilter("ignore")
    source, done, number = random.Random(seed), set[str](), 1
    pool = [*examples(modules)]
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(StringIO()):
        os.chdir(folder)
        for turn in range(_TURNS if pool else 0):
            source.shuffle(pool)
            for place, example in enumerate(pool):
                if len(done) >= count:
                    break
                with suppress(SyntaxError, KeyboardInterrupt, RecursionError, ValueError, SystemExit, MemoryError):
                    for ticket in _tickets(example, [*KINDS][(turn + place) % len(KINDS)], number, source, done):
                        writer.send(ticket)
                        number += 1
        os.chdir("/")
    writer.close()


def _tickets(example: Example, kind: str, number: int, source: random.Random, done: set[str]) -> list[dict[str, Any]]:
    code = broken(example, kind, source)
    if code is None or code in done or failure(example.code) or not (told := failure(code)):
        return []
    done.add(code)
    error = told.rsplit("\n", 1)[-1].partition(":")[0]
    body = f"I get this error when I try an example.\n\n```\n{code}\n```\n\n```\n{told}\n```"
    answer = f"In your code {KINDS[kind]}. With {example.of} it is written so:\n\n```\n{example.code}\n```"
    first: dict[str, Any] = {"id": number, "title": f"{error} with {example.of}", "body": body}
    first |= {"best_answer": answer} if source.random() < _ANSWERED else {}
    other = renamed(code, source)
    if source.random() > _ASKED_AGAIN or not (again := failure(other)):
        return [first]
    body = f"It stops and I do not see why.\n\n```\n{other}\n```\n\n```\n{again}\n```"
    second: dict[str, Any] = {"id": number + 1, "title": f"Why {error}?", "body": body}
    second |= {"linked_to": number} if source.random() < _LINKED else {"duplicate_of": [number]}
    return [first, second]
