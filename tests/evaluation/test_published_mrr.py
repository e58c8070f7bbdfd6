"""Published MRR stands beside results on the whole set only."""

from evaluation.published import PUBLISHED_MRR, published_mrr


def test_published_numbers_are_named_beside_the_whole_set_only():
    told = published_mrr("csn_filtered", 10_955, 40_347)
    assert told == (
        " Published MRR, fine-tuned on its training split: CodeBERT 0.676, GraphCodeBERT 0.691, UniXcoder 0.726."
    )
    assert published_mrr("csn_filtered", 2_568, 15_372) == published_mrr("csn", 10_955, 40_347) == ""


def test_each_has_a_source():
    for rows in PUBLISHED_MRR.values():
        assert all(0 < value < 1 and len(source.split()) > 2 for _, value, source in rows)
