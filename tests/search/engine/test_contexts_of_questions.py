"""What the words above a cursor do to the scores of rows."""

import numpy as np

from search.engine.signals import IN_CONTEXT, near_scores


class Vectors:
    """Cosines of three rows with a question, and with it under a context."""

    reads_text = False

    def __init__(self):
        self.asked = []

    def nearest(self, query):  # noqa: ARG002
        return np.arange(3)

    def scores(self, query, rows, context=()):
        self.asked.append((tuple(query), tuple(context)))
        return np.array([[0.5, 0.2, -0.1], [0.1, 0.9, 0.3]][bool(context)], np.float32)[rows]


def test_a_context_has_its_share_of_the_similarity():
    vectors, rows = Vectors(), np.array([0, 2])
    found = near_scores(vectors, ["open"], rows, ["pickle", "load"])
    wanted = (1 - IN_CONTEXT) * np.array([0.5, -0.1]) + IN_CONTEXT * np.array([0.1, 0.3])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert vectors.asked == [(("open",), ()), (("open",), ("pickle", "load"))]


def test_without_a_context_vectors_are_asked_once():
    vectors, rows = Vectors(), np.arange(3)
    np.testing.assert_array_equal(near_scores(vectors, ["open"], rows, ()), np.float32([0.5, 0.2, -0.1]))
    assert vectors.asked == [(("open",), ())]
