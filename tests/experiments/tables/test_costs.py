from dataclasses import replace

from evaluation.results import Seconds
from experiments.tables.comparison_tables import cost
from tests.evaluation.test_results import result

ONE = result()
HOUR = 3600.0


def ran(command: str, *, train: float, evaluate: float, **changed):
    seconds = Seconds(prepare=9.0, train=train * HOUR, evaluate=evaluate * HOUR)
    return replace(ONE, command=command, seconds=seconds, **{"also": {}, **changed})


def test_hours_of_training_and_ranking_are_added():
    runs = [ran("a", train=2, evaluate=0.5), ran("b", train=1, evaluate=0.25)]
    assert cost(runs).startswith("Cost: 2 runs, 3.0 hours of training and 0.8 of ranking,")


def test_a_run_that_stands_in_two_tables_counts_once():
    run = ran("a", train=2, evaluate=0.5)
    assert cost([run, run]).startswith("Cost: 1 run, 2.0 hours of training and 0.5 of ranking,")


def test_weights_that_are_tested_again_are_not_trained_again():
    again = ran("b", train=2, evaluate=0.5, train_pairs_per_second=0.0)
    assert "2.0 hours of training and 1.0 of ranking" in cost([ran("a", train=2, evaluate=0.5), again])


def test_ranking_on_other_data_sets_counts():
    (other,) = ONE.also.values()
    slow = replace(other, score_pairs_per_second=other.queries * other.pool_size / HOUR)
    assert "0.0 hours of training and 1.5 of ranking" in cost([ran("a", train=0, evaluate=0.5, also={"other": slow})])
