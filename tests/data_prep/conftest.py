import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # how long an example takes depends on what else runs
settings.load_profile("any machine")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "network: needs a package source; skipped where none is reached")
