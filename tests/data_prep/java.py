"""Java text to records, for tests."""

from data_prep.pipeline.java_extraction import methods_of
from data_prep.records import Method, Pair, SourceFile


def java_file(text: str | bytes, path: str = "a/Sample.java") -> SourceFile:
    return SourceFile("test", path, text.encode() if isinstance(text, str) else text)


def methods(text: str | bytes, *, documented_only: bool = False) -> list[Method]:
    return list(methods_of(java_file(text), documented_only=documented_only))


def pair(path="A.java", line=1, *, name=("go",), tokens=(), api=(), query=("go", "on"), split=None) -> Pair:
    fields = {"name": tuple(name), "tokens": tuple(tokens), "api": tuple(api), "ast": ()}
    method = Method("test", path, line, line + 2, "A", "go", "method", "", "", fields, split)
    return Pair(method, " ".join(query), tuple(query))
