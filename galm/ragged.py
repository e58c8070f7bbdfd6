"""GALM without padding: a fast version of ``alignment_graph.py`` and ``dense_gcn.py``, equal within float32 rounding.

Word vectors come directly from embedding tables, so equal words have equal vectors: terms that depend only on a word
and a context (eqs. 7 to 9, and V times the first layer's weight) are computed once per distinct word. The nodes of all
graphs are in one list. The inner loops are in ``kernels.c``.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Float32, Int, Int32
from torch import Tensor
from torch.autograd.function import once_differentiable

from galm.alignment_graph import CLAMP
from galm.kernel_library import CosineInput, CosineOutput, GraphInput, GraphOutput, ReadingInput
from galm.native import address, call


@dataclass(frozen=True, slots=True)
class Graphs:
    """Complete graphs over lists of words, their nodes in one list."""

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
    """V of every node word in every context, from the logits of all node words with all context words."""

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
        sizes = (len(out), *nodes.shape, blocks, int(offsets.diff().max()), torch.get_num_threads(), len(context))
        ctx.kernel_input = CosineInput(*map(address, (logits, nodes, context, norms, offsets, None)), *sizes)
        call("cosines_forward", ctx.kernel_input, out)
        ctx.save_for_backward(logits, nodes, context, norms, offsets)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float32[Tensor, "contexts words blocks"]) -> tuple[Tensor | None, ...]:
        """Q̂ is recomputed instead of saved."""
        logits, nodes, context, norms, _ = ctx.saved_tensors
        kernel_input: CosineInput = ctx.kernel_input
        threads, blocks = kernel_input.threads, kernel_input.blocks
        to_logits, to_context = torch.zeros_like(logits), torch.zeros_like(context)
        to_nodes, own = nodes.new_zeros(threads, *nodes.shape), norms.new_zeros(threads, *norms.shape)
        to = CosineOutput(*map(address, (to_logits, to_nodes, own, to_context)))
        call("cosines_backward", kernel_input, gradient.contiguous(), to)
        inward = (own.sum(0) / norms.clamp(min=CLAMP**2))[:, None]  # [words, 1, blocks]
        inward = nodes.unflatten(1, (-1, blocks)) * inward  # [words, k, blocks]
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
        scale: float,
        self_loops: bool,
        distinct: bool,
    ) -> Float32[Tensor, "contexts nodes width"]:
        """Y is ``below``, one row per node, or with ``distinct`` one row per distinct word; H is ``states``."""
        assert (edges is None) != (states is None)
        below, bias = below.contiguous(), None if bias is None else bias.contiguous()
        edges = None if edges is None else edges.contiguous()
        states = None if states is None else states.contiguous()
        contexts, rows, width = below.shape
        out = below.new_empty(contexts, len(graphs.words), width)
        places = graphs.words if distinct else None
        tensors = (states, below, edges, bias, places, graphs.offsets, graphs.cells)
        sizes = (
            contexts,
            len(graphs.offsets) - 1,
            rows,
            width,
            graphs.longest,
            torch.get_num_threads(),
            int(self_loops),
        )
        ctx.kernel_input = GraphInput(*map(address, tensors), *sizes, scale)
        call("convolution_forward", ctx.kernel_input, out)
        ctx.save_for_backward(out, *tensors)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float32[Tensor, "contexts nodes width"]) -> tuple[Tensor | None, ...]:
        """The edges of H are recomputed instead of saved."""
        out, states, below, edges, bias, *_ = ctx.saved_tensors
        threads = ctx.kernel_input.threads
        to_states = None if states is None else torch.empty_like(states)
        to_edges = None if edges is None else edges.new_zeros(threads, len(edges))
        to_below = torch.zeros_like(below)
        to_bias = None if bias is None else bias.new_zeros(threads, len(bias))
        to = GraphOutput(*map(address, (to_states, to_below, to_edges, to_bias)))
        call("convolution_backward", ctx.kernel_input, gradient.contiguous(), out, to)
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
        ctx.kernel_input = ReadingInput(
            address(inner), address(weights), out.numel(), len(weights), torch.get_num_threads()
        )
        call("readings_forward", ctx.kernel_input, out)
        ctx.save_for_backward(inner, weights)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float32[Tensor, "*nodes"]) -> tuple[Tensor, ...]:
        """The hyperbolic tangent is recomputed instead of saved."""
        inner, weights = ctx.saved_tensors
        to_inner, to_weights = torch.empty_like(inner), weights.new_zeros(ctx.kernel_input.threads, len(weights))
        call("readings_backward", ctx.kernel_input, gradient.contiguous(), to_inner, to_weights)
        return to_inner, to_weights.sum(0)


def block_cosines_of(
    logits: Float32[Tensor, "words contextwords"],
    nodes: Float32[Tensor, "words dim"],
    context: Float32[Tensor, "contextwords dim"],
    offsets: Int32[Tensor, " bounds"],
    blocks: int,
) -> Float32[Tensor, "contexts words blocks"]:
    """Apply :class:`BlockCosines`."""
    found: Tensor = BlockCosines.apply(logits, nodes, context, offsets, blocks)  # type: ignore[no-untyped-call]
    return found


def convolution(
    graphs: Graphs,
    below: Float32[Tensor, "contexts rows width"],
    bias: Float32[Tensor, " width"] | None,
    *,
    edges: Float32[Tensor, " cells"] | None = None,
    states: Float32[Tensor, "contexts nodes width"] | None = None,
    scale: float = 1.0,
    self_loops: bool = True,
    distinct: bool = False,
) -> Float32[Tensor, "contexts nodes width"]:
    """:class:`Convolution`."""
    found: Tensor = Convolution.apply(graphs, below, bias, edges, states, scale, self_loops, distinct)  # type: ignore[no-untyped-call]
    return found


def readings(inner: Float32[Tensor, "*nodes width"], weights: Float32[Tensor, " width"]) -> Float32[Tensor, "*nodes"]:
    """Apply :class:`Readings`."""
    found: Tensor = Readings.apply(inner, weights)  # type: ignore[no-untyped-call]
    return found
