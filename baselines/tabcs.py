"""TabCS: co-attention over the words of both sides, after attention within each field.

Paper: Xu et al., "Two-Stage Attention-Based Model for Code Search with Textual and Structural Features", SANER 2021.
With x_i the word vectors of a field (name, API, tokens, AST or query) and a vector a for each field:

    α_i = softmax over the words i of the field of (a · x_i);   x_i becomes α_i x_i             eq. 1
    C = the words of all code fields, Q = those of the query;   F = tanh(C U Qᵀ)
    score = cos(Cᵀ w_C, Qᵀ w_Q), with weights w from the largest F of each row and column       eqs. 5 to 9

Departures by default: the paper prints a vector a for each position, here the positions of a field share one, so that
the order of words does not matter. From the released code: attention has one weight per word, as printed, and pads are
masked; the dropout that its version for CodeSearchNet repeats after the attention of code is omitted, as in its version
for JCG. ``release_compatible`` is the latter: the attention has one weight per position and dimension, and pads are
words like any other. In all variants the weights of a field sum to 1, so F is small and both sides are close to their
means until training has made the word vectors longer; weights with a mean of 1 do not train better.
"""

from dataclasses import dataclass

from torch import nn

from baselines.word_model import AttentiveConfig, CoAttentionRanker, WordVectors
from data_prep.store.tokenizing import Vocabularies


@dataclass(frozen=True, slots=True)
class TabcsConfig(AttentiveConfig):
    """Configuration of TabCS (section ``model``)."""

    ast: bool = True
    """Whether the AST is read in addition to name, API and tokens."""


class Tabcs(CoAttentionRanker):
    """Scores a query against a method by co-attention over weighted word vectors."""

    config_type = TabcsConfig
    config: TabcsConfig

    def __init__(self, config: TabcsConfig, vocabularies: Vocabularies) -> None:
        """Build a table and an attention per field."""
        super().__init__(config, vocabularies, config.dim)
        fields = (*self.code_fields, "query")
        self.words = WordVectors(config, vocabularies, fields, fixed=config.by_position)
        self.attention = nn.ModuleDict({each: config.word_attention(config.length(each)) for each in fields})
