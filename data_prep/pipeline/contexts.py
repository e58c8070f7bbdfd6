"""Contexts of functions: as triples cut out of a corpus's shards, and as fields of the query side, words or lines.

A triple is query, context and function, the record of Scotch's data set (row K-9), with its attribution. As a field, a
context has the words of the text before a function, nearest last, or its lines. A part of it, its imports, the head of
the type around the function or its nearest lines, is found by lines: the text is of any language and perhaps broken.
Contexts are cut out when a model asks for them; prepared pairs do not have them, nor have data sets without shards.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np

from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from data_prep.pipeline.shards import CorpusFile, CorpusFunction, TreeName, link, read_files, read_head
from data_prep.records import CONTEXT_FIELD, SPLITS, SplitName
from data_prep.store.arrays import Int, Ragged
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import Split

CONTEXT: Final = 4_000
"""Characters of a context by default: more than a transformer of 512 subwords reads."""
CONTEXT_LINES: Final = "context_lines"
"""The field that has their lines, each an entry of the lexicon, for models that read text."""
NEAREST: Final = 10
"""Lines of the part ``nearest``."""
_MODIFIERS: Final = r"(?:(?:export|default|abstract|public|private|protected|static|final|sealed|declare|data)\s+)*"
_TYPE: Final = re.compile(rf"\s*(?:@\w+\s+)*{_MODIFIERS}(?:class|interface|enum|record|struct|type|trait)\s+\w")
_IMPORT: Final = re.compile(r"\s*(?:import|from|package|export\s.*\bfrom|(?:const|let|var)\s.*=\s*require\s*\()(?!\w)")
_LONGEST_IMPORT: Final = 200
"""Lines of one import at most: a bracket that is never closed ends there."""
_FIELDS: Final = frozenset((CONTEXT_FIELD, CONTEXT_LINES))
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Triple:
    """A documented function and the text before it."""

    repository_name: str
    function_path: str
    function_identifier: str  # "" if it has no name
    language: str
    function: str  # without comments, docstrings and blank lines
    docstring: str
    function_url: str
    context: str  # the same of the text before the function, its end
    license: str  # SPDX


def triples(data: PreparedData, split: SplitName, shards: Path, *, limit: int = CONTEXT) -> Iterator[Triple]:
    """The triples of a split's pairs, in its order.

    Args:
        data: as prepared from ``shards``, limited or not.
        split: of it.
        shards: the folder of the shards, ``data/raw/repositories/shards``.
        limit: characters of a context, its last; 0: all.

    Raises:
        UserError: a shard is missing, or of another program than the pairs.
    """
    origin, tree, files = "", TreeName("", "", ""), dict[str, CorpusFile]()
    for row in range(len(data.splits[split])):
        text = data.splits[split].text(row)
        if text.origin != origin:
            origin = text.origin
            tree, files = _shard_of(origin, shards)
        functions = files[text.path].functions if text.path in files else ()
        found = (each for each in functions if each.start_line == text.start_line and not each.reason)
        function = next((each for each in found if each.name == text.method_name), None)
        if function is None:
            raise UserError(f"{text.path} of {origin} has other functions than the pairs: prepare them again")
        yield _triple(tree, files[text.path], function, limit)


def _shard_of(origin: str, shards: Path) -> tuple[TreeName, dict[str, CorpusFile]]:
    """The source tree of an origin, NAME@REVISION, and its files by their paths."""
    name, _, revision = origin.rpartition("@")
    shard = shards / f"{TreeName(name, revision, '').slug}.jsonl.gz"
    if not shard.is_file():
        raise UserError(f"{shard} is missing: prepare the data set again")
    return TreeName(**read_head(shard)["tree"]), {file.path: file for file in read_files(shard)}


def _triple(tree: TreeName, file: CorpusFile, function: CorpusFunction, limit: int) -> Triple:
    return Triple(
        repository_name=tree.name,
        function_path=file.path,
        function_identifier=function.dotted,
        language=file.language,
        function=file.code(function),
        docstring=function.doc,
        function_url=link(tree, file.path, function),
        context=file.context(function, limit),
        license=file.licence,
    )


Part = Literal["all", "imports", "type", "nearest", "heads"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)


def context_words(text: str, longest: int) -> tuple[str, ...]:
    """The distinct parts of the identifiers of ``text``, lower-case, by their last occurrence; the last ``longest``."""
    found: dict[str, None] = {}  # from the end
    for identifier in reversed(_IDENTIFIER.findall(text)):
        for part in reversed(split_identifier(identifier)):
            found.setdefault(part)
            if len(found) >= longest:
                return tuple(reversed(found))
    return tuple(reversed(found))


def with_contexts(
    data: PreparedData,
    shards: Path,
    *,
    longest: int,
    part: Part = "all",
    lines: bool = False,
    splits: Sequence[SplitName] = SPLITS,
) -> PreparedData:
    """``data`` with the field ``context``, and ``context_lines`` if wanted.

    Args:
        data: as prepared from ``shards``, limited or not.
        shards: their folder.
        longest: words of a context, at least 1.
        part: of the text; ``all`` and ``nearest`` are of its last :data:`CONTEXT` characters.
        lines: whether to add the lines.
        splits: those that are read; the others keep no contexts.

    Raises:
        UserError: a shard is missing, or of another program than the pairs.
    """
    found = dict(data.splits)
    limit = CONTEXT if part in ("all", "nearest") else 0
    for name in splits:
        texts = (part_of(triple.context, part) for triple in triples(data, name, shards, limit=limit))
        found[name] = asked_under(data.splits[name], texts, longest=longest, lines=lines)
    return replace(data, splits=found)


def asked_under(split: Split, contexts: Iterable[str], *, longest: int, lines: bool = False) -> Split:
    """``split`` whose queries are asked under ``contexts``, plain code without comments, one for each row in order.

    Args:
        split: of any number of rows, such as one typed query.
        contexts: of any length, "" for none.
        longest: words of a context.
        lines: whether to add the field of lines too.
    """
    lexicon = list(split.lexicon)
    place: dict[str, int] = {word: number for number, word in enumerate(lexicon)}

    def numbers(words: Iterable[str]) -> Iterator[int]:
        for word in words:
            number = place.setdefault(word, len(lexicon))
            if number == len(lexicon):
                lexicon.append(word)
            yield number

    of_words, of_lines = [], []
    for text in contexts:
        of_words.append([*numbers(context_words(text, longest))])
        if lines:
            of_lines.append([*numbers(text.splitlines())])
    fields: Mapping[str, Ragged] = {**split.words, CONTEXT_FIELD: Ragged.of(of_words)}
    return replace(split, lexicon=lexicon, words={**fields, **({CONTEXT_LINES: Ragged.of(of_lines)} if lines else {})})


def without_contexts(split: Split) -> Split:
    """``split`` whose queries have no contexts."""
    return replace(split, words={field: lists for field, lists in split.words.items() if field not in _FIELDS})


def nearest_words(split: Split, longest: int) -> Split:
    """``split`` with at most the last ``longest`` words of each context."""
    lists = split.words[CONTEXT_FIELD]
    cut = Ragged.of([lists[row][max(0, len(lists[row]) - longest) :].tolist() for row in range(len(split))])
    return replace(split, words={**split.words, CONTEXT_FIELD: cut})


def shuffled_contexts(split: Split, seed: int) -> Split:
    """``split`` where each query has the context of another row: they are passed on along a random cycle.

    Raises:
        UserError: it has no contexts, or only one row.
    """
    if CONTEXT_FIELD not in split.words or len(split) < 2:
        raise UserError(f"contexts of {len(split)} pairs cannot be exchanged: give two or more, with contexts")
    cycle = np.random.default_rng(seed).permutation(len(split))
    giver = np.empty(len(split), np.int64)
    giver[cycle] = np.roll(cycle, 1)
    return _given(split, giver)


def contexts_of_neighbours(split: Split, seed: int) -> Split:
    """``split`` where each query has the context of a random function of another file of the same source tree.

    A query whose tree has no other file has no context.

    Raises:
        UserError: it has no contexts.
    """
    if CONTEXT_FIELD not in split.words:
        raise UserError("contexts cannot be exchanged: there are none")
    files: dict[str, dict[str, list[int]]] = {}
    for row in range(len(split)):
        text = split.text(row)
        files.setdefault(text.origin, {}).setdefault(text.path, []).append(row)
    random, giver = np.random.default_rng(seed), np.full(len(split), -1, np.int64)
    for of_tree in files.values():
        rows, start = np.concatenate([*map(np.asarray, of_tree.values())]), 0
        for own in of_tree.values():
            if others := len(rows) - len(own):
                places = random.integers(others, size=len(own))
                giver[own] = rows[places + len(own) * (places >= start)]  # past the file's own rows
            start += len(own)
    return _given(split, giver)


def _given(split: Split, giver: Int[np.ndarray, " rows"]) -> Split:
    """``split`` where each row has the context of the row ``giver``, none where that is -1."""
    found = {}
    for field in _FIELDS & {*split.words}:
        lists = split.words[field]
        empty = Ragged(lists.values, np.append(lists.offsets, lists.offsets[-1]))  # one more list, without words
        found[field] = empty.take(np.where(giver < 0, len(split), giver))
    return replace(split, words={**split.words, **found})


def asked_with_context(split: Split, *, rarest: int, counts: Int[np.ndarray, " lexicon"]) -> Split:
    """``split`` whose queries also have the ``rarest`` words of their context, as BM25 can read them.

    Args:
        split: with contexts.
        rarest: number of words that are added to a query.
        counts: of each word of its lexicon, how many documents of the pool have it; a word of none is never added.
    """
    lists = []
    for row in range(len(split)):
        known = [number for number in split.words[CONTEXT_FIELD][row].tolist() if counts[number]]
        added = sorted(known, key=lambda number: (counts[number], number))[:rarest]
        lists.append([*split.words["query"][row].tolist(), *added])
    return replace(split, words={**split.words, "query": Ragged.of(lists)})


def document_counts(split: Split) -> Int[np.ndarray, " lexicon"]:
    """Of each word of the lexicon, how many functions have it in their name or tokens."""
    counts = np.zeros(len(split.lexicon), np.int64)
    for row in range(len(split)):
        counts[np.union1d(split.words["name"][row], split.words["tokens"][row])] += 1
    return counts


def part_of(text: str, part: Part) -> str:
    """A part of the context ``text``, as lines.

    ``imports``: import and package statements with all their lines. ``type``: the last line that declares a type.
    ``nearest``: the last :data:`NEAREST` lines. ``heads``: imports, then the type, then the nearest lines.
    """
    if part == "all":
        return text
    lines = text.splitlines()
    match part:
        case "imports":
            found: Sequence[str] = [*_imports(lines)]
        case "type":
            found = _type_head(lines)
        case "nearest":
            found = lines[-NEAREST:]
        case "heads":
            before, nearest = lines[:-NEAREST], lines[-NEAREST:]
            found = [*_imports(before), *_type_head(before), *nearest]
    return "".join(f"{line}\n" for line in found)


def _imports(lines: Sequence[str]) -> Iterator[str]:
    open_brackets, left = 0, 0
    for line in lines:
        if not left and not _IMPORT.match(line):
            continue
        yield line
        left = left or _LONGEST_IMPORT
        open_brackets += sum(line.count(each) for each in "({") - sum(line.count(each) for each in ")}")
        left -= 1
        if open_brackets <= 0 or not left:
            open_brackets, left = 0, 0


def _type_head(lines: Sequence[str]) -> Sequence[str]:
    return next(([line] for line in reversed(lines) if _TYPE.match(line)), [])
