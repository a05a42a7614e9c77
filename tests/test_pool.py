"""Many runs at a time: order, errors, and a real Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabricsim.pool import in_pool

if TYPE_CHECKING:
    from fabricsim.run import Progress


def patient(job: int, tick: Progress) -> int:
    """A job of up to 10 s that asks ten times a second whether to stop, as the core does."""
    for _ in range(100 if job else 1):
        time.sleep(0.1)
        tick(0, 0, 1)
    return job


def test_outcomes_come_in_the_order_of_the_jobs() -> None:
    def later_is_quicker(job: int, _tick: Progress) -> int:
        time.sleep(0.05 * (3 - job))
        return job

    assert in_pool(later_is_quicker, [0, 1, 2], workers=3) == [0, 1, 2]


def test_progress_reaches_one_for_every_job() -> None:
    told: dict[int, float] = {}

    def half(job: int, tick: Progress) -> int:
        tick(0, 1, 2)
        assert told[job] == 0.5
        return job

    in_pool(half, [0, 1], workers=1, report=told.__setitem__)
    assert told == {0: 1.0, 1: 1.0}


def test_the_first_error_stops_the_running_and_drops_the_waiting() -> None:
    begun: list[int] = []

    def fail_first(job: int, tick: Progress) -> int:
        begun.append(job)
        if job == 0:
            raise ValueError("job 0")
        return patient(job, tick)

    start = time.monotonic()
    with pytest.raises(ValueError, match="job 0"):
        in_pool(fail_first, range(20), workers=2)
    assert time.monotonic() - start < 5
    assert len(begun) < 20


def test_an_interrupt_stops_running_jobs() -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        in_pool(patient, range(1, 5), workers=2)
    assert time.monotonic() - start < 5


def test_ctrl_c_in_a_comparison_keeps_the_finished_runs(tmp_path: Path) -> None:
    pytest.importorskip("fabricsim._core")
    program = "import sys; from fabricsim.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "compare", "--preset", "ofan-paper", "--balancers", "ofan,rsq"]
    command += ["--seeds", "2000", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    runs = tmp_path / "runs"
    try:
        deadline = time.monotonic() + 60
        while not (runs.exists() and any(runs.glob("*/scenario.json"))) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert (out, err) == ("", "fabricsim: interrupted\n")
    kept = [run for run in runs.iterdir() if not run.name.startswith(".")]
    assert 1 <= len(kept) < 4000
    assert all((run / "summary.json").exists() and (run / "flows.parquet").exists() for run in kept)
