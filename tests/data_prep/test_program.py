"""What counts as the program of a data set: what its module imports, and nothing else."""

import shutil
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import pytest

from data_prep import installation
from data_prep.config import DATASETS
from data_prep.installation import modules_behind, program_sha256

PACKAGE = Path(installation.__file__).parent
MODULES = sorted({target.partition(":")[0] for target in DATASETS.values()})
JDK = DATASETS["jdk"].partition(":")[0]


@pytest.fixture
def package(tmp_path, monkeypatch) -> Path:
    """A copy of the package, which may be edited."""
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(installation, "IMPORT_ROOT", tmp_path)
    imported = installation._named_in
    monkeypatch.setattr(installation, "_named_in", lru_cache(lambda file: [*imported(file)]))  # none is touched
    return tmp_path / PACKAGE.name


def touched(file: Path) -> None:
    file.write_text(f"{file.read_text()}\n# touched\n")


def file_of(package: Path, ending: str) -> Path:
    (file,) = (each for each in package.rglob("*.py") if each.as_posix().endswith(ending))
    return file


def test_the_copy_is_the_same_program(package):
    copied = program_sha256(JDK)
    installation.IMPORT_ROOT = PACKAGE.parent
    assert program_sha256(JDK) == copied
    assert package.is_dir()


def test_gencodesearchnet_has_no_part_in_the_jdk(package):
    before = program_sha256(JDK)
    for file in (package / "gencodesearchnet").glob("*.py"):
        touched(file)
    assert program_sha256(JDK) == before


@pytest.mark.parametrize(
    "ending",
    [
        "/java/scopes.py",
        "/languages/comments.py",
        "/pipeline/filters.py",
        "/pipeline/duplicates.py",
        "/pipeline/splits.py",
    ],
)
def test_java_extraction_has_a_part_in_it(package, ending):
    release = DATASETS["csn_tabcs"].partition(":")[0]
    before = program_sha256(JDK), program_sha256(release)
    touched(file_of(package, ending))
    assert program_sha256(JDK) != before[0]
    assert program_sha256(release) == before[1]  # comes with its pairs


@pytest.mark.parametrize("module", [DATASETS["open_java"].partition(":")[0]])  # which needs most of them
def test_every_module_behind_a_data_set_counts(package, module):
    before = program_sha256(module)
    for name in modules_behind([module]):
        file = package.parent.joinpath(*name.split(".")).with_suffix(".py")
        source = file.read_text()
        touched(file)
        assert program_sha256(module) != before, name
        file.write_text(source)
    assert program_sha256(module) == before


def test_one_data_set_is_no_part_of_another(package):
    before = program_sha256(JDK)
    for module in MODULES:
        if module != JDK:
            touched(package.parent.joinpath(*module.split(".")).with_suffix(".py"))
    assert program_sha256(JDK) == before


def test_another_version_of_the_parser_counts(monkeypatch):
    before = program_sha256(JDK)
    monkeypatch.setattr("importlib.metadata.version", lambda name: version(name) + ".1")
    assert program_sha256(JDK) != before
