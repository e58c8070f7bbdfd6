"""Configuration of training: how a model is trained (section ``train``), and by which loss (``loss``)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Final, Literal

from data_prep.errors import COUNT, PROCESSES, SEED, SHARE, THREADS, Bounded, UserError, real, whole

_EPOCHS: Final = 100_000


@dataclass(frozen=True, slots=True)
class TrainConfig(Bounded, section="train"):
    """How a model is trained, and when training stops."""

    epochs: Annotated[int, whole(1, _EPOCHS)] = 6
    """Maximum passes over the training split (GALM's paper: 30)."""
    seed: Annotated[int, SEED] = 0
    """Seed of the initial weights, dropout and the order of batches."""
    resume: str = ""
    """Run folder to resume from its last checkpoint; empty: a new run."""
    from_run: str = ""
    """Folder of a finished run of the same model, with whose vocabulary and weights training begins; empty: none."""
    continue_run: str = ""
    """Folder of a finished run to train on, with its settings and data, to `epochs` in all; the new run has a folder
    of its own."""
    keep_checkpoint: bool = False
    """Keep the checkpoint of a finished run: `continue_run` then goes on as if the run had not ended. Else it begins
    with the weights of the best epoch and a new optimiser."""
    batch_size: Annotated[int, whole(2, 65_536)] = 32
    """Pairs per batch; the other pairs of the batch are the negatives."""
    same_file_negatives: Annotated[int, whole(1, 65_536)] = 1
    """Adjacent methods of a file that stay together in a batch, as each other's hard negatives."""
    hard_negatives: Annotated[int, whole(0, 1024)] = 0
    """Codes added to a batch for each of its queries, drawn anew in every epoch from those that `mined_by` ranks
    highest without being the query's own."""
    mined_by: str = "bm25_tuned"
    """What ranks the training pairs for `hard_negatives`: a ranker without training, or the folder of a run."""
    mined_depth: Annotated[int, whole(1, 65_536)] = 20
    """Ranks that hard negatives are drawn from."""
    learning_rate: Annotated[float, real(0, 1, above=True, below=True)] = 3e-4
    """Adam's learning rate after the warm-up (GALM's paper: 3e-4)."""
    schedule: Literal["step", "constant", "cosine", "linear"] = "step"
    """After the warm-up: `step` lowers the rate to `final_learning_rate` after half of the epochs (GALM's paper),
    `constant` leaves it unchanged, `cosine` and `linear` decay it to `final_learning_rate` by the end of the last
    epoch."""
    final_learning_rate: Annotated[float, SHARE] = 5e-5
    """Final learning rate of the schedule (GALM's paper: 5e-5)."""
    warmup_steps: Annotated[int, whole(0, 1_000_000_000)] = 0
    """Batches over which the learning rate rises linearly from 0; 0: no warm-up."""
    warmup_share: Annotated[float, real(0, 1, below=True)] = 0.0
    """The same as a share of all steps of the run, for which `warmup_steps` has to be 0 (Scotch's scripts: 0.1)."""
    gradient_clip: Annotated[float, real(0, 1_000_000)] = 2.0
    """Maximum norm of all gradients together; larger ones are scaled down to it (GSMN's release: 2); 0: no clipping."""
    beta1: Annotated[float, SHARE] = 0.9
    """Adam's decay rate of the mean of gradients (Adam's paper: 0.9)."""
    beta2: Annotated[float, SHARE] = 0.999
    """Adam's decay rate of the mean of squared gradients (Adam's paper: 0.999)."""
    lazy_embedding_updates: bool = True
    """Move the rows of large word tables when a batch reads them, by all the steps that they missed; the result is
    Adam's, up to rounding. False, or with weight decay or several processes: move all rows at each step."""
    weight_decay: Annotated[float, real(0, 1000)] = 0.0
    """Decoupled weight decay (AdamW): fraction of each weight subtracted per step, times the learning rate; 0: Adam."""
    new_weights_rate: Annotated[float, real(0, 1_000_000, above=True)] = 1.0
    """Factor of the learning rate of weights that start at random beside pretrained ones, such as a head's."""
    accumulate: Annotated[int, whole(1, 65_536)] = 1
    """Batches whose gradients are accumulated before a step; negatives still come from a single batch."""
    encode_at_once: Annotated[int, whole(0, 65_536)] = 0
    """Pairs whose activations are kept at a time: the rest is computed again for the gradients, so that a large batch
    fits (GradCache, Gao et al. 2021); the result is the same. 0: the whole batch."""
    precision: Literal["float32", "bfloat16", "auto"] = "float32"
    """Precision of the model's computation; with bfloat16, weights and loss stay float32 (torch.autocast). `auto`:
    bfloat16 where the device has it."""
    checkpoint_minutes: Annotated[float, real(0, 100_000)] = 5.0
    """Minutes between checkpoints within an epoch; 0: only after each epoch."""
    checkpoint_epochs: Annotated[int, whole(0, _EPOCHS)] = 1
    """Epochs between checkpoints at an epoch's end; 0: none, only those of `checkpoint_minutes`."""
    patience: Annotated[int, whole(0, _EPOCHS)] = 0
    """Epochs without improvement of the validation MRR after which training stops; 0: never."""
    validate_pool: Annotated[int, COUNT] = 1000
    """Number of validation queries and of methods they are ranked over; 0: the whole validation split."""
    validate_every: Annotated[int, whole(1, _EPOCHS)] = 1
    """Epochs between validations; the last epoch is always validated."""
    threads: Annotated[int, THREADS] = 0
    """Number of torch threads; 0: torch's default."""
    processes: Annotated[int, PROCESSES] = 1
    """Processes that share each batch; the loss is that of the whole batch. For several machines, see
    docs/experiments.md."""

    def __post_init__(self) -> None:
        super(TrainConfig, self).__post_init__()
        if self.batch_size < self.processes:
            raise UserError(
                f"--train.processes={self.processes} is more than --train.batch_size={self.batch_size}: each process "
                "needs a pair of every batch"
            )
        if self.from_run and self.continue_run:
            raise UserError("--train.from_run and --train.continue_run both name the run to begin with: leave one out")
        self._check_together()

    def _check_together(self) -> None:
        if self.schedule != "constant" and self.final_learning_rate > self.learning_rate:
            raise UserError(
                f"--train.final_learning_rate={self.final_learning_rate} is above "
                f"--train.learning_rate={self.learning_rate}, but "
                f"--train.schedule={self.schedule} lowers the rate: lower one, raise the other, or choose constant"
            )
        if self.warmup_steps and self.warmup_share:
            raise UserError(
                f"--train.warmup_share={self.warmup_share} and --train.warmup_steps={self.warmup_steps} both set the "
                "warm-up: leave one out"
            )
        if self.validate_every > self.epochs:
            raise UserError(
                f"--train.validate_every={self.validate_every} is more than --train.epochs={self.epochs}: "
                f"choose {self.epochs} or less"
            )
        if 0 < self.patience < self.validate_every:
            raise UserError(
                f"--train.patience={self.patience} is less than --train.validate_every={self.validate_every}: training "
                "would stop before the next validation, so raise the former or lower the latter"
            )

    def differences(self, stored: Mapping[str, object]) -> list[str]:
        """The options that affect a run's results and differ from the ``stored`` ones, for messages."""
        return [
            f"--train.{flag}={value} (was {stored.get(flag)})"
            for flag, value in asdict(self).items()
            if flag not in FREE and value != stored.get(flag, _SINCE.get(flag))
        ]


_SINCE: Final = {
    "accumulate": 1,
    "precision": "float32",
    "lazy_embedding_updates": False,
    "warmup_share": 0.0,
    "new_weights_rate": 1.0,
    "encode_at_once": 0,
    "hard_negatives": 0,
    "mined_by": "bm25_tuned",
    "mined_depth": 20,
}
"""Values of runs that were started before the option existed."""
FREE: Final = (
    *("epochs", "resume", "from_run", "continue_run"),
    *("keep_checkpoint", "checkpoint_minutes", "checkpoint_epochs", "patience", "threads"),
)
"""Options that may change where a checkpoint is gone on with: they affect how a run begins and ends, nothing else."""


Negatives = Literal["average", "sum", "hardest", "random", "random_query"]


@dataclass(frozen=True, slots=True)
class LossConfig(Bounded, section="loss"):
    """The loss and the choice of its negatives (section ``loss``)."""

    kind: Literal["ranking", "cross_entropy"] = "ranking"
    """Bidirectional ranking loss (GALM eq. 14, SCAN, VSE++), or in-batch cross-entropy in both directions."""
    margin: Annotated[float, real(0, 1000, above=True)] = 0.2
    """Margin of the ranking loss, in units of the score (VSE++, GSMN: 0.2; the TabCS release: 0.05)."""
    negatives: Negatives = "hardest"
    """All negatives of the batch averaged or summed, the hardest per row and column (VSE++), or a random one (eq. 14).

    ``random_query``: a random query per code, and no codes (as the releases of DeepCS, CARLCS, TabCS and FcarCS do).
    """
    warmup_epochs: Annotated[float, real(0, 100_000)] = 1.0
    """Epochs of averaged negatives before ``hardest``, which can stall from random weights."""
    temperature: Annotated[float, real(0, 1000, above=True)] = 1.0
    """Scores are divided by this in the cross-entropy."""
    directions: Literal["both", "queries"] = "both"
    """Whether the cross-entropy is over the codes of each query and the queries of each code, or only the former."""
