"""Reading durations."""

from __future__ import annotations

import pytest

from echomq_console.cli.errors import Misused
from echomq_console.cli.options import min_idle_ms, read_duration


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("250ms", 250),
        ("30s", 30_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("1h30m", 5_400_000),
        ("2d", 172_800_000),
        (" 5m ", 300_000),
        ("0", 0),
        ("0s", 0),
    ],
)
def test_durations(text: str, ms: int) -> None:
    assert read_duration(text, "--min-idle") == ms


def test_a_number_without_a_unit_is_refused_with_what_to_say() -> None:
    with pytest.raises(Misused, match=r"^--min-idle 30: say a unit, like 30s or 30m$"):
        read_duration("30", "--min-idle")


@pytest.mark.parametrize(
    "text", ["", "5", "m", "5 m", "-5m", "5m!", "1.5h", "٣s", "5M", "9" * 5000, "9" * 200 + "d", "101y"]
)
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(Misused) as refused:
        read_duration(text, "--job-time")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


def test_min_idle_that_was_not_said_means_the_threshold() -> None:
    assert min_idle_ms(None) is None
    assert min_idle_ms("0s") == 0
