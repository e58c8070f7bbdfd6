import pytest
from training_runs import EXAMPLE, Setting, write_example


@pytest.fixture(scope="session")
def store(tmp_path_factory, request):
    """A prepared data set of real pairs: the DeepCS example's where it lies beside the repository, else the JDK's."""
    if not EXAMPLE.is_file():
        return request.getfixturevalue("small_data").folder
    folder = tmp_path_factory.mktemp("stores") / "example"
    write_example(folder)
    return folder


@pytest.fixture(scope="session")
def setting(store):
    return Setting.open(store)
