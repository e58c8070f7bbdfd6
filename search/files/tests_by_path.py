"""Which files are tests, by their paths."""

import re
from typing import Final

_TEST: Final = re.compile(
    r"(?:^|/)(?:test|tests|testing|androidtest|test-src|testsrc|__tests__|specs?|benchmarks?)/|(?:tests?|testcase|it)\.java$"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.\w+$|[.-](?:test|spec)s?\.\w+$",
    re.IGNORECASE,
)


def is_test(path: str) -> bool:
    """Whether a file is a test, by its folder or its name."""
    return _TEST.search(path) is not None
