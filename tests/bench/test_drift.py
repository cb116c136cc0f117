"""False alarms, and a planted change of 5 points, in simulated years."""

import pytest

from bench.drift import WAYS, simulate_years


@pytest.mark.slow
def test_false_alarms_and_a_change_of_five_points_in_simulated_years():
    """For a fifth of the questions unsteady; the bench has more noise, and more years."""
    assert simulate_years(0.2, 60).share(1, 12) <= 0.05
    assert simulate_years(0.2, 30, WAYS[0], 4).share(4, 4) >= 0.8
    assert simulate_years(0.2, 30, WAYS[1], 4).share(4, 6) >= 0.8
