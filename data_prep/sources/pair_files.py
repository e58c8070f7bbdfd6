"""Files of pairs: rows of one's own in any place, and the form of BEIR and CoIR."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.access import named_path, open_regular
from data_prep.files.json_text import json_lines
from data_prep.files.text_rows import LeftOut
from data_prep.files.writing import atomic_folder
from data_prep.records import SPLITS, SplitName
from data_prep.sources.pair_rows import SPLIT_WORDS, PairRow, bounded, chosen_columns, pair_row, rows_of, split_in
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import PairText, Split

FORMS: Final = (".jsonl", ".jsonl.gz", ".json", ".ndjson", ".csv", ".tsv", ".parquet")
_PARTS: Final = ("corpus", "queries")
_ENDINGS: Final = (".jsonl", ".jsonl.gz")
_LONGEST: Final = 1 << 16  # characters of a line of qrels
_TOLD: Final = ("language", "group", "name", "licence")


@dataclass(slots=True)
class PairFile:
    """A file of rows, and the split that it is for; None: its rows or their number tell it."""

    path: Path
    split: SplitName | None = None


@dataclass(slots=True)
class PairSource:
    """The files that ``--data.path`` names, and what their columns are called."""

    files: Sequence[PairFile]
    columns: Mapping[str, str] = field(default_factory=dict)  # field of a pair -> column
    has_splits: bool = True  # False: what rows say of it is not read

    def rows(self, left_out: LeftOut) -> Iterator[PairRow]:
        """The rows of all files, in order; what is none is told with its place and the reason.

        Raises:
            UserError: a file cannot be read as what its name says, or lacks a column.
        """
        for file in self.files:
            for where, row in rows_of(file.path, left_out, self.columns):
                found = pair_row(row, where, file.split, self.columns, has_splits=self.has_splits)
                if isinstance(found, str):
                    left_out(where, found)
                else:
                    yield found


def named_files(text: str) -> list[PairFile]:
    """The files of a comma-separated list of files, folders and patterns, each with ``train=``, ``test=`` or none.

    A file without it is for the split that its name has, such as ``dev.jsonl``, if others are of another, or if it is a
    test.

    Raises:
        UserError: there is no such file, or it has no known form.
    """
    found, told = list[PairFile](), list[SplitName | None]()
    for split, name in _parts(text):
        place = named_path(name)
        for path in _files_at(place):
            found.append(PairFile(path, SPLIT_WORDS.get(split)))
            told.append(split_in(path.relative_to(place) if place.is_dir() else Path(path.name)))
    names = {own for own, file in zip(told, found, strict=True) if not file.split}
    if len(names) > 1 or names == {"test"}:
        for own, file in zip(told, found, strict=True):
            file.split = file.split or own
    return found


def _parts(text: str) -> list[tuple[str, str]]:
    """The split, "" for none, and the path of each part of a list of files."""
    if named_path(text).exists():
        return [("", text)]
    found = []
    for part in text.split(","):
        word, _, name = part.strip().partition("=")
        found.append((word.lower(), name) if word.lower() in SPLIT_WORDS else ("", part.strip()))
    return found


def absolute_list(text: str) -> str:
    """A list of files, folders and patterns with absolute paths, by which another folder finds them too."""
    return ",".join(f"{split}{'=' * bool(split)}{named_path(name)}" for split, name in _parts(text))


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(each for each in path.rglob("*") if each.name.endswith(FORMS) and each.is_file())
    elif {*"*?["} & {*path.name} and not path.exists():
        found = sorted(each for each in path.parent.glob(path.name) if each.is_file())
    else:
        found = [path] if path.exists() else []
    if not found:
        raise UserError(f"--data.path={path} has no file of pairs: expected {', '.join(FORMS)}, or a folder of them")
    if unknown := [each for each in found if not each.name.endswith(FORMS)]:
        raise UserError(f"{unknown[0]} has no known form: expected a name that ends in {', '.join(FORMS)}")
    return found


_Texts = Mapping[str, Mapping[str, Any]]


def is_beir(place: Path) -> bool:
    """Whether a folder has a corpus, and queries or what is sought."""
    has_corpus, has_queries = (_found(place, part) is not None for part in _PARTS)
    return has_corpus and (has_queries or (place / "qrels").is_dir())


def _found(place: Path, part: str) -> Path | None:
    return next((path for end in _ENDINGS if (path := place / f"{part}{end}").is_file()), None)


@dataclass(slots=True)
class BeirSource:
    """A folder of such files."""

    place: Path
    columns: Mapping[str, str] = field(default_factory=dict)  # field of a pair -> column of the corpus

    @property
    def files(self) -> list[PairFile]:
        """The files.

        Raises:
            UserError: there are no queries, or none says what is sought.
        """
        found = [path for part in _PARTS if (path := _found(self.place, part))]
        if len(found) < len(_PARTS):
            raise UserError(f"--data.path={self.place} has {found[0].name}, but no queries.jsonl: add it")
        qrels = sorted((self.place / "qrels").glob("*.tsv")) or sorted(self.place.glob("qrels*.tsv"))
        if not qrels:
            raise UserError(f"--data.path={self.place} has a corpus and queries, but no qrels/*.tsv: add them")
        return [*(PairFile(path) for path in found), *(PairFile(path, SPLIT_WORDS.get(path.stem)) for path in qrels)]

    def rows(self, left_out: LeftOut) -> Iterator[PairRow]:
        """A row for each query and code that it seeks, then the other codes of the test.

        Raises:
            UserError: a file is damaged.
        """
        corpus, queries, *qrels = self.files
        codes, texts = _by_id(corpus.path, left_out), _by_id(queries.path, left_out)
        sought: dict[SplitName | None, set[str]] = {}
        for file in qrels:
            lines = [*_qrels(file.path, left_out)]
            if not lines:
                left_out(f"{file.path}:1", "no code is sought by any line")
            for where, query, code in lines:
                if query not in texts or code not in codes:
                    what = f"query of {queries.path.name}" if query not in texts else f"code of {corpus.path.name}"
                    left_out(where, f"no such {what}: {query if query not in texts else code:.40}")
                    continue
                found = self._row(codes[code], code, where, file.split, _text_of(texts[query]))
                if isinstance(found, str):
                    left_out(where, found)
                else:
                    sought.setdefault(file.split, set()).add(code)
                    yield found
        yield from self._candidates(codes, sought.get("test", set()), f"{corpus.path}", left_out)

    def _candidates(self, codes: _Texts, sought: set[str], where: str, left_out: LeftOut) -> Iterator[PairRow]:
        for number, (name, row) in enumerate(codes.items(), 1):
            splits = row.get("splits")
            if name in sought or (isinstance(splits, list) and "test" not in splits):
                continue
            found = self._row(row, name, f"{where}:{number}", "test", "")
            if isinstance(found, str):
                left_out(f"{where}:{number}", found)
            else:
                yield found

    def _row(
        self, code: Mapping[str, Any], name: str, where: str, split: SplitName | None, query: str
    ) -> PairRow | str:
        more = code.get("metadata") if isinstance(code.get("metadata"), dict) else {}
        fields = {**more, **code} if more else code
        named = chosen_columns(fields, self.columns)
        told = {each: next((str(fields[column]) for column in named[each] if fields[column]), "") for each in _TOLD}
        text = _text_of(code)
        if not text.strip():
            return "no code"
        return bounded(PairRow(
            where, query, text, split, told["language"], told["group"], name, 1, told["name"] or _title(code),
            told["licence"], code_id=name,
        ))  # fmt: skip


def _title(code: Mapping[str, Any]) -> str:
    """The title, if it may be the name of a function."""
    title = code.get("title")
    return title if isinstance(title, str) and title.replace(".", "").replace("_", "").isalnum() else ""


def _text_of(row: Mapping[str, Any]) -> str:
    text = row.get("text")
    return text if isinstance(text, str) else ""


def _by_id(path: Path, left_out: LeftOut) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for number, row in json_lines(path, left_out):
        name = row.get("_id", row.get("id"))
        if not isinstance(name, str | int):
            left_out(f"{path}:{number}", "no _id")
        elif not _text_of(row).strip():
            left_out(f"{path}:{number}", "no text")
        elif found.setdefault(str(name), row) is not row:
            left_out(f"{path}:{number}", "an _id of an earlier line")
    return found


def _qrels(path: Path, left_out: LeftOut) -> Iterator[tuple[str, str, str]]:
    """The place, query and code of each line about a code that is sought."""
    with open_regular(path) as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            cells = line.decode("utf-8-sig", "replace").split("\t" if b"\t" in line else None)
            cells = [cell.strip() for cell in cells]
            if not any(cells) or (number == 1 and not _is_number(cells[-1])):
                continue
            where = f"{path}:{number}"
            if len(cells) not in (3, 4) or not _is_number(cells[-1]):
                left_out(where, "no line of qrels: expected query, code and a number, separated by tabs")
            elif float(cells[-1]) > 0:
                yield where, cells[0], cells[-2]


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False


def write_beir(data: PreparedData, folder: Path) -> dict[str, int]:
    """Write a prepared data set in this form; the numbers of codes, queries and lines of qrels.

    Equal queries of a split are one, and so are codes of the same place and text.

    Raises:
        OSError: the folder cannot be written.
    """
    codes: dict[tuple[str, ...], dict[str, Any]] = {}
    queries: dict[tuple[str, str], dict[str, str]] = {}
    lines: dict[SplitName, dict[tuple[str, str], None]] = {}
    for name in SPLITS:
        split = data.splits[name]
        for row, text in enumerate(map(split.text, range(len(split)))):
            code = codes.setdefault(text.code_key, _code(text, split, row, f"c{len(codes)}"))
            code["splits"] = sorted({*code["splits"], name})
            if text.query_text and len(split.words["query"][row]):
                query = queries.setdefault(
                    (name, text.query_text), {"_id": f"q{len(queries)}", "text": text.query_text}
                )
                lines.setdefault(name, {})[query["_id"], code["_id"]] = None
    with atomic_folder(folder) as new:
        (new / "qrels").mkdir()
        _write(new / "corpus.jsonl", map(json.dumps, codes.values()))
        _write(new / "queries.jsonl", map(json.dumps, queries.values()))
        for name, pairs in lines.items():
            head = ["query-id\tcorpus-id\tscore"]
            _write(new / "qrels" / f"{name}.tsv", chain(head, (f"{query}\t{code}\t1" for query, code in pairs)))
    return {"codes": len(codes), "queries": len(queries), "qrels": sum(map(len, lines.values()))}


def _code(text: PairText, split: Split, row: int, name: str) -> dict[str, Any]:
    title = f"{text.type_name}.{text.method_name}" if text.type_name else text.method_name
    words = " ".join(split.word_list("tokens", row))
    metadata = {"path": text.path, "licence": text.licence} if text.licence else {"path": text.path}
    return {"_id": name, "title": title, "text": text.source or words, "metadata": metadata, "splits": []}


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
