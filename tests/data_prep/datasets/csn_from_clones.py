"""A ``java.zip`` of CodeSearchNet's form and size, made of git clones, to measure ``csn`` without the original.

    .venv/bin/python -m tests.data_prep.datasets.csn_from_clones CLONES data/raw/csn/java.zip

``CLONES`` is a folder of clones as ``--data.mirrors=`` takes it. The rows are the documented methods of the Java files
of each clone's HEAD that CodeSearchNet's own rules (Husain et al. 2019, section 2) leave: three lines and three words
of documentation or more, no constructors, no tests, no ``toString`` and the like, none twice. Clones are taken in an
order that is random but the same for the same names; the first rows are the test, the next the validation. The numbers
of a model that was trained on such a file compare with nothing: a repository may be in two splits.
"""

import argparse
import gzip
import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.writing import atomic_file
from data_prep.languages.comments import plain_comment
from data_prep.languages.java.declarations import FoundMethod, find_methods, parse_java
from data_prep.languages.nodes import node_text
from data_prep.records import SplitName
from data_prep.sources.codesearchnet_rows import ROWS
from data_prep.sources.git_repository import GitRepository, bare_repository
from data_prep.sources.own_git import GitError
from data_prep.sources.source_tree import GitTree
from data_prep.worker_pool import map_ordered
from experiments.terminal.console import say

_ROWS: Final = "tests.data_prep.datasets.csn_from_clones:rows_of_clone"
_ORDER: Final[tuple[SplitName, ...]] = ("test", "valid", "train")
_ROWS_PER_FILE: Final = 30_000
"""As in the original."""
_LARGEST_FILE: Final = 2 << 20  # bytes
_STANDARD: Final = frozenset(("toString", "hashCode", "equals", "finalize", "notify", "notifyAll", "clone"))
_WORD: Final = re.compile(r"\w+")
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_FIRST_DAY: Final = (1980, 1, 1, 0, 0, 0)

Row = dict[str, Any]
Clone = tuple[str, str]
"""Its owner/name and its folder: no class, since those of a main module cannot be sent to another process."""


def clones_in(folder: Path) -> list[Clone]:
    """The clones of a folder, in an order that depends on their names alone.

    Raises:
        UserError: there are none.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder: expected one of git clones, OWNER+NAME or OWNER/NAME")
    found = []
    for place in (*folder.glob("*"), *folder.glob("*/*")):
        own = next((each for each in (place, place / "repo") if each.is_dir() and bare_repository(each)), None)
        if own is not None and place.name != "repo":
            name = place.relative_to(folder).as_posix().replace("+", "/").removesuffix(".git")
            found.append((name, str(own)))
    if not found:
        raise UserError(f"{folder} has no git clones: expected folders OWNER+NAME or OWNER/NAME")
    return sorted(found, key=lambda clone: hashlib.sha256(clone[0].lower().encode(errors="surrogatepass")).digest())


def rows_of_clone(clone: Clone) -> list[Row]:
    """The rows of the Java files of a clone's HEAD, without their split; none if it cannot be read."""
    name, place = clone
    repository = bare_repository(Path(place))
    try:
        assert repository is not None
        commit = repository.head()
        return [row for path, data in _java_files(repository, commit) for row in _rows(name, commit, path, data)]
    except GitError:
        return []


def _java_files(repository: GitRepository, commit: str) -> Iterator[tuple[str, bytes]]:
    tree = GitTree(repository, commit)
    entries = (each for each in tree.entries() if each.path.endswith(".java") and not each.reason)
    return tree.read([each.path for each in entries if each.size <= _LARGEST_FILE])


def _rows(name: str, commit: str, path: str, data: bytes) -> Iterator[Row]:
    if b"/**" not in data:
        return
    try:
        methods = [*find_methods(parse_java(data))]
    except UserError:  # too long
        return
    for method in methods:
        docstring = plain_comment(method.javadoc)
        summary = docstring.partition("\n\n")[0]
        if _is_row(method, summary):
            yield _row(name, commit, path, method, docstring, summary)


