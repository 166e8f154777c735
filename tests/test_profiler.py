"""Labels cost nothing, schedules are PyTorch's, a recording is refused."""

import pytest

from flambeau.profiler import ProfilerAction, profile, record_function, schedule


def test_schedule():
    action = schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    names = [action(step).name for step in range(6)]
    assert names == ["NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE"]
    assert (
        schedule(wait=3, warmup=0, active=1, skip_first_wait=1)(0) is ProfilerAction.RECORD_AND_SAVE
    )


def test_labels_and_recordings():
    with record_function("label"):
        pass
    assert record_function("label")(lambda: 3)() == 3
    with pytest.raises(NotImplementedError, match="recordings are not available"):
        profile()
