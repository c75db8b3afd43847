"""Results: tables for people, JSON for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True)
class Output:
    """Where a command's results go.

    Attributes:
        as_json: for scripts.
        console: for people.
    """

    as_json: bool = False
    console: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=not sys.stdout.isatty()))

    def rows(self, found: Iterable[BaseModel | Mapping[str, Any]], columns: Mapping[str, str]) -> None:
        """A listing.

        Args:
            found: entries, whole; JSON has all that they hold.
            columns: for people: heading, and the entry's member.
        """
        documents = [_document(each) for each in found]
        if self.as_json:
            self.document(documents)
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in columns:
            table.add_column(heading, overflow="fold")
        for document in documents:
            table.add_row(*(Text(_cell(document.get(member))) for member in columns.values()))
        self.console.print(table)

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Rows that have no members, for people.

        Args:
            headings: (m,) texts; one may stand there twice.
            rows: (m,) values each.
        """
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(Text(plain(heading)), overflow="fold")
        for row in rows:
            table.add_row(*(Text(_cell(value)) for value in row))
        self.console.print(table)

    def lines(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """JSON documents, a line each, as they come: for scripts, of results that may be long."""
        for document in documents:
            self.document(document)

    def one(self, found: BaseModel | Mapping[str, Any]) -> None:
        """One thing, member by member."""
        document = _document(found)
        if self.as_json:
            self.document(document)
            return
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for member, value in document.items():
            table.add_row(Text(plain(member)), Text(_cell(value)))
        self.console.print(table)

    def names(self, found: Iterable[str]) -> None:
        """Names, a line each."""
        if self.as_json:
            self.document(list(found))
            return
        for name in found:
            self.console.print(Text(plain(name)))

    def done(self, sentence: str, **told: object) -> None:
        """Say that something was done.

        Args:
            sentence: for people.
            told: for scripts.
        """
        if self.as_json:
            self.document(told)
        else:
            self.console.print(Text(plain(sentence)))

    def document(self, document: object) -> None:
        """A JSON document on a line of its own."""
        sys.stdout.write(json.dumps(document, default=str) + "\n")
        sys.stdout.flush()


def plain(value: object) -> str:
    """A text that can't move a terminal's cursor: names are what strangers call their things."""
    return "".join(
        character if character.isprintable() or character == "\n" else character.encode("unicode_escape").decode()
        for character in str(value)
    )


def _document(found: BaseModel | Mapping[str, Any]) -> Mapping[str, Any]:
    return found.model_dump(mode="json", by_alias=True) if isinstance(found, BaseModel) else found


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value):
        return plain(".".join(value))
    return plain(json.dumps(value, default=str))
