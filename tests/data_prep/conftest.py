import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "network: needs a package source; skipped where none is reached")
