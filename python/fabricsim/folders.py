"""Folders of results: what a new one may replace, and how it gets to its place as a whole."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOWS, PORTS, TRACE, SERIES = "flows.parquet", "ports.parquet", "trace.parquet", "series.parquet"
WINDOWS = "windows.parquet"
SUMMARY, SCENARIO = "summary.json", "scenario.json"
_ALWAYS_THERE = {FLOWS, PORTS, SUMMARY, SCENARIO}


def check_folder(folder: Path) -> None:
    """Refuse a place that results may not replace; ask before a long run, not after it.

    Raises:
        FileExistsError: `folder` is a file or the current folder, or holds anything other than results.
        PermissionError: nothing may be written where `folder` is to be.

    """
    folder = folder.resolve()
    names = _names(folder)
    if names and not names >= _ALWAYS_THERE:
        raise FileExistsError(f"{folder} exists and holds no results: name a new or an empty folder")
    if others := sorted(names - {*_ALWAYS_THERE, TRACE, SERIES, WINDOWS}):
        raise FileExistsError(f"{folder} holds {others[0]} beside results: name a new or an empty folder")
    if folder == Path.cwd():
        raise FileExistsError(f"{folder} is the current folder, which cannot be replaced: name a folder in it")
    _check_parent(folder)


def check_comparison_folder(folder: Path) -> None:
    """Refuse a place where a comparison could overwrite what is not its own.

    Raises:
        FileExistsError: `folder` is a file, or holds things but no earlier comparison.
        PermissionError: nothing may be written there.

    """
    folder = folder.resolve()
    names = _names(folder)
    if names and "runs" not in names:
        raise FileExistsError(f"{folder} exists and holds no comparison: name a new or an empty folder")
    _check_parent(folder / "runs")


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """Give a folder to write to, which then takes the place of `folder`; on an error it vanishes instead.

    Several may be written to one place at once: the last to finish stays.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(mkdtemp(prefix=f".{folder.name[:99]}.", suffix=".writing", dir=folder.parent))
    try:
        beside = aside / "new"
        beside.mkdir()
        yield beside
        for attempt in range(1000):
            try:
                beside.rename(folder)
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            check_folder(folder)
            try:
                folder.rename(aside / f"old-{attempt}")
            except FileNotFoundError:  # someone else is at it too
                continue
    finally:
        shutil.rmtree(aside, ignore_errors=True)


class Held:
    """A folder held open: what it gives is of one folder, even if another takes its place meanwhile."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    def names(self) -> set[str]:
        """Return what is in it."""
        with os.scandir(self._descriptor) as entries:
            return {entry.name for entry in entries}

    def open(self, name: str) -> BinaryIO:
        """Open one of its files for reading."""
        return os.fdopen(os.open(name, os.O_RDONLY, dir_fd=self._descriptor), "rb")

    def is_there(self) -> bool:
        """Whether it still is where it was."""
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False


@contextmanager
def held(folder: Path) -> Iterator[Held]:
    """Hold `folder` open."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield Held(folder, descriptor)
    finally:
        os.close(descriptor)


def _names(folder: Path) -> set[str]:
    """Return what is in `folder`, if it is there."""
    while True:
        try:
            with held(folder) as place:
                names = place.names()
                if place.is_there():  # else it was being deleted, and half its names may be missing
                    return names
        except FileNotFoundError:
            return set()
        except NotADirectoryError:
            raise FileExistsError(f"{folder} is a file, or in one: name a new or an empty folder") from None


def _check_parent(folder: Path) -> None:
    parent = next(place for place in folder.parents if place.exists())
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} cannot be made: {parent} may not be written to")
