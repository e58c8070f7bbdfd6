"""Which files are tests, by their paths."""

import re
from typing import Final

from data_prep.languages.registry import language_of

_TEST: Final = re.compile(
    r"(?:^|/)(?:test|tests|testing|androidtest|test-src|testsrc|__tests__|specs?|benchmarks?)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test)\.\w+$|[.-](?:test|spec)s?\.\w+$",
    re.IGNORECASE,
)


def is_test(path: str) -> bool:
    """Whether a file is a test, by its folder or its name."""
    if _TEST.search(path):
        return True
    language = language_of(path)
    return language is not None and re.search(rf"{language.test_files}\.\w+$", f"/{path}", re.IGNORECASE) is not None
