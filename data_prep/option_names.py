"""The names that options had in earlier versions: saved configurations are read by them, typed ones are told the new.

An option is renamed in one place beside its own: a line here.
"""

from collections.abc import Mapping
from typing import Any, Final

RENAMED: Final[Mapping[str, str]] = {
    "data.apart": "data.exclude_overlap_with",
    "data.drop_blank": "data.drop_empty",
    "data.extra": "data.extra_train_sets",
    "evaluate.also": "evaluate.extra_tests",
    "evaluate.mix": "evaluate.fuse_with",
    "evaluate.mix_on": "evaluate.fuse_tuned_on",
    "evaluate.products": "evaluate.matmul_precision",
    "evaluate.resamples": "evaluate.bootstrap_samples",
    "model.blocks": "model.num_blocks",
    "model.graph_width": "model.gcn_dim",
    "model.parity": "model.release_compatible",
    "model.start": "model.init",
    "model.start_range": "model.init_range",
    "train.late_rate": "train.final_learning_rate",
    "train.lazy_rows": "train.lazy_embedding_updates",
    "train.neighbours": "train.same_file_negatives",
    "mentioned": "mention_boost",
    "named": "exact_name_boost",
    "near": "vector_weight",
    "near_by_file": "vector_weight_by_file",
}
"""``section.old``, or ``old`` of a command without sections, -> today's name."""


def with_current_names(sections: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of a saved configuration, ``{"train": {"epochs": 6}}``, with the names that options have today."""
    return {
        name: {RENAMED.get(f"{name}.{field}", field).rpartition(".")[2]: value for field, value in part.items()}
        if isinstance(part, Mapping)
        else part
        for name, part in sections.items()
    }
