from dataclasses import replace

import pytest

from experiments.tables.ablations import (
    ABLATIONS,
    Found,
    ablation_page,
    ablation_picture,
    found_by,
    overview,
    verdict,
)
from tests.evaluation.test_results import SIZE, result

PLAIN = result(model="galm", also={})


def kept(**ranks: int) -> list:
    """Two seeds whose golds all stand at one rank, by the variants' labels with _ for a space."""
    return [
        (label.replace("_", " "), replace(PLAIN, ranks=[rank] * SIZE, exact={**PLAIN.exact, "mrr": 1 / rank}))
        for label, rank in ranks.items()
        for _ in range(2)
    ]


def found(name: str, **ranks: int) -> Found:
    answer = found_by(name, kept(**ranks), {})
    assert answer is not None
    return answer


def test_a_variant_is_worse_than_the_model_better_or_level():
    three = found("blocks", galm=2, **{"1_blocks": 20, "4_blocks": 1, "64_blocks": 2})
    assert {label: lead.side for label, lead in three.leads.items()} == {
        "one block": "worse",
        "4 blocks": "better",
        "64 blocks": "level",
    }
    assert verdict(three) == (
        f"**In part.** The claim: {ABLATIONS['blocks'].claim} 1 of 3 comparisons comes out so. Variants beside `galm` "
        "(MRR 0.500, 2 seeds):\n\n- Ahead: `4 blocks` +0.500 (+0.500 to +0.500).\n"
        "- Behind: `one block` -0.450 (-0.450 to -0.450).\n"
        "- Level, within 0.01: `64 blocks` +0.000 (+0.000 to +0.000)."
    )


def test_a_wide_interval_around_0_is_not_level():
    """Ranks of 1 and SIZE in place of 2: half of the queries gain, half lose."""
    runs = [
        (label, replace(PLAIN, ranks=ranks, exact={**PLAIN.exact, "mrr": 0.5}))
        for label, ranks in {"galm": [2] * SIZE, "1 blocks": [1, SIZE] * (SIZE // 2)}.items()
        for _ in range(2)
    ]
    wide = found_by("blocks", runs, {})
    assert wide is not None
    assert wide.leads["one block"].side == "not shown"
    assert verdict(wide).startswith("**That is not shown, as far as it is measured.** The claim: ")
    assert " The one comparison does not come out so. " in verdict(wide)
    assert "- Not shown to differ: `one block` " in verdict(wide)


@pytest.mark.parametrize(("rank", "answer"), [(2, "Yes"), (1, "No"), (20, "No")])
def test_a_claim_that_nothing_changes_holds_where_nothing_does(rank, answer):
    assert set(ABLATIONS["width"].level) == set(ABLATIONS["width"].variants)
    same = found("width", galm=2, width_16=rank, width_64=rank, width_256=rank)
    assert verdict(same).startswith(f"**{answer}.** The claim: ")
    assert f" {3 if answer == 'Yes' else 'None'} of 3 comparisons come out so." in verdict(same)


def test_a_verdict_names_what_is_not_measured():
    part = found("blocks", galm=2, **{"1_blocks": 20})
    assert verdict(part).startswith("**Yes, as far as it is measured.** The claim: ")
    assert " The one comparison comes out so. " in verdict(part)
    assert verdict(part).endswith("\n- Not measured: `4 blocks`; `64 blocks`.")


def test_without_the_model_or_a_variant_nothing_is_found():
    assert found_by("blocks", kept(galm=2), {}) is None
    assert found_by("blocks", kept(**{"1_blocks": 2}), {}) is None
    assert found_by("blocks", [], {}) is None


def test_a_variant_counts_once_it_has_the_seeds_of_the_model():
    base, one, other = kept(galm=2, **{"1_blocks": 20, "4_blocks": 20})[::2]
    part = found_by("blocks", [base, base, one, other, other], {})
    assert part is not None
    assert list(part.leads) == ["4 blocks"]
    assert "| one block |" not in ablation_page(part)


def test_an_ablation_has_a_page_a_picture_and_a_section_of_the_overview():
    part = found("blocks", galm=2, **{"1_blocks": 20})
    page, all_of_them = ablation_page(part), overview([part])
    for text in (page, all_of_them):
        assert ABLATIONS["blocks"].claim in text
        assert verdict(part) in text
        assert "| one block | " in text
        assert "1 blocks" not in text
    assert page.startswith(f"# {ABLATIONS['blocks'].question}\n\n**Yes, as far as it is measured.** ")
    assert "](blocks.png)" in page
    assert "](ablations/blocks.md)" in all_of_them
    assert "| one block | -0.450 (-0.450 to -0.450) | behind |" in all_of_them
    head = all_of_them.split("\n\n")
    assert head[0] == "# Which parts of GALM and of galm_plus help?"
    furthest = "furthest `one block`, -0.450 (-0.450 to -0.450)."
    assert head[1] == f"1 variant, each compared with its model. 1 is behind: {furthest}"
    assert ablation_picture(part).startswith(b"\x89PNG")


def test_what_a_claim_expects_level_are_variants():
    for name, ablation in ABLATIONS.items():
        assert ablation.question.endswith("?")
        assert set(ablation.names) <= set(ablation.variants), name
        assert set(ablation.level) <= set(ablation.variants), name


def test_ablations_never_see_the_test_nor_copies():
    for ablation in ABLATIONS.values():
        plans = [cell.plan({}) for cell in ablation.cells]
        assert {(plan.evaluate.split, plan.data.clean_splits) for plan in plans} == {("valid", True)}
