"""Commands that give what a run has learnt to other programs: ``encode`` its vectors, ``export_run`` the model."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from data_prep.errors import Bounded, UserError, real, unexpected
from data_prep.files.access import check_file_place, check_folder_place, named_path
from data_prep.files.text_rows import pyarrow
from experiments.terminal import console
from experiments.terminal.options import parsed

if TYPE_CHECKING:
    from data_prep.store.split import Split

_FUNCTIONS: Final = ("method", "constructor")
_LARGEST: Final = 64 << 20  # bytes of a file of questions

Side = Literal["code", "query"]


@dataclass(frozen=True, slots=True)
class EncodeOptions:
    """Options of ``encode``."""

    out: str = ""
    """File of the vectors: X.npy, with what each row is in X.jsonl beside it, or X.parquet with both."""
    side: Side = "code"
    """code: FILES are source files and folders, a row is a function; query: text files, a row is a line."""
    split: str = ""
    """In place of FILES, train, valid or test of the run's own data set; a row is a pair's query or code."""
    model: str = ""
    """FILE.py:CLASS of a model of one's own."""


@dataclass(frozen=True, slots=True)
class ExportOptions(Bounded):
    """Options of ``export``, beside those of data sets."""

    out: str = ""
    """The folder; of a run's model a new one."""
    model: str = ""
    """FILE.py:CLASS of a model of one's own."""
    base_share: Annotated[float, real(0, 1)] = 0.0
    """Share, from 0 to 1, of the weights of the pretrained encoder that a run started from; the rest is the run's."""


def encode(arguments: Sequence[str]) -> None:
    """Write the vectors that a finished run gives to functions or questions.

    Raises:
        UserError: there is no such run or file, its model makes no vectors, or a library is missing.
        OSError: a file cannot be written.
    """
    words, options = parsed(arguments, EncodeOptions)
    if not words or bool(words[1:]) == bool(options.split):
        raise unexpected("a run, and files or --split=test: bash run.sh encode RUN FILES --out=X.npy", words)
    out = _place(options.out, (".npy", ".parquet"))
    from experiments.recipes.own_models import add_own_model
    from experiments.recipes.run_folder import load_run
    from modeling.base import BiEncoder
    from modeling.pool_ranker import PoolRanker
    from modeling.ranker import best_device

    if options.model:
        add_own_model(options.model)
    run = named_path(words[0])
    model, tokenizer = load_run(run)
    if not isinstance(model, BiEncoder):
        raise UserError(
            f"the model in {run} compares the words of a question and a function, and has no vector of either: name a "
            "run of a model that has, such as unif, deepcs, scotch_light or minilm"
        )
    of_files = _questions if options.side == "query" else _functions
    rows = _of_data_set(run, options.split) if options.split else of_files(words[1:])
    if not len(rows):
        raise UserError("there is nothing to encode: expected functions, or lines of text with --side=query")
    vectors = PoolRanker(model, tokenizer, best_device()).vectors(rows, options.side)
    _write(out, vectors, [*_described(rows, options.side)])
    console.say(f"{out}: {len(vectors):,} vectors of {vectors.shape[1]} numbers")


def export_run(arguments: Sequence[str]) -> None:
    """Write the model of a finished run as a folder for other programs.

    Raises:
        UserError: there is no such run, or the folder exists.
        OSError: a file cannot be written.
    """
    words, options = parsed(arguments, ExportOptions)
    if len(words) != 1 or not options.out:
        raise unexpected("a run and a new folder: bash run.sh export RUN --out=FOLDER", words)
    out = named_path(options.out)
    if out.exists():
        raise UserError(f"--out={out} exists: name a new folder")
    check_folder_place(out, "--out")
    from data_prep.files.writing import atomic_folder
    from experiments.gencodesearchnet.scorers import TRAINING, Training, learned_languages
    from experiments.recipes.config import Configuration
    from experiments.recipes.own_models import add_own_model
    from experiments.recipes.run_folder import RunFolder, load_run
    from modeling.transformers.bi_encoder import TransformerRanker, export_model

    if options.model:
        add_own_model(options.model)
    run = named_path(words[0])
    model, tokenizer = load_run(run)
    plan = Configuration.load(RunFolder(run).config)
    if options.base_share:
        if not isinstance(model, TransformerRanker):
            raise UserError(f"--base_share is for a model of a pretrained encoder, not {plan.model_name}")
        model.move_to_base(options.base_share)
    settings = {"model_name": plan.model_name, "model": asdict(plan.model), "words": asdict(plan.words)}
    learned = Training(plan.dataset, learned_languages(str(run)), options.base_share)
    with atomic_folder(out) as new:
        export_model(model, tokenizer, settings, new)
        (new / TRAINING).write_text(json.dumps(asdict(learned)))
        names = ", ".join(sorted(each.name for each in new.iterdir()))
    console.say(f"{out}: {names}")


