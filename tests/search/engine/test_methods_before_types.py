"""A method that does what is asked is ranked before the type that contains it, with the shipped models."""

import pytest

from search.engine.engine import Engine
from search.index.build import refresh
from search.index.vector_encoding import refresh_vectors
from search.index.vectors import row_encoder
from search.models.packed import reranker_maker
from search.opening import opened

FILES = {
    "Stack.java": """
class Stack<T> {
    private final java.util.List<T> elements = new java.util.ArrayList<>();

    void push(T element) {
        elements.add(element);
    }

    T removeLast() {
        return elements.remove(elements.size() - 1);
    }

    T last() {
        return elements.get(elements.size() - 1);
    }

    int size() {
        return elements.size();
    }
}
""",
    "stack.py": """
class Stack:
    def __init__(self):
        self.elements = []

    def push(self, element):
        self.elements.append(element)

    def remove_last(self):
        return self.elements.pop()

    def size(self):
        return len(self.elements)
""",
}


@pytest.mark.parametrize(("name", "wanted"), [("Stack.java", "Stack.removeLast"), ("stack.py", "Stack.remove_last")])
@pytest.mark.parametrize("nearest", ["exact", "none"])
def test_a_method_is_found_before_its_type(tmp_path, name, wanted, nearest):
    root, path = tmp_path / "project", tmp_path / "index"
    root.mkdir()
    (root / name).write_text(FILES[name])
    refresh(root, path, processes=0, tell=lambda *_: None)
    refresh_vectors(row_encoder(), path, lambda *_: None)
    index, retriever = opened(path, nearest)
    engine = Engine(index, reranker_maker("")(index), retriever=retriever)
    hits = engine.search("remove and return the last element")
    assert index.names[hits[0].row] == wanted
    assert len(hits) == len(index) > 4  # nothing was lost before the model
    assert index.names[engine.search("Stack")[0].row] == "Stack"  # unless the type is what is asked for
