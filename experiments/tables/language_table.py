"""The table of languages: one model over all languages of ``repositories`` beside one for each of them.

``bash run.sh benchmark languages`` runs the missing cells: every model is trained on each language alone and on all
together, and tested on whole repositories of each language that training has not seen, alone and fused with BM25. PHP
and Ruby of ``seven_languages`` have a model each. A pretrained encoder is tested as it comes, and fine-tuned on a
sample of all languages. ``bash run.sh table`` writes ``experiments/results/languages.md`` from the saved results.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Final, Literal

from data_prep.errors import UserError
from data_prep.languages.registry import corpus_languages
from evaluation.comparison import MARGIN, Entry, adjusted
from evaluation.queries import numbered
from evaluation.reading import pool_rows
from evaluation.result_store import ResultStore
from evaluation.results import Result
from evaluation.significance import compare_runs
from experiments.tables.cells import Cell, saved_results
from experiments.tables.comparison_tables import by_side, cost, markdown_table, with_interval
from experiments.tables.query_kinds import QUERIES, TREES

NAME: Final = "languages"
"""Of its part of ``benchmark``, its page, and the folder of its results."""
CONTROL: Final = "bm25_tuned"
ALL: Final = "all"
OWN: Final = "own"
POOLS: Final = (1000, 5000)
_CORPUS: Final = "repositories"
_ADDED: Final = {"php": "seven_languages", "ruby": "seven_languages"}
"""Languages that this corpus lacks, and the one that has them beside the same pairs of the others."""
_SEEDS: Final = {"galm_plus": (3, 1), "unif": (3, 3), "scotch_light_no_context": (3, 3)}
"""Models, and the numbers of seeds of the one of all languages and of those of one language."""
_ENCODER: Final = {
    "data.train_limit": "60000",
    "model.query_length": "32",
    "model.code_length": "128",
    "train.epochs": "1",
    "train.batch_size": "128",
    "train.encode_at_once": "32",
    "train.learning_rate": "0.0001",
    "train.warmup_steps": "0",
    "train.warmup_share": "0.1",
    "train.precision": "bfloat16",
}
"""Of the pretrained encoder: one epoch over a sample of the pairs of all languages."""
_ENCODER_SEEDS: Final = 3
_FUSED_BEST: Final = f"galm_plus, of all languages, with {CONTROL}"
"""The label of the best fusion of what starts from random vectors."""
_AGAINST: Final = {"minilm": ("minilm as it comes", "galm_plus")}
"""Model -> those that it is also compared with, where they did not learn from the one language alone."""


_CONVENTIONS: Final = (
    "Models are trained on the pairs of one language of `repositories`, or of all five together. They are tested on "
    "whole repositories that are in no training split. A repository is in the same split in all of its languages. PHP "
    "and Ruby are those of `seven_languages`, whose pairs of the five are the same. Each test query is ranked over a "
    "pool of functions, drawn from these with its own; all if there are fewer. Ties count against the ranker. MRR: "
    "mean over seeds ± their standard deviation; one seed has neither deviation nor intervals. Intervals: 95 %, over "
    "seeds and whole repositories, not corrected for their number. The weight of a fusion is tuned on validation "
    "repositories of the language."
)
TITLE: Final = "Is one model of all languages better than one for each?"
_JUDGED: Final = (
    f"Ahead and behind: p < 0.05 after Holm's correction for the languages of a comparison. Level: the whole interval "
    f"lies within {MARGIN:g}."
)


@dataclass(frozen=True, slots=True)
class Row:
    """A ranker tested on one language."""

    model: str
    trained_on: Literal["own", "all", ""]  # the language that it is tested on, all languages, or nothing
    fused: bool = False

    @property
    def label(self) -> str:
        """As the page names it."""
        of = {"": "", "all": ", of all languages", "own": ", of the language"}[self.trained_on]
        return f"{self.model}{of}{f', with {CONTROL}' if self.fused else ''}"


def language_cells() -> tuple[Cell, ...]:
    """All cells, those of the first seeds first."""
    return tuple(cell for _, _, _, cell in _placed())


def _placed() -> Iterator[tuple[Row, str, int, Cell]]:
    """Every cell with its row, the language that it is tested on, and its pool."""
    for language, pool in product(_languages(), POOLS):
        settings, label = {"data.language": language, "evaluate.pool": str(pool)}, f"{CONTROL}, {language}, {pool}"
        yield Row(CONTROL, ""), language, pool, Cell(_corpus_of(language), CONTROL, 0, label, settings)
    for seed in range(max(max(seeds) for seeds in _SEEDS.values())):
        for model, (of_all, own) in _SEEDS.items():
            for placed in _of_model(model, seed):
                if seed < (own if placed[0].trained_on == OWN else of_all):
                    yield placed
    yield from _of_encoder()


def _of_model(model: str, seed: int) -> Iterator[tuple[Row, str, int, Cell]]:
    """One model over all languages and one for each, on every pool; the former on the largest also fused with BM25."""
    whole = {"data.language": ALL, "evaluate.pool": str(POOLS[0])}
    over_all = Cell(_CORPUS, model, seed, f"{model} of all languages, mixed, {POOLS[0]}", whole)
    for language in _languages():
        tested = {"data.language": language, "evaluate.pool": str(POOLS[0])}
        alone = Cell(_corpus_of(language), model, seed, f"{model}, {language}, {POOLS[0]}", tested)
        yield Row(model, OWN), language, POOLS[0], alone
        larger = {**tested, "evaluate.pool": str(POOLS[-1])}
        wanted = (
            (Row(model, OWN), alone, larger),
            (Row(model, ALL), over_all, tested),
            (Row(model, ALL), over_all, larger),
            (Row(model, ALL, fused=True), over_all, {**larger, "evaluate.fuse_with": CONTROL}),
        )
        for row, base, settings in wanted[: 1 if language in _ADDED else None]:
            pool = int(settings["evaluate.pool"])
            yield (
                row,
                language,
                pool,
                replace(base, label=f"{row.label}, {language}, {pool}", settings=settings, weights_of=base),
            )


def _of_encoder() -> Iterator[tuple[Row, str, int, Cell]]:
    """A pretrained encoder on the largest pool, as it comes and fine-tuned on all languages, alone and with BM25."""
    rows: list[tuple[Row, str, int, dict[str, str]]] = [(Row("minilm as it comes", ""), "sentence_encoder", 0, {})]
    rows += [(Row("minilm", ALL), "minilm", seed, _ENCODER) for seed in range(_ENCODER_SEEDS)]
    for (alone, model, seed, settings), language, fused in product(rows, corpus_languages(), (False, True)):
        whole = {**settings, "data.language": ALL, "evaluate.pool": str(POOLS[0])}
        over_all = Cell(_CORPUS, model, seed, f"{alone.model} of all languages, mixed, {POOLS[0]}", whole)
        tested = {**settings, "data.language": language, "evaluate.pool": str(POOLS[-1])}
        row = replace(alone, fused=fused)
        again = {**tested, "evaluate.fuse_with": CONTROL} if fused else tested
        label = f"{row.label}, {language}, {POOLS[-1]}"
        yield row, language, POOLS[-1], replace(over_all, label=label, settings=again, weights_of=over_all)


def _languages() -> tuple[str, ...]:
    return (*corpus_languages(), *_ADDED)


def _corpus_of(language: str) -> str:
    return _ADDED.get(language, _CORPUS)


def write_query_trees(results: Path, typed: Mapping[str, str]) -> None:
    """Save the source trees of the queries of each pool, where they are not saved.

    Raises:
        UserError: the data cannot be prepared.
    """
    from experiments.run.data import prepare_stage

    store = ResultStore(results / QUERIES)
    for row, language, pool, cell in _placed():
        if row.model != CONTROL or store.get(_trees_name(language, pool)):
            continue
        plan = cell.plan(typed)
        data = prepare_stage(cell.dataset, plan.data, f"bash run.sh benchmark {NAME}")
        split = data.splits["test"]
        trees = numbered([split.text(row).origin for row in pool_rows(len(split), plan.evaluate).tolist()])
        facts = {"language": language, "pool": pool, "fingerprint": data.manifest["fingerprint"], "trees": trees}
        store.save(_trees_name(language, pool), facts)
    store.fold()


def language_page(results: Path, *, own: bool = False) -> str:
    """The page of the saved results; "" if there are none.

    Raises:
        UserError: a saved file cannot be read.
    """
    saved = [*_results(results / NAME, own=own)]
    found = _rows(saved)
    if not found:
        return ""
    pools = {pool: {row: by for (row, size), by in found.items() if size == pool} for pool in POOLS}
    parts, answers = [], ""
    for pool, rows in pools.items():
        if rows:
            trees = {each: load_trees(results, each, pool) for each in {name for by in rows.values() for name in by}}
            parts += [f"## Pools of {pool:,}", _sizes(rows, trees), _means(rows), _differences(rows, trees)]
            answers = _answers(rows, trees, pool) or answers
    spent = cost(result for _, _, _, result in saved)
    return "\n\n".join(filter(None, (f"# {TITLE}", answers, f"{_CONVENTIONS} {spent}", *parts))) + "\n"


def _answers(rows: Mapping[Row, Mapping[str, Entry]], trees: Mapping[str, Sequence[int]], pool: int) -> str:
    """All languages against one, and fusions against BM25, by language: of models with several seeds; "" without."""
    said, alone = [], []
    for title, by, base in _compared(rows):
        common = [name for name in _tested(rows) if name in by and name in base]
        if title.endswith((" - of the language", f", with {CONTROL} - {CONTROL}", f" - {_FUSED_BEST}")):
            found = adjusted({name: compare_runs(by[name].runs, base[name].runs, trees[name]) for name in common})
            if any(lead.side != "one seed" for lead in found.values()):
                ahead = f"{sum(lead.side == 'better' for lead in found.values())} of {len(found)} languages"
                said.append("\n".join((f"**{title}**: ahead in {ahead}.\n", *by_side(found))))
            elif found:
                alone.append(title)
    one_seed = ", ".join(f"`{name}`" for name in dict.fromkeys(alone))
    told = f" With one seed, {one_seed} {'gets' if ',' not in one_seed else 'get'} no verdict." if alone else ""
    return "\n\n".join((*said, f"In pools of {pool:,}. {_JUDGED}{told}")) if said else ""


def _rows(saved: Sequence[tuple[Row, str, int, Result]]) -> Mapping[tuple[Row, int], Mapping[str, Entry]]:
    """The results of each row and pool, by the language that was tested."""
    seeds: dict[tuple[Row, int], dict[str, list[Result]]] = {}
    for row, language, pool, result in saved:
        seeds.setdefault((row, pool), {}).setdefault(language, []).append(result)
    return {
        key: {name: Entry(key[0].label, results, results) for name, results in by.items()} for key, by in seeds.items()
    }


def _results(folder: Path, *, own: bool) -> Iterator[tuple[Row, str, int, Result]]:
    placed = {cell.label: (row, language, pool) for row, language, pool, cell in _placed()}
    for label, result in saved_results(language_cells(), folder, None if own else {}):
        yield *placed[label], result


def _sizes(rows: Mapping[Row, Mapping[str, Entry]], trees: Mapping[str, Sequence[int]]) -> str:
    tested = {name: entry.results[0] for by in rows.values() for name, entry in by.items()}
    known = [name for name in _languages() if name in tested]
    queries = ("queries", *(f"{tested[name].queries:,}" for name in known))
    return markdown_table(("", *known), [queries, ("repositories", *(f"{len(set(trees[name])):,}" for name in known))])


def _tested(rows: Mapping[Row, Mapping[str, Entry]]) -> list[str]:
    """The languages with results."""
    return [name for name in _languages() if any(name in by for by in rows.values())]


def _means(rows: Mapping[Row, Mapping[str, Entry]]) -> str:
    names = _tested(rows)
    lines = [(row.label, *(by[name].mrr_text if name in by else "" for name in names)) for row, by in rows.items()]
    return markdown_table(("MRR", *names), lines)


def _differences(rows: Mapping[Row, Mapping[str, Entry]], trees: Mapping[str, Sequence[int]]) -> str:
    names = _tested(rows)
    lines = [
        (title, *(_difference(by.get(name), base.get(name), trees.get(name)) for name in names))
        for title, by, base in _compared(rows)
    ]
    return markdown_table(("difference of MRR", *names), lines) if lines else ""


def _compared(
    rows: Mapping[Row, Mapping[str, Entry]],
) -> Iterator[tuple[str, Mapping[str, Entry], Mapping[str, Entry]]]:
    """All languages against the language alone, and every model and fusion against BM25: title, first, second."""
    control = rows.get(Row(CONTROL, ""), {})
    for row, by in rows.items():
        others = [(f"{row.label} - {CONTROL}", control)] if row.model != CONTROL else []
        if row.trained_on == ALL:
            alone = replace(row, trained_on=OWN)
            title = f"{row.model}{f' with {CONTROL}' if row.fused else ''}: of all languages - of the language"
            others.append((title, rows.get(alone, {})))
        for other in _AGAINST.get(row.model, ()):
            bases = [base for base in rows if (base.model, base.fused) == (other, row.fused) and base.trained_on != OWN]
            others += [(f"{row.label} - {base.label}", rows[base]) for base in bases]
        yield from ((title, by, base) for title, base in others if set(by) & set(base))


def _difference(first: Entry | None, second: Entry | None, trees: Sequence[int] | None) -> str:
    if first is None or second is None:
        return ""
    return with_interval(compare_runs(first.runs, second.runs, trees))


def load_trees(results: Path, language: str, pool: int) -> Sequence[int]:
    """The source tree of each query of a pool, as a number.

    Raises:
        UserError: they are missing.
    """
    name = _trees_name(language, pool)
    run = ResultStore(results / QUERIES).get(name)
    if run is None:
        raise UserError(
            f"expected {name}, source trees of queries, in {results / QUERIES}: bash run.sh benchmark {NAME}"
        )
    trees: list[int] = run.content["trees"]
    return trees


def _trees_name(language: str, pool: int) -> str:
    return f"{TREES}{language}-{pool}"
