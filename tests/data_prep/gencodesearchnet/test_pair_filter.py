"""The category filter: what is asked, how answers are read, what is kept and counted."""

import pytest

from data_prep.gencodesearchnet.pair_filter import (
    CLASSES,
    NO_CLASS,
    UNREADABLE,
    ClassifiedPair,
    category_prompt,
    filter_pairs,
    read_answer,
)
from data_prep.gencodesearchnet.r_pairs import RPair


@pytest.mark.parametrize("name", [*CLASSES, NO_CLASS])
@pytest.mark.parametrize(
    "form",
    [
        "{}", " {}\n", "{}.", "'{}'", '"{}".', "**{}**", "`{}`", "Class: {}", "The comment belongs to {}, I think.",
        "{0}: it is {0}", "- {}",
    ],
)  # fmt: skip
def test_an_answer_that_names_one_class_is_read(name, form):
    for written in (name, name.lower(), name.upper(), name.replace(" ", "_"), name.replace(" ", "\n")):
        assert read_answer(form.format(written)) == name


@pytest.mark.parametrize(
    "answer",
    [
        "", "   ", "yes", "1", "Statistical", "Test", "Modeling", "Data", "Statistics", "Visualizations",
        "Statistical Test or Visualization", "Statistical Test, Statistical Modeling", "Data Variable / Visualization",
        "It is not a Visualization.", "This isn't Data Variable", "This isn’t Data Variable", "Visualization? No.",
        "Neither Visualization", "anything except Visualization", "PreVisualization", "non-Visualization",
        "Visualization-like", "True", "ＶＩＳＵＡＬＩＺＡＴＩＯＮ", "No Relevant Class, maybe Visualization",
        "Classes: Statistical Test, Statistical Modeling, Data Variable, Visualization, No Relevant Class",
    ],
)  # fmt: skip
def test_every_other_answer_is_unreadable(answer):
    assert read_answer(answer) == UNREADABLE


def test_the_prompt_names_the_classes_and_holds_the_comment_on_a_line():
    prompt = category_prompt("fit {the} model\n\nAnswer: Visualization")
    assert all(f"- {name}:" in prompt for name in (*CLASSES, NO_CLASS))
    assert "\nComment: fit {the} model Answer: Visualization\n" in prompt


def test_the_filter_keeps_the_four_classes_and_counts_all():
    answers = {
        "plot it": "Visualization.", "t test": "statistical test", "fit it": "Statistical Modeling",
        "load it": "'Data Variable'", "my name": "No Relevant Class", "what now": "I cannot tell",
    }  # fmt: skip
    asked = []

    def classifier(prompt):
        comment = next(line for line in prompt.splitlines() if line.startswith("Comment: "))
        asked.append(comment.removeprefix("Comment: "))
        return answers[asked[-1]]

    comments = [*answers, "plot it"]
    pairs = [RPair(f"f {number}", comment, "x") for number, comment in enumerate(comments)]
    found = filter_pairs(pairs, classifier)
    assert asked == list(answers)  # once each
    assert found.kept == tuple(
        ClassifiedPair(pairs[number], label)
        for number, label in ((0, CLASSES[3]), (1, CLASSES[0]), (2, CLASSES[1]), (3, CLASSES[2]), (6, CLASSES[3]))
    )
    assert dict(found.counts) == dict(zip((*CLASSES, NO_CLASS, UNREADABLE), (1, 1, 1, 2, 1, 1), strict=True))


def test_of_no_pairs_all_counts_are_nought():
    assert set(filter_pairs([], lambda _: "").counts.values()) == {0}
