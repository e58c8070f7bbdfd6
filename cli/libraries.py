"""What libraries and other programs read and make by themselves, kept away from folders that anyone may have filled."""

import os

from data_prep.files.named_paths import forget_relative_homes
from data_prep.installation import IMPORT_ROOT


def keep_libraries_apart() -> None:
    """Set the environment of this process and its children, before libraries are imported.

    (matplotlib can only be kept apart where it is imported: ``training/drawing.py``.)
    """
    forget_relative_homes()
    os.environ["PYTHONSAFEPATH"] = "1"  # else `python -m` imports modules of the current folder
    os.environ["PYTHON_DOTENV_DISABLED"] = "1"  # pymilvus reads .env in its own folder and in all above it
    # When imported, torch makes this folder, by default one in /tmp, whose name another user may have taken. So it is
    # one that exists: nothing is stored there, since nothing is compiled by torch.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(IMPORT_ROOT))
