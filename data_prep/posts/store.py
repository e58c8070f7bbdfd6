"""Prepared questions and answers on disk: read from dumps once, then loaded from a folder in the data root."""

import gc
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from data_prep.errors import UserError
from data_prep.files.access import check_folder_place, named_path, read_whole
from data_prep.files.json_text import json_lines, parse_json
from data_prep.files.writing import atomic_folder, sole_holder
from data_prep.installation import default_or_named, processors, program_sha256
from data_prep.posts.dump_files import Dump, find_dump
from data_prep.posts.post_lines import KeptPost
from data_prep.posts.read_dump import Found, read_links, read_posts
from data_prep.posts.sets import NOBODY, Attribution, Post, PostsConfig
from data_prep.worker_pool import pushed

MANIFEST: Final = "manifest.json"
_QUESTIONS: Final = "questions.jsonl.gz"
_ANSWERS: Final = "answers.jsonl.gz"
_LINKS: Final = "links.json"
_READING: Final = ("tag", "since", "until", "error_rule", "inline", "min_chars")
"""Options that determine the stored posts; the others only divide them."""
_LINES: Final = "data_prep.posts.post_lines:post_lines"
_BATCH: Final = 1 << 20
"""Characters of rows that a process reads at once; a row is bounded, and so is memory."""
_LARGE: Final = 8 << 20
"""Bytes of a file from which several processes read it."""


@dataclass(frozen=True)
class PreparedPosts:
    """The questions of one or several sites, in the order of their dumps."""

    posts: tuple[Post, ...]
    folder: Path
    manifest: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """A checksum of what the posts were made from."""
        return str(self.manifest["fingerprint"])


def prepare_posts(config: PostsConfig, *, command: str, say: Callable[[str], None]) -> PreparedPosts:
    """The questions of the dumps of ``config``, from the cache or read anew.

    Raises:
        UserError: a dump is missing, damaged or hostile, or none of its questions is kept.
        OSError: a file cannot be read or written.
    """
    return load_posts(read_dumps(config, command=command, say=say))


def read_dumps(config: PostsConfig, *, command: str, say: Callable[[str], None]) -> Path:
    """The folder of the questions of the dumps of ``config``; they are read unless it is there.

    Raises:
        UserError: a dump is missing, damaged or hostile, or none of its questions is kept.
        OSError: a file cannot be read or written.
    """
    if not config.path:
        raise UserError("expected a dump: --data.path=FOLDER with Posts.xml and PostLinks.xml, or a site's .7z")
    dumps = [find_dump(named_path(path)) for path in config.path]
    if len({dump.site for dump in dumps}) < len(dumps):
        raise UserError(f"two dumps of --data.path are of one site: {', '.join(dump.site for dump in dumps)}")
    sources = _sources(dumps, config)
    fingerprint = hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()
    folder = default_or_named(config.root) / f"posts-{fingerprint[:12]}"
    if not (folder / MANIFEST).exists():
        check_folder_place(folder.parent, "--data.root")
        lock = folder.with_name(f".{folder.name}.lock")
        with sole_holder(lock, lambda: say("waiting for another process that reads these dumps")):
            if not (folder / MANIFEST).exists():
                _make(folder, dumps, config, {"fingerprint": fingerprint, "sources": sources, "command": command}, say)
    return folder


def load_posts(folder: Path) -> PreparedPosts:
    """The posts in a prepared folder, without their HTML.

    Raises:
        UserError: it is damaged or none.
        OSError: it cannot be read.
    """
    try:
        manifest = parse_json(read_whole(folder / MANIFEST))
        links = parse_json(read_whole(folder / _LINKS))
        pointed = {kind: _by_source(links[kind]) for kind in ("duplicate", "linked")}
        with _without_collection():
            answers = {(row["site"], row["question"]): row for _, row in json_lines(folder / _ANSWERS)}
            posts = tuple(_post(row, answers, pointed) for _, row in json_lines(folder / _QUESTIONS))
        if len(posts) != manifest["questions"] or not isinstance(manifest["fingerprint"], str):
            raise UserError(f"{len(posts):,} questions do not fit its manifest")
    except (KeyError, TypeError, UserError) as error:
        raise UserError(f"{folder} is damaged ({error}): remove it, it is made again") from error
    return PreparedPosts(posts, folder, manifest)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without looking for garbage, a fifth of the time where many objects are made that stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _post(
    row: Mapping[str, Any],
    answers: Mapping[tuple[str, int], Mapping[str, Any]],
    pointed: Mapping[str, Mapping[tuple[str, int], tuple[int, ...]]],
) -> Post:
    key = row["site"], row["id"]
    answer = answers.get(key)
    changed = {
        "tags": tuple(row["tags"]),
        "body": "",
        "keyword": tuple(row["keyword"]),
        "best_answer": answer["text"] if answer else "",
        "duplicate_of": pointed["duplicate"].get(key, ()),
        "linked_to": pointed["linked"].get(key, ()),
        "question_by": Attribution(**row["question_by"]),
        "answer_by": Attribution(**answer["answer_by"]) if answer else NOBODY,
    }
    return Post(**{**row, **changed})


