"""What a server answers from: an index, possibly one that is still being opened, or others for each user."""

import threading
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from search.serve.live_index import LiveIndex, Opened


class OpeningError(Exception):
    """The index is not open yet, or cannot be answered from at present."""


class NothingVisibleError(Exception):
    """Nothing is permitted to the user."""


@runtime_checkable
class Answering(Protocol):
    """What is asked."""

    @property
    def trouble(self) -> str:
        """Why answers come from an older state; "" if they do not."""

    def opened(self, groups: frozenset[str] | None = None) -> Opened:
        """What a user in ``groups`` is answered from; None: the users are not told apart.

        Raises:
            OpeningError: nothing can be answered yet.
            NothingVisibleError: nothing is permitted to the user.
        """


class OpeningIndex:
    """An index that is opened in a thread, which has nothing to answer until then."""

    def __init__(self, make: Callable[[], LiveIndex], failed: Callable[[Exception], None]) -> None:
        """Begin to open it.

        Args:
            make: opens it.
            failed: called with a ValueError or OSError of ``make``, in the thread.
        """
        self._live: LiveIndex | None = None
        self._make, self._failed = make, failed
        threading.Thread(target=self._open, daemon=True, name="opening").start()

    @property
    def trouble(self) -> str:
        """As the index has it."""
        return self._live.trouble if self._live else ""

    def opened(self, groups: frozenset[str] | None = None) -> Opened:  # noqa: ARG002 - one index for all
        """The index, once it is open."""
        if self._live is None:
            raise OpeningError
        return self._live.opened()

    def _open(self) -> None:
        try:
            self._live = self._make()
        except Exception as error:  # whatever it is, nobody else would hear of it
            self._failed(error)
