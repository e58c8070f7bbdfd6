import pytest
from training_runs import EXAMPLE, Setting, write_example

from training import optimiser


@pytest.fixture(scope="session")
def store(tmp_path_factory, request):
    """A prepared data set of real pairs: the DeepCS example's where it lies beside the repository, else the JDK's."""
    if not EXAMPLE.is_file():
        return request.getfixturevalue("small_data").folder
    folder = tmp_path_factory.mktemp("stores") / "example"
    write_example(folder)
    return folder


@pytest.fixture(scope="module")
def setting(store):
    """Runs in which one table is updated by rows and one is not."""
    setting = Setting.open(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimiser, "LARGE", setting.large)
        yield setting
