"""Writes what the extension knows of languages, from the registry: ``python -m tests.vscode.languages``.

That is ``vscode/src/core/languages.json``, and the events by which the extension is activated in ``package.json``.
"""

import json
from pathlib import Path
from typing import Final

from data_prep.languages.registry import languages
from tests.conftest import REPOSITORY

_FOLDER: Final = REPOSITORY / "vscode"
_MANIFEST: Final = _FOLDER / "package.json"


def files() -> dict[Path, str]:
    """Path -> content."""
    table = [
        {
            "name": each.name,
            "title": each.title,
            "editorNames": each.editor_names,
            "mark": each.line_comment,
            "otherMark": each.other_comment,
            "block": each.block_comment,
            "suffixes": each.suffixes,
            "quotes": [{"mark": one.mark, "escapes": one.escapes, "lines": one.lines} for one in each.quotes],
            "slashExpressions": each.slash_expressions,
            "closing": each.closing,
        }
        for each in languages()
    ]
    manifest = json.loads(_MANIFEST.read_text())
    manifest["activationEvents"] = [f"onLanguage:{name}" for each in languages() for name in each.editor_names]
    lines = ",\n".join(json.dumps(each) for each in table)
    whole = json.dumps(manifest, indent=2, ensure_ascii=False)
    return {_FOLDER / "src" / "core" / "languages.json": f"[\n{lines}\n]\n", _MANIFEST: f"{whole}\n"}


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
