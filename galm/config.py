"""Configuration of GALM (section ``model``); the defaults are those of the recipe ``galm``.

The paper's values where it states them; else, of the readings that its text allows, the best on validation.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from data_prep.errors import SHARE, WIDTH, Bounded, UserError, real, whole
from data_prep.records import CODE_FIELDS, STRUCTURE_FIELDS

Logits = Literal["raw", "scaled", "cosine"]
_TEMPERATURE: Final = real(0, 1000, above=True)


@dataclass(frozen=True, slots=True)
class GalmConfig(Bounded, section="model"):
    """All settings that affect a score."""

    fields: str = "name,tokens,api"
    """Code fields that are read, joined in this order (stated); other papers add ast or statements."""
    dim: Annotated[int, WIDTH] = 256
    """Width of a word vector (stated in the paper)."""
    num_blocks: Annotated[int, WIDTH] = 16
    """Blocks that a word vector is split into (stated)."""
    layers: Annotated[int, whole(0, 100)] = 1
    """Number of graph convolutions L (not stated); 2 is the minimum that uses both eq. 10 and eq. 11. 0: the block
    cosines are used directly."""
    graph: Literal["alignment", "query", "uniform", "identity"] = "alignment"
    """Edges: from the query's words, then the nodes (eqs. 10, 11); the words in every layer; uniform; self-loops."""
    gcn_dim: Annotated[int, WIDTH] = 32
    """Width of the graph's nodes after the first layer (not stated: 256, GSMN's 32, or 16, for which W_d is square)."""
    attention: Logits = "raw"
    """Logits of eq. 7: dot product; divided by the root of the width; cosine times ``attention_temperature``."""
    attention_temperature: Annotated[float, _TEMPERATURE] = 9.0
    """Factor of the cosine in ``attention=cosine`` (SCAN: 9)."""
    affinity: Literal["word", "pooled"] = "word"
    """Separate attention for each node (eq. 7), or one for all nodes by the largest affinity of each word (eq. 3, which
    the paper argues against)."""
    edges: Logits = "raw"
    """Logits of the edges, eqs. 10 and 11."""
    edge_temperature: Annotated[float, _TEMPERATURE] = 9.0
    """Factor of the cosine in ``edges=cosine``."""
    self_loops: bool = True
    """Whether a node has an edge to itself (eqs. 10 and 11 as printed); false: only to others."""
    activation: Literal["relu", "none"] = "relu"
    """What follows a graph convolution (eq. 12: ReLU; GSMN's code: nothing)."""
    skip: bool = False
    """Whether the head reads each node's block cosines beside its last state; the paper's reads the state alone."""
    nodes: Literal["query", "code", "both", "query_and_name"] = "query"
    """Whose words are nodes (eqs. 7 to 10: query; eq. 4: code; GSMN sums both; or the query's and the name's)."""
    layer_input: Literal["previous", "first"] = "previous"
    """Input of a layer: the previous layer (as in GCNs) or always V with new edges (eq. 12 as printed)."""
    share_layers: bool = False
    """One weight for all layers instead of one each; needs ``gcn_dim`` = ``num_blocks``."""
    weight_norm: bool = False
    """Weight-normalised head (GSMN)."""
    normalise: bool = False
    """Scale word vectors to length 1 (GSMN, SCAN); not stated in the paper."""
    tied: bool = False
    """One vector per word for both sides (eqs. 5 and 6 print one E); false: queries have a separate table."""
    code_tables: Literal["one", "per_field", "offsets"] = "per_field"
    """One code embedding layer (the paper's E over name, tokens and API); one table per field; or one vector per word
    for both sides, plus an offset per word for the query and each field, initialised to 0."""
    init: Literal["uniform", "shared", "statistics"] = "shared"
    """Initial vectors: uniform; the same for the same word on both sides; or from co-occurrence in training pairs."""
    init_range: Annotated[float, real(0, 1000, above=True)] = 0.15
    """Half-width of the uniform initialisation; the smaller, the nearer to uniform the softmaxes start."""
    dropout: Annotated[float, SHARE] = 0.0
    """Dropout on word vectors (the paper states none; its baselines use 0.25)."""
    word_dropout: Annotated[float, SHARE] = 0.0
    """Fraction of code words dropped at random in training."""
    head: Literal["perceptron", "mean"] = "perceptron"
    """Score of a node: eq. 13, or the mean of its features."""
    starts_as_cosines: bool = False
    """Whether the mean of a node's block cosines is added to its score; the perceptron then starts at 0."""
    readout: Literal["mean", "weighted"] = "mean"
    """How eq. 13 aggregates the nodes: their mean, or a mean weighted by a learned importance of each word."""

    def __post_init__(self) -> None:
        super(GalmConfig, self).__post_init__()
        if self.dim % self.num_blocks:
            raise UserError(
                f"--model.dim must be a multiple of --model.num_blocks, but {self.dim} is not a multiple of "
                f"{self.num_blocks}"
            )
        if self.share_layers and self.gcn_dim != self.num_blocks:
            raise UserError(
                f"--model.share_layers=true needs --model.gcn_dim={self.num_blocks} (= --model.num_blocks), "
                f"not {self.gcn_dim}"
            )
        self._check_fields()
        self._check_tables()

    @property
    def code_fields(self) -> tuple[str, ...]:
        """The code fields that are read, in order."""
        return tuple(field.strip() for field in self.fields.split(",") if field.strip())

    def _check_fields(self) -> None:
        fields = self.code_fields
        if not fields or len(set(fields)) < len(fields) or set(fields) - set(CODE_FIELDS):
            raise UserError(f"--model.fields takes some of {','.join(CODE_FIELDS)}, each once, not {self.fields!r}")
        if self.nodes == "query_and_name" and "name" not in fields:
            raise UserError(f"--model.nodes=query_and_name needs the name among --model.fields, not {self.fields!r}")
        if self.init != "uniform" and not set(fields) - set(STRUCTURE_FIELDS):
            raise UserError(f"--model.init={self.init} needs a field beside {self.fields}, whose words no query has")

    def _check_tables(self) -> None:
        if self.tied and self.code_tables != "one":
            raise UserError(f"--model.tied=true is one table, but --model.code_tables={self.code_tables} are several")
        if self.init != "uniform" and (self.tied or self.code_tables == "offsets"):
            raise UserError(
                f"--model.init={self.init} is for separate tables: with --model.tied=true and with "
                "--model.code_tables=offsets equal words start from one vector anyway, so leave it out"
            )
