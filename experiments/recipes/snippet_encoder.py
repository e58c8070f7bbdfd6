"""Loading an encoder of snippets from the folder of a stage of its training."""

from dataclasses import fields
from pathlib import Path
from typing import Any, Final, NamedTuple

from baselines.snipper.encoder import SnippetEncoder, SnippetSubwords, SnippetTokenizer, TransformerSnippetEncoder
from baselines.snipper.light import LightEncoder, LightTokenizer
from baselines.snipper.texts import LightConfig, SnipperTransformerConfig
from data_prep.errors import UserError
from data_prep.files.access import read_whole
from data_prep.files.json_text import parse_json
from training.checkpoint import put_weights, saved_weights

RECORD: Final = "record.json"
WEIGHTS: Final = "weights.safetensors"
TOKENIZER: Final = "tokenizer.json"
FILES: Final = (RECORD, WEIGHTS, TOKENIZER)


class EncoderKind(NamedTuple):
    """The classes of one kind of encoder."""

    config: Any
    tokenizer: Any
    encoder: Any


ENCODERS: Final = {
    "light": EncoderKind(LightConfig, LightTokenizer, LightEncoder),
    "transformer": EncoderKind(SnipperTransformerConfig, SnippetSubwords, TransformerSnippetEncoder),
}


def load_snippet_encoder(folder: Path) -> tuple[SnippetEncoder, SnippetTokenizer]:
    """The encoder in ``folder``, on the CPU and in evaluation mode.

    Raises:
        UserError: there is none, or it is damaged.
    """
    try:
        record = parse_json(read_whole(folder / RECORD))
        kind = ENCODERS[record["kind"]]
        config = _config(kind.config, record["model"])
    except (OSError, UserError, KeyError, TypeError) as error:
        raise UserError(
            f"expected the folder of a finished stage of training in {folder}, but it cannot be read: {error}"
        ) from error
    tokenizer: SnippetTokenizer = kind.tokenizer.load(folder / TOKENIZER, config)
    model: SnippetEncoder = kind.encoder(config, tokenizer.vocabulary)
    put_weights(model, saved_weights(folder / WEIGHTS), str(folder / WEIGHTS))
    return model.eval(), tokenizer


def _config(kind: type, content: Any) -> Any:
    known = {field.name: field for field in fields(kind)}
    if not isinstance(content, dict) or not content.keys() <= known.keys():
        raise UserError("its settings are not those of an encoder")
    default = kind()
    for name, value in content.items():
        expected = type(getattr(default, name))
        if type(value) is not expected and not (expected is float and type(value) is int):
            raise UserError(f"{name} cannot be {value!r:.40}")
    return kind(**content)
