"""Real pairs for the tests: a few methods of the JDK, and the published test sets found beside the repository."""

import gzip
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from data_prep.records import CODE_FIELDS, Method, Pair
from data_prep.store.split import Split

SHARED = Path(__file__).parents[3] / "shared" / "data"

# query; name; tokens; api
JDK = (
    ("returns the number of elements in this list", "size", "size", ""),
    ("removes all of the elements from this list", "clear", "mod count es element data to size i", ""),
    ("returns true if this list contains no elements", "is empty", "size", ""),
    ("returns true if this list contains the specified element", "contains", "index of o", "ArrayList indexOf"),
    ("appends the specified element to the end of this list", "add", "mod count e element data size", "ArrayList add"),
    (
        "compares two strings lexicographically",
        "compare to",
        "v1 value v2 coder",
        "String coder StringLatin1 compareTo",
    ),
    ("returns true if this string is empty", "is empty", "value length", ""),
    ("removes all of the mappings from this map", "clear", "tab mod count table size i", ""),
    ("returns the number of key value mappings in this map", "size", "size", ""),
    ("returns an unmodifiable view of the specified list", "unmodifiable list", "list", "UnmodifiableList new"),
)


def jdk_split(size: int = len(JDK)) -> Split:
    """A few methods of java.util and java.lang, over again to make ``size`` pairs."""
    pairs = [_pair("jdk", row, *(text.split() for text in texts)) for row, texts in enumerate(JDK)]
    return Split.of("test", pairs).take(np.arange(size) % len(JDK))


@lru_cache(maxsize=2)
def published_split(name: str) -> Split:
    """The published test set ``name``, "csn_tabcs" or "jcg_tabcs", without the words that its release had lost."""
    path = SHARED / name / "test.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"needs the published test set {name}/test.jsonl.gz beside the repository, in ../shared/data")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    fields = ("query", *CODE_FIELDS)  # the releases have no statement trees
    words = [[[word for word in row.get(field, []) if word != "<unk>"] for field in fields] for row in rows]
    return Split.of("test", [_pair(name, row, *lists) for row, lists in enumerate(words)])


def _pair(origin: str, row: int, query: list[str], *code: list[str]) -> Pair:
    fields = dict.fromkeys(CODE_FIELDS, ()) | {field: tuple(x) for field, x in zip(CODE_FIELDS, code, strict=False)}
    place = {"origin": origin, "path": f"java base/{row // 100}.java", "start_line": row % 100, "end_line": row % 100}
    texts = {"type_name": "", "name": "".join(code[0]), "kind": "method", "source": "", "documentation": ""}
    return Pair(Method(**place, **texts, fields=fields), " ".join(query), tuple(query))
