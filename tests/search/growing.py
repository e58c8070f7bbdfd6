"""A folder whose first index is made as slowly as a test wants."""

import threading

from search.serve.partial_index import PartialIndex

FILES = {f"module{n}.py": f"def function_{n}(basket):\n    return basket + {n}\n" for n in range(30)}


class Slow(PartialIndex):
    """It is told of the first files, and of all others once it may go on."""

    def __init__(self):
        super().__init__("open the till")
        self.look, self.go_on = threading.Event(), threading.Event()

    def begin(self, files):
        assert self.look.wait(30)
        super().begin(files)

    def take(self, part):
        super().take(part)
        assert self.go_on.wait(30)
