"""What of a study's file decides the rows it keeps, as a hash that is the same in every process."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

# Read after the runs, or part of every run's key anyway; left out of the hash unless what measures mentions them.
_NOT_MEASURED = ("STUDY", "CLAIMS")
_MEASURE = "measure"

# Who mentions one of these may read any name of the file without writing it.
_READS_ANY_NAME = {"__dict__", "__doc__", "dir", "eval", "exec", "globals", "inspect", "locals", "modules", "vars"}


def source_hash(path: Path, text: str) -> bytes:
    """Return a hash of all that `measure` of the study file at `path` can use: the file, and the modules beside it.

    Of the file's own `text`: all statements, whole, but for STUDY, CLAIMS and functions that neither `measure` nor any
    statement in the hash mentions, so that a claim can be put in other words without running anything again. Of a
    module in the file's folder (or below) that the file imports, or that such a module does: every byte.
    """
    tree = ast.parse(text)
    digest = sha256("\n".join(map(ast.dump, _measuring(tree.body))).encode())
    for name, content in sorted(_beside(path.resolve().parent, tree).items()):
        digest.update(sha256(name.encode()).digest() + sha256(content).digest())
    return digest.digest()


def _measuring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that can reach a row, in their order."""
    later = [one for one in body if _name(one) not in (None, _MEASURE)]
    chosen = [one for one in body if one not in later and not _is_text(one)]
    joining = chosen
    while joining:
        mentioned = {name for one in joining for name in _mentions(one)}
        if mentioned & _READS_ANY_NAME:
            return body
        joining = [one for one in later if _name(one) in mentioned]
        later = [one for one in later if one not in joining]
        chosen = chosen + joining
    return [one for one in body if one in chosen]


def _name(statement: ast.stmt) -> str | None:
    """Return the name of a statement that does nothing but give a meaning to it: a function, STUDY or CLAIMS."""
    if isinstance(statement, ast.FunctionDef) and not statement.decorator_list:
        return statement.name
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) and target.id in _NOT_MEASURED else None
    return None


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _mentions(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)) | ast.alias(name=name):
                yield name


def _beside(folder: Path, tree: ast.Module) -> dict[str, bytes]:
    """Return name and content of the modules in `folder` that `tree` imports, and of those that they do."""
    found: dict[Path, bytes] = {}
    todo = [(folder, tree)]
    while todo:
        where, importing = todo.pop()
        for file in _files({folder, where}, importing):
            if file in found:
                continue
            found[file] = file.read_bytes()
            try:
                todo.append((file.parent, ast.parse(found[file])))
            except (SyntaxError, ValueError):  # what cannot be read imports nothing
                continue
    return {file.relative_to(folder).as_posix(): content for file, content in found.items()}


def _files(folders: Iterable[Path], tree: ast.Module) -> Iterator[Path]:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [".".join(filter(None, (node.module, one.name))) for one in node.names]
        for folder in folders:
            for name in names:
                parts = name.split(".")
                for depth in range(1, len(parts) + 1):
                    place = folder.joinpath(*parts[:depth])
                    yield from filter(Path.is_file, (place.with_suffix(".py"), place / "__init__.py"))