def _by_source(links: Sequence[Sequence[Any]]) -> dict[tuple[str, int], tuple[int, ...]]:
    found: dict[tuple[str, int], tuple[int, ...]] = {}
    for site, source, target in links:
        found[site, source] = (*found.get((site, source), ()), target)
    return found


def _sources(dumps: Sequence[Dump], config: PostsConfig) -> dict[str, Any]:
    """Everything that determines the stored posts; a dump's files by size and time, since they may have 100 GB."""
    return {
        "sites": [
            {
                "site": dump.site,
                "question_url": dump.question_url,
                "licence": dump.licence,
                "files": [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in dump.files],
                "links": dump.links is not None,
            }
            for dump in dumps
        ],
        "settings": {name: getattr(config, name) for name in _READING},
        "program": program_sha256("data_prep.posts.read_dump"),
    }


def _make(
    folder: Path, dumps: Sequence[Dump], config: PostsConfig, about: Mapping[str, Any], say: Callable[[str], None]
) -> None:
    links: dict[str, list[tuple[str, int, int]]] = {"duplicate": [], "linked": []}
    counts: dict[str, Counter[str]] = {}
    started = time.perf_counter()
    with atomic_folder(folder) as new:
        with (new / _QUESTIONS).open("wb") as questions, (new / _ANSWERS).open("wb") as answers:
            for dump in dumps:
                counts[dump.site] = _read_site(dump, config, questions, answers, links, say)
        seconds = time.perf_counter() - started
        kept = sum(count["questions kept"] for count in counts.values())
        created = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = {**about, "questions": kept, "counts": counts, "seconds": round(seconds, 1), "created": created}
        (new / _LINKS).write_text(json.dumps(links), encoding="utf-8")
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def _read_site(
    dump: Dump,
    config: PostsConfig,
    questions: IO[bytes],
    answers: IO[bytes],
    links: dict[str, list[tuple[str, int, int]]],
    say: Callable[[str], None],
) -> Counter[str]:
    if dump.links is None:
        say(f"{dump.site}: no PostLinks.xml, so no duplicates: no evaluation set and nothing to pre-train on")
    started = time.perf_counter()
    found = _read_posts(dump, config, questions, answers)
    for kind, pairs in read_links(dump, found).items():
        links[kind] += [(dump.site, *pair) for pair in pairs]
        found.counts[f"{kind} links"] = len(pairs)
    stated = ", ".join(f"{name} {count:,}" for name, count in found.counts.items() if count)
    seconds = time.perf_counter() - started
    say(f"{dump.site}: kept {len(found.kept):,} questions in {seconds:.1f} s ({stated})")
    found.counts["questions kept"] = len(found.kept)
    return found.counts


def _read_posts(dump: Dump, config: PostsConfig, questions: IO[bytes], answers: IO[bytes]) -> Found:
    """Read Posts.xml here, and its HTML in other processes, which also pack it; all in the file's order."""
    batch: list[KeptPost] = []
    size = 0

    def write(lines: tuple[bytes, bytes]) -> None:
        questions.write(lines[0])
        answers.write(lines[1])

    def keep(post: KeptPost) -> None:
        nonlocal batch, size
        batch.append(post)
        size += 200 + len(post.row.get("Body", ""))  # with the rest of the row
        if size >= _BATCH:
            push((dump, config, batch))
            batch, size = [], 0

    # one process per processor, but for a dump so small that starting them takes longer than reading it
    processes = processors() if dump.posts.path.stat().st_size >= _LARGE else 1
    with pushed(_LINES, write, processes) as push:
        found = read_posts(dump, config, keep)
        push((dump, config, batch))
    return found
