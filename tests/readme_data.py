"""Few sources in the places where README's lines of training look for theirs."""

import zipfile
from pathlib import Path

from data_prep.pipeline.java_extraction import methods_of
from data_prep.records import SourceFile
from tests.data_prep.csn_files import Rows, row_of

PACKAGES = 24
_METHOD = """
    /** Reads the lines of the given {what} and returns their number {number}. */
    public int read{number}(String path, int limit) {{
        int total = path.length() + {number};
        total += limit;
        return total * {number};
    }}
"""


def sources() -> dict[str, str]:
    """Java files by their places in a JDK's src.zip, each of a package of its own."""
    found = {}
    for place in range(PACKAGES):
        methods = "".join(_METHOD.format(what=f"file{place}", number=100 + 10 * place + k) for k in range(4))
        found[f"java.base/java/p{place}/C{place}.java"] = (
            f"package java.p{place};\npublic class C{place} {{{methods}}}\n"
        )
    return found


def write_jdk(home: Path) -> None:
    """A JDK's home of the release that is preferred to all installed ones, for ``JAVA_HOME``."""
    (home / "lib").mkdir(parents=True)
    (home / "release").write_text('JAVA_VERSION="17.999.0"\n')
    with zipfile.ZipFile(home / "lib" / "src.zip", "w") as archive:
        for name, text in sources().items():
            archive.writestr(name, text)


def csn_rows() -> Rows:
    """The same methods as rows of CodeSearchNet."""
    found = [
        method
        for name, text in sources().items()
        for method in methods_of(SourceFile("jdk", name, text.encode()), documented_only=True)
    ]
    parts = {"train": found[: -2 * PACKAGES], "valid": found[-2 * PACKAGES : -PACKAGES], "test": found[-PACKAGES:]}
    return {split: [row_of(each, split) for each in methods] for split, methods in parts.items()}
