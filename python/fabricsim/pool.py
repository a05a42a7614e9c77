"""Many runs at a time in threads, and an orderly end on Ctrl-C."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fabricsim.run import Progress

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


def in_pool(
    run: Callable[[Job, Progress], Outcome],
    jobs: Sequence[Job],
    workers: int,
    report: Callable[[int, float], None] | None = None,
) -> list[Outcome]:
    """`run(job, tick)` for every job, `workers` at a time; outcomes in the order of the jobs.

    `tick` must be handed to the core as its progress function: it stops the run when another has failed or the user has
    pressed Ctrl-C, which Python tells the main thread only. `report(job's place, share done from 0 to 1)` hears of
    progress.

    Raises:
        The first error of any job, or KeyboardInterrupt; jobs not yet begun are dropped and running ones stopped.

    """
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
    from threading import Event

    stop = Event()

    def one(place: int, job: Job) -> Outcome:
        def tick(_simulated_ps: int, finished: int, total: int) -> None:
            if stop.is_set():
                raise _StoppedError
            if report:
                report(place, finished / max(total, 1))

        outcome = run(job, tick)
        if report:
            report(place, 1.0)
        return outcome

    with ThreadPoolExecutor(workers) as threads:
        futures = [threads.submit(one, place, job) for place, job in enumerate(jobs)]
        try:
            waiting, failed = set(futures), None
            # A wait without end would not hear Ctrl-C when polars is at work: it takes the signal, and tells Python
            # without waking this thread.
            while waiting and failed is None:
                done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                failed = next((future.exception() for future in done if future.exception()), None)
            if failed is not None:
                raise failed
        finally:
            stop.set()
            threads.shutdown(cancel_futures=True)
    return [future.result() for future in futures]


class _StoppedError(Exception):
    """Raised inside a run to end it early; never leaves the pool."""
