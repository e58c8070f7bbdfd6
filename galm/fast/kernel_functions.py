"""The kernels as differentiable functions of torch: block cosines, graph convolutions, and the head's readings.

Tensors are float32 on the CPU. Inner results are recomputed in the backward pass instead of saved.
"""

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Float32, Int, Int32
from torch import Tensor
from torch.autograd.function import once_differentiable

from galm.alignment_graph import CLAMP
from galm.fast.kernels import addresses, call, cosine_input, graph_input, kernels_for, reading_input


@functools.cache
def torch_kernels(*, wait: bool = True) -> ctypes.CDLL | None:
    """The kernels on torch's threads; None without a C compiler, or if GALM_NATIVE=0 is set.

    Without ``wait`` they are compiled meanwhile, if they are not yet.
    """
    # Compiled for OpenMP, linked without it: when loaded, the calls resolve to torch's OpenMP library.
    return kernels_for(torch.__version__, ["-fopenmp"], wait=wait, calls="torch")


@dataclass(frozen=True, slots=True)
class Graphs:
    """Complete graphs over lists of words, their nodes in one list, without padding."""

    words: Int32[Tensor, " nodes"]  # each node's row among the distinct words
    edges: Float[Tensor, " cells"]  # of the first layer, each graph's row by row
    pooling: Float[Tensor, "nodes graphs"]  # weighted sum of node values, to one value per graph
    offsets: Int32[Tensor, " bounds"]  # graph g has the nodes offsets[g] to offsets[g + 1]
    cells: Int32[Tensor, " bounds"]  # and the edges cells[g] to cells[g + 1]
    longest: int  # most nodes of a graph

    @classmethod
    def of(
        cls,
        words: Int[Tensor, "graphs words"],
        mask: Bool[Tensor, "graphs words"],
        edges: Float[Tensor, "graphs words words"],
        weights: Float[Tensor, "graphs words"],
    ) -> "Graphs":
        """One graph per row, of the words where ``mask`` is True."""
        lengths, weights = mask.sum(1), weights[mask]
        graph = torch.arange(len(mask)).repeat_interleave(lengths)
        pooling = weights.new_zeros(len(graph), len(mask)).scatter(1, graph[:, None], weights[:, None])
        given = edges[mask[:, :, None] & mask[:, None, :]]
        bounds = offsets_of(lengths), offsets_of(lengths.square())
        return cls(words[mask].int(), given, pooling, *bounds, int(lengths.max()))


def offsets_of(lengths: Int[Tensor, " lists"]) -> Int32[Tensor, " lists+1"]:
    """Start offsets of lists of these lengths when concatenated, and the total length."""
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]).int()


def interleaved(words: Float[Tensor, "words dim"], blocks: int) -> Float[Tensor, "words dim"]:
    """Reorder the columns so that the blocks' k-th entries are adjacent; sums over a block then run over rows."""
    return words.unflatten(1, (blocks, -1)).transpose(1, 2).reshape(words.shape)  # [words, k * blocks]


