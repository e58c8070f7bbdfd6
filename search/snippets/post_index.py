"""An index of answered questions: BM25 over stems of identifiers and, with a model, vectors; both fused.

A query's candidates are the best posts of BM25 and the nearest vectors. Their scores by both are standardised over the
candidates and added: weight * z(model) + (1 - weight) * z(BM25).

A query is a pasted snippet: code, and the output of a program with its traceback. Nothing of it leaves this machine.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from jaxtyping import Float32, Int64

from baselines.bm25 import TokenBm25
from baselines.snipper_encoder import encode_texts
from baselines.snipper_texts import QueryText, code_words, document_text
from data_prep.errors import UserError, reason_and_file
from data_prep.files.access import ABSENT, read_whole
from data_prep.files.json_text import checked_words, parse_json
from data_prep.files.writing import atomic_folder
from data_prep.posts.post_lines import error_type
from data_prep.posts.sets import Post
from data_prep.store.arrays import weighted, z_scores
from data_prep.traces.trace import plain_text
from experiments.recipes.run_folder import FILES, load_snippet_encoder
from search.retrieval.exact import vector_index
from search.snippets.code_text import shortened

K1: Final = 1.2
B: Final = 0.75
CANDIDATES: Final = 500
"""Posts of each ranker that are fused."""
_SAMPLED: Final = 16
"""One of this many scores is sorted to find out which are high."""
_ABOUT, _TERMS, _POSTS, _STARTS, _VECTORS = "index.json", "terms.json", "posts.jsonl", "starts.npy", "vectors.npy"
_ARRAYS: Final = ("data", "indices", "indptr")
_FORM: Final = "posts index 1"
_EXCERPT: Final = 400
"""Characters of an answer that are shown."""
_ERROR_STARTS: Final = re.compile(
    r"^.*Traceback \(most recent call last\)|^(?:panic|fatal error): |^[^\S\n]*File \"[^\"\n]+\", line \d+"
    r"|^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)\s*(?::|$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class PostHit:
    """A post that was found."""

    rank: int
    score: float
    bm25: float
    model: float | None
    title: str
    url: str
    keyword: tuple[str, ...]
    excerpt: str
    question_by: str
    answer_by: str
    licence: str


def write_index(
    folder: Path, posts: Sequence[Post], model: Path | None, weight: float, about: Mapping[str, Any]
) -> None:
    """Index the answered ones of ``posts``; ``folder``, which only the user may read, is replaced as a whole.

    Raises:
        UserError: none is answered, or there is no model in ``model``.
        OSError: it cannot be written.
    """
    answered = [post for post in posts if post.best_answer]
    if not answered:
        raise UserError(f"none of the {len(posts):,} questions has an accepted answer, so there is nothing to find")
    documents = [document_text(post, body=True) for post in answered]
    vectors = _document_vectors(model, documents) if model else None
    bm25 = TokenBm25(map(code_words, documents), k1=K1, b=B)
    with atomic_folder(folder, private=True) as new:
        for name, array in bm25.arrays.items():
            np.save(new / f"{name}.npy", array, allow_pickle=False)
        (new / _TERMS).write_text(json.dumps([*bm25.terms]), encoding="utf-8")
        starts = _write_posts(new / _POSTS, answered)
        np.save(new / _STARTS, starts, allow_pickle=False)
        head = {"form": _FORM, "posts": len(answered), "weight": weight, "model": model is not None, **about}
        if vectors is not None and model:
            np.save(new / _VECTORS, vectors, allow_pickle=False)
            for name in FILES:
                shutil.copyfile(model / name, new / name)
            head["vectors"] = hashlib.sha256(vectors.ravel().data).hexdigest()
            vector_index(vectors, head["vectors"], new / _VECTORS, "").close()  # stores FAISS' clusters of many posts
        (new / _ABOUT).write_text(json.dumps(head, indent=1), encoding="utf-8")


class PostIndex:
    """An index that was written before."""

    def __init__(self, folder: Path, nearest: str = "") -> None:
        """``nearest``: how vectors are searched, as in :func:`search.retrieval.exact.vector_index`.

        Raises:
            UserError: there is none, it is damaged, or ``nearest`` is something else.
        """
        try:
            self.about = parse_json(read_whole(folder / _ABOUT))
            if self.about["form"] != _FORM:
                raise UserError(f"it is no {_FORM}")
            self.size, self.weight = int(self.about["posts"]), float(self.about["weight"])
            terms = checked_words(parse_json(read_whole(folder / _TERMS)))
            arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS}
            self._bm25 = TokenBm25.restored(terms, arrays, self.size)
            self._starts = np.load(folder / _STARTS, allow_pickle=False)
            self._posts = folder / _POSTS
            if len(self._starts) != self.size + 1:
                raise UserError("its posts do not fit")
            self._model = load_snippet_encoder(folder) if self.about["model"] else None
            name = str(self.about.get("vectors", ""))
            vectors = np.load(folder / _VECTORS, mmap_mode="r", allow_pickle=False) if self._model else None
        except (*ABSENT, EOFError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"expected an index of posts in {folder}, but it cannot be read ({reason_and_file(error)}): make it "
                "with bash run.sh posts index DUMP"
            ) from error
        if vectors is None and nearest not in ("", "exact"):
            raise UserError(f"{folder} has no vectors for --nearest={nearest}: posts index makes them by --model=STAGE")
        self.dim = 0 if vectors is None else int(vectors.shape[1])
        """Length of the vectors; 0 without a model."""
        self._nearest = None if vectors is None else vector_index(vectors, name, folder / _VECTORS, nearest)

    def search(self, query: QueryText, top: int) -> list[PostHit]:
        """The best posts, best first."""
        lexical, rows = self.by_words(query, max(CANDIDATES, top))
        dense = None
        if self._nearest:
            vector, near = self.by_vectors(query, max(CANDIDATES, top))
            rows = np.union1d(rows, near)
            dense = self._nearest.scores(vector, rows)
        scores = lexical[rows] if dense is None else weighted(z_scores(dense), z_scores(lexical[rows]), self.weight)
        order = np.lexsort((rows, -scores))[:top]
        return [
            self._hit(
                rank, int(rows[place]), float(scores[place]), lexical, None if dense is None else float(dense[place])
            )
            for rank, place in enumerate(order.tolist(), 1)
        ]

    def by_words(
        self, query: QueryText, count: int
    ) -> tuple[Float32[np.ndarray, " posts"], Int64[np.ndarray, " found"]]:
        """The BM25 scores of all posts, and the rows of the best ones, ascending."""
        scores = self._bm25.scores([*dict.fromkeys(code_words(query.text))])
        return scores, best_rows(scores, count)

    def by_vectors(
        self, query: QueryText, count: int
    ) -> tuple[Float32[np.ndarray, " dim"], Int64[np.ndarray, " found"]]:
        """The query's vector, and the rows of the nearest posts; the index has a model."""
        assert self._model, "an index with --model"
        assert self._nearest
        model, tokenizer = self._model
        vector = encode_texts(model, tokenizer.queries([query]), "query")
        return vector[0], self._nearest.search(vector, count)[1][0]

    def close(self) -> None:
        """Release the vectors."""
        if self._nearest:
            self._nearest.close()

    def _hit(
        self, rank: int, row: int, score: float, lexical: Float32[np.ndarray, " posts"], dense: float | None
    ) -> PostHit:
        with self._posts.open("rb") as file:
            file.seek(int(self._starts[row]))
            post = parse_json(file.read(int(self._starts[row + 1] - self._starts[row])))
        return PostHit(
            rank, score, float(lexical[row]), dense, **{**post, "keyword": tuple(post["keyword"])}
        )  # fmt: skip


