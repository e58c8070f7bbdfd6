"""The kernels against the plain equations, in float32 on real shapes and odd ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from galm.alignment_graph import attention, block_cosines, edge_weights
from galm.config import GalmConfig
from galm.fast.all_pairs import is_fast
from galm.fast.kernel_functions import (
    Graphs,
    block_cosines_of,
    convolution,
    interleaved,
    offsets_of,
    readings,
    torch_kernels,
)

needs_kernels = pytest.mark.skipif(torch_kernels() is None, reason="there is no C compiler here (cc)")


def values_and_gradients(results: Tensor, inputs: tuple[Tensor, ...]) -> list[Tensor]:
    weights = torch.randn(results.shape, generator=torch.Generator().manual_seed(3))
    return [results.detach(), *torch.autograd.grad((results * weights).sum(), inputs)]


def assert_close(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one - other).norm() <= 2e-6 * other.norm()


@needs_kernels
@pytest.mark.parametrize(("dim", "blocks"), [(256, 16), (64, 4), (128, 32), (96, 6), (96, 48), (16, 1)])
def test_block_cosines_are_those_of_the_equations(dim: int, blocks: int) -> None:
    torch.manual_seed(0)
    lengths = torch.tensor([5, 0, 22, 1, 16, 17, 33])
    nodes = (torch.randn(37, dim) * 0.3).requires_grad_()
    context = (torch.randn(int(lengths.sum()), dim) * 0.3).requires_grad_()

    def plain() -> Tensor:
        parts = []
        for words in context.split(lengths.tolist()):
            weights = attention(nodes, words, torch.ones(len(words), dtype=torch.bool))
            parts.append(block_cosines(weights @ words, nodes, blocks))
        return torch.stack(parts)

    found = block_cosines_of(
        nodes @ context.T, interleaved(nodes, blocks), interleaved(context, blocks), offsets_of(lengths), blocks
    )
    assert_close(values_and_gradients(found, (nodes, context)), values_and_gradients(plain(), (nodes, context)))


@needs_kernels
def test_a_block_of_zeros_has_cosine_and_gradient_zero_not_nan() -> None:
    nodes, context = torch.zeros(2, 32, requires_grad=True), torch.ones(3, 32, requires_grad=True)
    found = block_cosines_of(nodes @ context.T, nodes, context, offsets_of(torch.tensor([3])), 4)
    found.sum().backward()
    assert found.eq(0).all()
    assert nodes.grad is not None
    assert nodes.grad.isfinite().all()
    assert context.grad is not None
    assert context.grad.eq(0).all()


def graphs_of(lengths: list[int], distinct: int) -> Graphs:
    mask = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    words = torch.randint(0, distinct, mask.shape)
    return Graphs.of(words, mask, torch.rand(*mask.shape, mask.shape[1]), torch.rand(mask.shape))


def parts(tensor: Tensor, bounds: Tensor) -> list[Tensor]:
    return list(tensor.split(bounds.diff().tolist(), dim=-2 if tensor.dim() == 3 else -1))


@needs_kernels
@pytest.mark.parametrize("width", [16, 32, 48, 64, 112, 256])
def test_a_convolution_with_given_edges_is_that_of_the_equation(width: int) -> None:
    torch.manual_seed(1)
    graphs = graphs_of([3, 11, 0, 16, 35, 1], distinct=20)
    below, bias = torch.randn(5, 20, width, requires_grad=True), torch.randn(width, requires_grad=True)
    edges = graphs.edges.clone().requires_grad_()
    found = convolution(graphs, below, bias, edges, None, True)
    plain = []
    for words, cells in zip(parts(graphs.words, graphs.offsets), parts(edges, graphs.cells), strict=True):
        plain.append(torch.relu(cells.view(len(words), len(words)) @ below[:, words.long()] + bias))
    inputs = (below, bias, edges)
    assert_close(values_and_gradients(found, inputs), values_and_gradients(torch.cat(plain, dim=1), inputs))


@needs_kernels
def test_a_convolution_with_given_edges_and_a_row_a_node_is_that_of_the_equation() -> None:
    torch.manual_seed(1)
    graphs = graphs_of([3, 11, 0, 16, 35, 1], distinct=20)
    below = torch.randn(5, len(graphs.words), 32, requires_grad=True)
    bias, edges = torch.randn(32, requires_grad=True), graphs.edges.clone().requires_grad_()
    plain = []
    for rows, cells in zip(parts(below, graphs.offsets), parts(edges, graphs.cells), strict=True):
        plain.append(torch.relu(cells.view(rows.shape[1], rows.shape[1]) @ rows + bias))
    found, inputs = convolution(graphs, below, bias, edges, None), (below, bias, edges)
    assert_close(values_and_gradients(found, inputs), values_and_gradients(torch.cat(plain, dim=1), inputs))


@needs_kernels
@pytest.mark.parametrize("width", [16, 32, 48, 64, 112, 256])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_a_convolution_with_its_own_edges_is_that_of_the_equation(width: int, scale: float) -> None:
    torch.manual_seed(2)
    graphs = graphs_of([3, 11, 0, 16, 35, 1], distinct=20)
    nodes = len(graphs.words)
    below, bias = torch.randn(5, nodes, width, requires_grad=True), torch.randn(width, requires_grad=True)
    states = (torch.randn(5, nodes, width) / width**0.5).requires_grad_()
    found = convolution(graphs, below, bias, None, states, False, scale)
    plain = []
    for own, rows in zip(parts(states, graphs.offsets), parts(below, graphs.offsets), strict=True):
        all_nodes = torch.ones(own.shape[:2], dtype=torch.bool)
        plain.append(torch.relu(edge_weights(own * scale**0.5, all_nodes) @ rows + bias))
    inputs = (below, bias, states)
    assert_close(values_and_gradients(found, inputs), values_and_gradients(torch.cat(plain, dim=1), inputs))


@needs_kernels
@pytest.mark.parametrize("steepness", [0.0, 1.0, 30.0, 80.0])
def test_the_exponential_of_the_kernels_is_exact_to_rounding(steepness: float) -> None:
    torch.manual_seed(4)
    graphs = graphs_of([31], distinct=31)
    states = torch.zeros(1, 31, 16)
    states[0, :, 0] = torch.linspace(-1, 1, 31) * steepness**0.5
    found = convolution(graphs, torch.eye(31, 32)[None], torch.zeros(32), None, torch.cat([states, states * 0], -1))
    wanted = torch.softmax(states[0, :, :1].double() @ states[0, :, :1].double().T, -1)
    assert torch.allclose(found[0, :, :31].double(), wanted, rtol=2e-5, atol=1e-37)


@needs_kernels
@pytest.mark.parametrize("width", [16, 48, 256])
def test_readings_are_those_of_the_equation(width: int) -> None:
    torch.manual_seed(5)
    inner = (torch.randn(3, 7, width) * 2).requires_grad_()
    weights = torch.randn(width, requires_grad=True)
    inputs = (inner, weights)
    assert_close(
        values_and_gradients(readings(inner, weights), inputs),
        values_and_gradients(torch.tanh(inner) @ weights, inputs),
    )


@needs_kernels
def test_the_hyperbolic_tangent_of_the_kernels_is_exact_to_rounding() -> None:
    values = torch.cat([torch.linspace(-12, 12, 4001), torch.tensor([0.0, 1e-20, -1e-20, 90.0, -90.0, 1e30, -1e30])])
    inner = torch.zeros(len(values), 16)
    inner[:, 3] = values
    found = readings(inner, torch.eye(16)[3])
    assert (found - torch.tanh(values.double())).abs().max() <= 1.5e-7


@pytest.fixture
def looked_for_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder that is all of PATH, and of the cache; the kernels are loaded once more."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    torch_kernels.cache_clear()
    yield tmp_path
    torch_kernels.cache_clear()


def test_without_a_compiler_the_plain_form_answers_and_one_line_says_so(
    looked_for_anew: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not list(looked_for_anew.iterdir())
    assert [is_fast(GalmConfig(), torch.zeros(1)) for _ in range(2)] == [False, False]
    (record,) = caplog.records
    assert "no C compiler" in record.getMessage()


@pytest.mark.parametrize("compiler", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\n: > made.o; : > made.so\n"])
def test_a_compiler_that_fails_is_no_failure(
    looked_for_anew: Path, caplog: pytest.LogCaptureFixture, compiler: str
) -> None:
    (looked_for_anew / "cc").write_text(compiler)
    (looked_for_anew / "cc").chmod(0o755)
    assert torch_kernels() is None
    assert "plain PyTorch" in caplog.text