class BlockCosines(torch.autograd.Function):
    """V of every node word in every context, eqs. 7 to 9, from the logits of all node words with all context words."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: Float32[Tensor, "words contextwords"],
        nodes: Float32[Tensor, "words dim"],
        context: Float32[Tensor, "contextwords dim"],
        offsets: Int32[Tensor, " bounds"],
        blocks: int,
    ) -> Float32[Tensor, "contexts words blocks"]:
        """``nodes`` and ``context`` interleaved; context c has the words ``offsets[c]`` to ``offsets[c + 1]``."""
        logits, nodes, context = logits.contiguous(), nodes.contiguous(), context.contiguous()
        norms = nodes.square().unflatten(1, (-1, blocks)).sum(1)  # [words, blocks]
        out = nodes.new_empty(len(offsets) - 1, len(nodes), blocks)
        ctx.threads = torch.get_num_threads()
        ctx.input = cosine_input(logits, nodes, context, norms, offsets, threads=ctx.threads)
        call(torch_kernels(), "cosines_forward", ctx.input, out)
        ctx.save_for_backward(logits, nodes, context, norms, offsets)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float32[Tensor, "contexts words blocks"]) -> tuple[Tensor | None, ...]:
        """Q̂ is recomputed instead of saved."""
        logits, nodes, context, norms, _ = ctx.saved_tensors
        to_logits, to_context = torch.zeros_like(logits), torch.zeros_like(context)
        to_nodes, own = (x.new_zeros(ctx.threads, *x.shape) for x in (nodes, norms))
        to = addresses(to_logits, to_nodes, own, to_context)
        call(torch_kernels(), "cosines_backward", ctx.input, gradient.contiguous(), to)
        inward = (own.sum(0) / norms.clamp(min=CLAMP**2))[:, None]  # [words, 1, blocks]
        inward = nodes.unflatten(1, (-1, norms.shape[1])) * inward  # [words, k, blocks]
        return to_logits, to_nodes.sum(0).sub_(inward.flatten(1)), to_context, None, None


class Convolution(torch.autograd.Function):
    """ReLU(E Y + b) in every graph and context; E is given, or the row softmax of scale · H Hᵀ (eqs. 11 and 12).

    Without b the result is E Y as it is.
    """

    @staticmethod
    def forward(
        ctx: Any,
        graphs: Graphs,
        below: Float32[Tensor, "contexts rows width"],
        bias: Float32[Tensor, " width"] | None,
        edges: Float32[Tensor, " cells"] | None,
        states: Float32[Tensor, "contexts nodes width"] | None,
        distinct: bool = False,
        scale: float = 1.0,
        self_loops: bool = True,
    ) -> Float32[Tensor, "contexts nodes width"]:
        """Y is ``below``, one row per node, or with ``distinct`` one row per distinct word; H is ``states``."""
        assert (edges is None) != (states is None)
        out = below.new_empty(len(below), len(graphs.words), below.shape[2])
        given = (None if x is None else x.contiguous() for x in (states, below, edges, bias))
        tensors = (*given, graphs.words if distinct else None, graphs.offsets, graphs.cells)
        ctx.threads = torch.get_num_threads()
        sizes = {"longest": graphs.longest, "threads": ctx.threads}
        ctx.input = graph_input(*tensors, **sizes, self_loops=self_loops, scale=scale)
        call(torch_kernels(), "convolution_forward", ctx.input, out)
        ctx.save_for_backward(out, *tensors)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float32[Tensor, "contexts nodes width"]) -> tuple[Tensor | None, ...]:
        """The edges of H are recomputed instead of saved."""
        out, states, below, edges, bias, *_ = ctx.saved_tensors
        to_states, to_below = None if states is None else torch.empty_like(states), torch.zeros_like(below)
        to_edges, to_bias = (None if x is None else x.new_zeros(ctx.threads, len(x)) for x in (edges, bias))
        to = addresses(to_states, to_below, to_edges, to_bias)
        call(torch_kernels(), "convolution_backward", ctx.input, gradient.contiguous(), out, to)
        found = [None if each is None else each.sum(0) for each in (to_bias, to_edges)]
        return None, to_below, *found, to_states, None, None, None


class Readings(torch.autograd.Function):
    """The reading w · tanh(x) of each node, eq. 13 before its mean."""

    @staticmethod
    def forward(
        ctx: Any, inner: Float32[Tensor, "*nodes width"], weights: Float32[Tensor, " width"]
    ) -> Float32[Tensor, "*nodes"]:
        """``inner`` is x, ``weights`` is w."""
        inner, weights = inner.contiguous(), weights.contiguous()
        out = inner.new_empty(inner.shape[:-1])
        ctx.threads = torch.get_num_threads()
        ctx.input = reading_input(inner, weights, threads=ctx.threads)
        call(torch_kernels(), "readings_forward", ctx.input, out)
        ctx.save_for_backward(inner, weights)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float32[Tensor, "*nodes"]) -> tuple[Tensor, ...]:
        """The hyperbolic tangent is recomputed instead of saved."""
        inner, weights = ctx.saved_tensors
        to_inner, to_weights = torch.empty_like(inner), weights.new_zeros(ctx.threads, len(weights))
        call(torch_kernels(), "readings_backward", ctx.input, gradient.contiguous(), to_inner, to_weights)
        return to_inner, to_weights.sum(0)


block_cosines_of: Callable[..., Tensor] = BlockCosines.apply
convolution: Callable[..., Tensor] = Convolution.apply
readings: Callable[..., Tensor] = Readings.apply