def best_rows(scores: Float32[np.ndarray, " posts"], count: int) -> Int64[np.ndarray, " rows"]:
    """The rows with the highest positive scores.

    A sample of the scores gives a bound above which enough of them lie, so that few are sorted.
    """
    count = min(count, len(scores))
    sample = np.sort(scores[::_SAMPLED])[::-1]
    bound = sample[min(len(sample) - 1, 2 * count // _SAMPLED + 8)]
    rows = np.flatnonzero(scores >= bound)
    if len(rows) < count:
        rows = np.arange(len(scores))
    rows = rows[np.argpartition(-scores[rows], count - 1)[:count]]
    return np.sort(rows[scores[rows] > 0]).astype(np.int64)


def _document_vectors(model: Path, documents: Sequence[str]) -> Float32[np.ndarray, "posts dim"]:
    """The vectors of the documents, all divided by the longest one: dot products keep their order."""
    encoder, tokenizer = load_snippet_encoder(model)
    vectors = encode_texts(encoder, tokenizer.documents(documents), "code")
    longest = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
    return vectors / max(longest, 1.0)


def _write_posts(path: Path, posts: Sequence[Post]) -> Int64[np.ndarray, " edges"]:
    starts = [0]
    with path.open("wb") as file:
        for post in posts:
            record = {
                "title": post.title,
                "url": post.answer_by.url or post.question_by.url,
                "keyword": post.keyword,
                "excerpt": _excerpt(post.best_answer),
                "question_by": post.question_by.author,
                "answer_by": post.answer_by.author,
                "licence": post.answer_by.licence,
            }
            starts.append(starts[-1] + file.write(json.dumps(record).encode() + b"\n"))
    return np.array(starts, np.int64)


def _excerpt(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= _EXCERPT else f"{joined[: _EXCERPT - 1]}…"


def read_snippet(text: str) -> QueryText:
    """The query of a program's text or output: what comes before the first line of an error counts as code.

    Raises:
        UserError: there is nothing in it.
    """
    text = plain_text(text)
    start = found.start() if (found := _ERROR_STARTS.search(text)) else len(text)
    code, error = text[:start].strip("\n"), text[start:].strip("\n")
    if not text.strip():
        raise UserError(
            "expected code or an error: python app.py 2>&1 | bash run.sh posts search, or --snippet=FILE; got nothing"
        )
    return QueryText(shortened(code), shortened(error))


def keyword_of(query: QueryText) -> str:
    """The type of error of a query, "" if it has none."""
    return error_type(query.error) if query.error else ""
