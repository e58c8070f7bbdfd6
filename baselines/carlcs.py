"""CARLCS-CNN and CARLCS-TS: convolutions over the words of each field, then co-attention of method and query.

Paper: Shuai et al., "Improving Code Search with Co-Attentive Representation Learning", ICPC 2020. CARLCS-TS is the
variant that TabCS (Xu et al., SANER 2021) compares with, with an additional field, the syntax tree (``ast``). For a
field of words x_1 .. x_T, with separate weights for each field:

    h_ik = ReLU(W_k [x_i; ..; x_(i+k-1)] + b_k)     k = 2, 3, 4; i = 1 .. T-k+1
    E    = the rows h_i2, h_i3 and h_i4, concatenated

The method's rows C are the concatenated rows of its fields, Q are the rows of the query; the score is that of
:class:`modeling.layers.CoAttention`.

Departures. From the paper: its API sequence is encoded by a BiLSTM, here and in the released code by convolutions
(``api_encoder=bilstm`` is the paper's). From the released code: pads are masked (``release_compatible=false``): only
windows within the field count, and a field shorter than the kernel has one window, from its first word, padded with
zeros; so padding changes nothing, and a field of full length has the rows of the released code.
``release_compatible=true`` truncates and pads every field to a fixed length and counts every window.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from baselines.word_model import BaselineConfig, CoAttentionRanker, WordVectors
from data_prep.errors import WIDTH, UserError
from data_prep.store.batching import Batch
from data_prep.store.tokenizing import Vocabularies
from modeling.base import Encoded

KERNELS: Final = (2, 3, 4)
"""Kernel widths of the convolutions, in words."""


@dataclass(frozen=True, slots=True)
class CarlcsConfig(BaselineConfig):
    """Configuration of CARLCS-CNN and CARLCS-TS (section ``model``)."""

    filters: Annotated[int, WIDTH] = 100
    """Filters of each convolution, which is the width of a row (the release: 100; the paper's best: 250)."""
    api_encoder: Literal["cnn", "bilstm"] = "cnn"
    """Encoder of the API sequence: convolutions (the release) or a BiLSTM with one row per word (the paper)."""
    ast: bool = False
    """Whether the syntax tree is also read, which turns CARLCS-CNN into CARLCS-TS."""

    def __post_init__(self) -> None:
        super(CarlcsConfig, self).__post_init__()
        if self.api_encoder == "bilstm" and self.filters % 2:
            raise UserError(
                f"--model.api_encoder=bilstm has half of the width per direction, so --model.filters must be even, "
                f"not {self.filters}"
            )


@dataclass(frozen=True, slots=True)
class Rows(Encoded):
    """Rows of windows, and the words that each window covers."""

    held: Bool[Tensor, "batch rows allwords"]

    @property
    def shown(self) -> Bool[Tensor, "batch allwords"]:
        """Mask of the words, which are fewer than the windows."""
        return self.held.any(1)


class WindowRows(nn.Module):
    """The rows of a field: convolutions of each width of :data:`KERNELS`, concatenated along the length."""

    def __init__(self, config: CarlcsConfig) -> None:
        """Weights have Xavier initialisation (Glorot and Bengio, 2010), biases are 0."""
        super().__init__()
        self.convolutions = nn.ModuleList(nn.Conv1d(config.dim, config.filters, kernel) for kernel in KERNELS)
        for each in self.convolutions:
            assert isinstance(each, nn.Conv1d)
            assert each.bias is not None
            nn.init.xavier_uniform_(each.weight)
            nn.init.zeros_(each.bias)

    def forward(self, states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]) -> Rows:
        """The windows' rows; only windows within the field are unmasked."""
        words = states.masked_fill(~mask[:, :, None], 0.0).transpose(1, 2)  # [batch, dim, words]
        lengths, places = mask.sum(1, keepdim=True), torch.arange(mask.shape[1], device=mask.device)
        rows, masks, held = [], [], []
        for kernel, convolution in zip(KERNELS, self.convolutions, strict=True):
            found = convolution(pad(words, (0, max(0, kernel - words.shape[2]))))  # [batch, filters, windows]
            counting = (lengths - kernel + 1).maximum(lengths.clamp(max=1))
            rows.append(torch.relu(found).transpose(1, 2))
            starts = torch.arange(found.shape[2], device=mask.device)
            masks.append(starts < counting)
            spans = (starts[:, None] <= places) & (places < starts[:, None] + kernel)  # [windows, words]
            held.append(spans & masks[-1][:, :, None] & mask[:, None])
        return Rows(torch.cat(rows, 1), torch.cat(masks, 1), torch.cat(held, 1))


class LstmRows(nn.Module):
    """The rows of a field: the states of a BiLSTM, one per word."""

    def __init__(self, config: CarlcsConfig) -> None:
        """Each direction has half of the width."""
        super().__init__()
        self.lstm = nn.LSTM(config.dim, config.filters // 2, batch_first=True, bidirectional=True)

    def forward(self, states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]) -> Rows:
        """The words' rows; the forward direction ends, and the backward one begins, at the last word."""
        lengths = mask.sum(1).clamp(min=1).cpu()  # a field without words is read as one masked word
        packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        rows, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=states.shape[1])
        return Rows(rows, mask, torch.diag_embed(mask))


class Carlcs(CoAttentionRanker):
    """Scores a query against a method by co-attention over their windows."""

    config_type = CarlcsConfig
    config: CarlcsConfig

    def __init__(self, config: CarlcsConfig, vocabularies: Vocabularies) -> None:
        """Build a table and convolutions for each field and for the query, and one U."""
        super().__init__(config, vocabularies, width=config.filters)
        self.words = WordVectors(config, vocabularies, (*self.code_fields, "query"), fixed=False)
        self.rows = nn.ModuleDict()
        for field in (*self.code_fields, "query"):
            recurrent = field == "api" and config.api_encoder == "bilstm"
            self.rows[field] = LstmRows(config) if recurrent else WindowRows(config)
        self.dropout = nn.Dropout(config.dropout)

    def encode_field(self, batch: Batch, field: str) -> Rows:
        """The rows of a field, or of the query."""
        rows: Rows = self.rows[field](*self.words(field, batch[field]))
        return replace(rows, states=self.dropout(rows.states))

    def joined(self, parts: Sequence[Encoded]) -> Rows:
        """C: the concatenated rows of fields."""
        whole, held = super().joined(parts), [part.held for part in parts if isinstance(part, Rows)]
        widths = [each.shape[2] for each in held]
        padded = [pad(each, (sum(widths[:number]), sum(widths[number + 1 :]))) for number, each in enumerate(held)]
        return Rows(whole.states, whole.mask, torch.cat(padded, 1))

    def alignment(self, queries: Rows, codes: Rows) -> Float[Tensor, "pairs querywords codewords"]:  # type: ignore[override]
        """For each query word and code word, the mean of F over all windows that contain them."""
        query, code = (
            side.held / side.held.sum(1, keepdim=True).clamp(min=1).to(side.states) for side in (queries, codes)
        )
        return query.transpose(1, 2) @ super().alignment(queries, codes) @ code