def _is_row(method: FoundMethod, summary: str) -> bool:
    """Whether CodeSearchNet's rules leave the method."""
    return (
        method.kind == "method"
        and method.end_line - method.start_line >= 2
        and len(_WORD.findall(summary)) >= 3
        and "test" not in method.name.lower()
        and method.name not in _STANDARD
    )


def _row(name: str, commit: str, path: str, method: FoundMethod, docstring: str, summary: str) -> Row:
    code = node_text(method.node)
    lines = f"#L{method.start_line}-L{method.end_line}"
    return {
        "repo": name,
        "path": path,
        "func_name": f"{method.type_name.rpartition('.')[2]}.{method.name}",
        "original_string": code,
        "language": "java",
        "code": code,
        "code_tokens": _TOKEN.findall(code),
        "docstring": docstring,
        "docstring_tokens": _TOKEN.findall(summary),
        "sha": commit,
        "url": f"https://github.com/{name}/blob/{commit}/{path}{lines}",
    }


def distinct(parts: Iterable[Sequence[Row]]) -> Iterator[Row]:
    """The rows whose code differs from that of all rows before them."""
    seen: set[bytes] = set()
    for rows in parts:
        for row in rows:
            digest = hashlib.blake2b(row["code"].encode(errors="replace"), digest_size=16).digest()
            if digest not in seen:
                seen.add(digest)
                yield row


def write_zip(rows: Iterator[Row], path: Path, sizes: Mapping[SplitName, int]) -> None:
    """Write the first rows as the splits of ``sizes``: test, validation, training.

    Raises:
        UserError: there are fewer rows; nothing is written.
        OSError: the file cannot be written.
    """
    with atomic_file(path) as new, zipfile.ZipFile(new, "w") as archive:
        for split in _ORDER:
            for number, start in enumerate(range(0, sizes[split], _ROWS_PER_FILE)):
                wanted = min(_ROWS_PER_FILE, sizes[split] - start)
                with _packed(archive, f"java/final/jsonl/{split}/java_{split}_{number}.jsonl.gz") as packed:
                    for place in range(wanted):
                        row = next(rows, None)
                        if row is None:
                            raise UserError(
                                f"the clones end at row {start + place:,} of {sizes[split]:,} of {split}: add clones, "
                                "or ask for fewer rows by --rows=TRAIN,VALID,TEST"
                            )
                        line = json.dumps({**row, "partition": split}, ensure_ascii=False)
                        packed.write(line.encode(errors="replace") + b"\n")


@contextmanager
def _packed(archive: zipfile.ZipFile, name: str) -> Iterator[gzip.GzipFile]:
    member = zipfile.ZipInfo(name, _FIRST_DAY)
    with archive.open(member, "w") as file, gzip.GzipFile("", "wb", 1, file, mtime=0) as packed:
        yield packed


def main(arguments: Sequence[str]) -> None:
    """Write the file.

    Raises:
        UserError: there are too few methods, or no clones.
        OSError: the file cannot be written.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path, help="folder of git clones")
    parser.add_argument("out", type=Path, help="java.zip to write")
    parser.add_argument("--rows", default=",".join(str(ROWS["java"][split]) for split in ("train", "valid", "test")))
    parser.add_argument("--processes", type=int, default=2)
    typed = parser.parse_args(arguments)
    sizes = sizes_of(typed.rows)
    typed.out.parent.mkdir(parents=True, exist_ok=True)
    with closing(map_ordered(_ROWS, clones_in(typed.clones), max(1, typed.processes))) as parts:
        write_zip(distinct(parts), typed.out, sizes)
    say(f"{typed.out}: {sum(sizes.values()):,} methods, {typed.out.stat().st_size:,} bytes")


def sizes_of(typed: str) -> dict[SplitName, int]:
    """The numbers of rows of TRAIN,VALID,TEST.

    Raises:
        UserError: it has another form.
    """
    if not re.fullmatch(r"\d{1,9},\d{1,9},\d{1,9}", typed, re.ASCII):
        raise UserError(f"--rows takes three numbers TRAIN,VALID,TEST, not {typed!r:.60}")
    train, valid, test = map(int, typed.split(","))
    return {"train": train, "valid": valid, "test": test}


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (UserError, OSError) as error:
        sys.exit(str(error))
