"""How many of this program's modules a command passes through: those of which a function runs.

``python -m tests.walked_modules ARGUMENTS`` prints them for one command line, such as ``search "read a file"``, in the
order in which they are first entered, and those that are imported alone. docs/architecture.md quotes the counts, and
``tests/cli/test_walks.py`` holds them to its bounds.
"""

import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any

from data_prep.installation import IMPORT_ROOT

ROOMS = ("data_prep", "modeling", "galm", "baselines", "training", "evaluation", "experiments", "search", "cli")


def walked(arguments: Sequence[str]) -> tuple[list[str], list[str], int]:
    """The modules that ``arguments`` pass through, those that are only imported, and the exit code."""
    entered: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and not frame.f_code.co_name.startswith("<") and _is_function(frame):
            entered.setdefault(frame.f_globals.get("__name__", ""))

    slow = ("torch",) if arguments[0] in ("search", "index") else ("torch_geometric.nn", "torch.utils.tensorboard")
    for library in slow:  # to import it would take long under a trace
        import_module(library)
    from cli.main import main

    threading.settrace(note)
    sys.settrace(note)
    try:
        code = main(arguments)
    finally:
        sys.settrace(None)
        threading.settrace(None)
    ours = [name for name in entered if name.partition(".")[0] in ROOMS]
    imported = [name for name, module in sys.modules.items() if name.partition(".")[0] in ROOMS and _has_code(module)]
    return ours, sorted({*imported} - {*ours}), code


def _is_function(frame: FrameType) -> bool:
    """Whether a frame runs a function, not the body of a class, which runs when its module is imported.

    Nor do comprehensions count, whose names begin with ``<``: they run in a function, or at the import.
    """
    return bool(frame.f_code.co_flags & 0x1) and frame.f_code.co_filename.startswith(str(IMPORT_ROOT))


def _has_code(module: Any) -> bool:
    """Whether a module is more than an empty package."""
    return not (getattr(module, "__file__", None) or "").endswith("__init__.py")


if __name__ == "__main__":
    entered, imported, code = walked(sys.argv[1:])
    sys.stdout.write("\n".join([*entered, f"{len(entered)} passed through, {len(imported)} more imported\n"]))
    sys.exit(code)
