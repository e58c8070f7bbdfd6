"""The folder of a run is checked before anything is prepared or trained."""

import pytest

from experiments.recipes.config import resolve
from experiments.recipes.run_folder import named_folder


def test_a_checkout_that_cannot_be_written_is_told_at_once(tmp_path, monkeypatch):
    (tmp_path / "checkout").touch()  # nothing can be created in it, also not by root
    monkeypatch.setattr("experiments.recipes.run_folder.REPOSITORY", tmp_path / "checkout")
    with pytest.raises(ValueError, match=r"--out=.*runs cannot be written"), named_folder(resolve("jdk", "bm25", {})):
        pass
    with named_folder(resolve("jdk", "bm25", {"out": str(tmp_path / "run")})):
        pass
