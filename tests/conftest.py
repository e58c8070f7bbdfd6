import fcntl
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checked_types import check_types

check_types(
    (
        "data_prep",
        "modeling",
        "galm",
        "baselines",
        "training",
        "evaluation",
        "experiments.recipes",
        "search",
        "neural_code_search",
    )
)  # before any of them is imported

# Workers share the cores: more threads than that only slow each other, and sums would differ between machines.
os.environ.setdefault("OMP_NUM_THREADS", "1")

REPOSITORY = Path(__file__).resolve().parent.parent
SMALL_PACKAGES = ("java.base/java/util/concurrent/", "java.base/java/util/stream/")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """What a test printed goes from one process to another, as UTF-8, whatever it printed."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


@pytest.fixture(autouse=True, scope="session")
def one_thread_a_worker():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def compiled() -> Callable[[Path], None]:
    """Copies the compiled kernels to a home of caches: each process that finds none there compiles for 20 seconds."""
    from data_prep.files.access import cache_folder, make_own_folder
    from galm.fast.kernel_functions import torch_kernels
    from galm.fast.kernels import kernels_for
    from modeling.c_library import load_c
    from search.retrieval.exact import ROUNDED

    make_own_folder(cache_folder())
    with (cache_folder() / "tests.compiling").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two workers, one compiles
        torch_kernels()
        kernels_for("one thread")
        load_c(ROUNDED)
    found = list(cache_folder().glob("*.so"))

    def copy(home: Path) -> None:
        make_own_folder(home / "galm")
        for each in found:
            shutil.copy(each, home / "galm")

    return copy


@pytest.fixture(scope="session")
def jdk_zip() -> Path:
    """The sources of an installed JDK."""
    from data_prep.datasets.jdk import choose, find_sources, homes

    found = choose(find_sources(homes(os.environ)))
    return found.zip if found else pytest.skip("no JDK with its sources, lib/src.zip, is installed")


@pytest.fixture(scope="session")
def java_folder(jdk_zip, tmp_path_factory) -> Path:
    """Some packages of the JDK as a folder of Java files."""
    folder = tmp_path_factory.mktemp("java sources")
    with zipfile.ZipFile(jdk_zip) as archive:
        for name in archive.namelist():
            if name.startswith(SMALL_PACKAGES) and name.endswith(".java"):
                archive.extract(name, folder)
    return folder


@pytest.fixture(scope="session")
def small_data(java_folder, tmp_path_factory):
    """The folder's pairs as a prepared data set."""
    return _prepared(java_folder, tmp_path_factory.mktemp("prepared"))


@pytest.fixture(scope="session")
def data_with_statements(java_folder, tmp_path_factory):
    """The same with their statement trees."""
    return _prepared(java_folder, tmp_path_factory.mktemp("prepared"), statements=True)


def _prepared(java_folder: Path, root: Path, *, statements: bool = False):
    from data_prep.config import DataConfig
    from data_prep.prepare import prepare

    shares = {"valid_share": 0.2, "test_share": 0.2}
    config = DataConfig(path=str(java_folder), root=str(root), statements=statements, processes=1, **shares)
    return prepare("folder", config, command="the tests", say=lambda _: None)


@pytest.fixture(scope="session")
def index(java_folder, tmp_path_factory):
    """The folder's index."""
    from search.index.build import refresh
    from search.index.index_file import open_index

    path = tmp_path_factory.mktemp("index") / "index"
    done = refresh(java_folder, path, processes=1, tell=lambda path, trouble: pytest.fail(f"{path}: {trouble}"))
    assert done.written
    return open_index(path)