def _place(typed: str, suffixes: Sequence[str]) -> Path:
    out = named_path(typed) if typed else Path()
    if out.suffix not in suffixes:
        raise UserError(f"--out takes a file whose name ends in {' or '.join(suffixes)}, not {typed or 'nothing'}")
    check_file_place(out, "--out")
    if out.suffix == ".parquet":
        pyarrow(out)
    return out


def _of_data_set(run: Path, name: str) -> "Split":
    from data_prep.records import SPLITS
    from experiments.recipes.config import Configuration
    from experiments.recipes.run_folder import RunFolder
    from experiments.run.data import contexts_stage, prepare_stage

    if name not in SPLITS:
        raise UserError(f"--split takes {', '.join(SPLITS)}, not {name}")
    plan = Configuration.load(RunFolder(run).config)
    data = prepare_stage(plan.dataset, plan.data, "bash run.sh encode")
    return next(
        split for key, split in contexts_stage(plan, plan.dataset, plan.data, data).splits.items() if key == name
    )


def _questions(files: Sequence[str]) -> "Split":
    """The lines of text files, as pairs with the file and line in place of a function."""
    from data_prep.files.access import read_whole
    from data_prep.records import Method, Pair
    from data_prep.store.split import Split
    from search.engine.question import asked_words
    from search.files.encodings import text_of

    pairs = []
    for file in files:
        path = named_path(file)
        if not path.is_file():
            raise UserError(f"{path} is no file: --side=query takes text files with a question a line")
        if path.stat().st_size > _LARGEST:
            raise UserError(f"{path} has more than {_LARGEST >> 20} MiB: divide it")
        text = text_of(read_whole(path))[0].decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                place = Method("", str(path), number, number, "", "", "file", "", "", {})
                pairs.append(Pair(place, line.strip(), asked_words(line)))
    return Split.of("queries", pairs)


def _functions(files: Sequence[str]) -> "Split":
    """The functions of source files and of folders of them."""
    import numpy as np

    from data_prep.installation import processors
    from data_prep.store.split import joined
    from search.files.languages import indexed_suffixes, known_suffixes
    from search.files.stamps import Found, modified_at
    from search.files.tree import checkout_of, found_files
    from search.index.build import watched
    from search.index.code_index import UNIT_KINDS
    from search.making import complain_about

    kinds = [UNIT_KINDS.index(kind) for kind in _FUNCTIONS]
    parts = []
    for file in files:
        path = named_path(file)
        if path.is_dir():
            root, suffixes = path, indexed_suffixes(documents=False)
            found = found_files(root, suffixes, complain_about, checkout_of(root, complain_about))
        elif path.is_file():
            status = path.stat()
            root, found = path.parent, [Found(path.name, status.st_size, modified_at(status))]
        else:
            raise UserError(f"{path} is no file or folder: expected source files ({known_suffixes()})")
        for part in watched(root, found, processors(), None):
            for each in part.files:
                if each.trouble:
                    complain_about(each.path, each.trouble)
            rows = part.split.take(np.flatnonzero(np.isin(part.kinds, kinds)))
            parts.append(_under(Path(file) if path.is_dir() else Path(file).parent, rows))
    if not sum(map(len, parts)):
        raise UserError(f"no function was found in {', '.join(files)}: expected source files ({known_suffixes()})")
    return joined(*parts) if len(parts) > 1 else parts[0]


def _under(folder: Path, rows: "Split") -> "Split":
    """Rows with paths that begin with the folder as it was typed."""
    from data_prep.store.split import Texts

    texts = map(rows.text, range(len(rows)))
    return replace(rows, texts=Texts.of(replace(text, path=(folder / text.path).as_posix()) for text in texts))


def _described(rows: "Split", side: Side) -> Iterator[Mapping[str, Any]]:
    from modeling.read_texts import text_read

    for row in range(len(rows)):
        text = text_read(rows, row)
        name = ".".join(filter(None, (text.type_name, text.method_name)))
        yield {
            "id": f"{text.path}:{text.start_line}",
            "path": text.path,
            "start_line": text.start_line,
            "end_line": text.end_line,
            "name": name,
            "text": text.query_text if side == "query" else text.source,
        }


def _write(out: Path, vectors: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    import numpy as np

    from data_prep.files.writing import atomic_file, write_atomically

    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".npy":
        with atomic_file(out) as new, new.open("wb") as file:
            np.save(file, vectors)
        write_atomically(out.with_suffix(".jsonl"), "".join(f"{json.dumps(row)}\n" for row in rows))
        return
    library = pyarrow(out)
    flat = library.array(vectors.ravel(), library.float32())
    columns = {name: [_utf8(row[name]) for row in rows] for name in rows[0]}
    columns["vector"] = library.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    with atomic_file(out) as new:
        library.parquet.write_table(library.table(columns), new)


def _utf8(value: Any) -> Any:
    """A value that Parquet takes: what of a text is no Unicode is replaced."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
