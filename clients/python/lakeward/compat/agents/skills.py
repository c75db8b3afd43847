"""Skills that agents propose and somebody approves. Who may do what is what the tables' rights say, and nothing here.

Each proposer has a table of its own in the namespace `proposed`, which it may write and nobody else of its kind may read. Who
approves may read them all, and alone writes the tables `approved` and `rejected`, which agents read.
"""

from __future__ import annotations

import builtins
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.compat.agents.embedding import AgentsError
from lakeward.compat.agents.tables import VendedTable
from lakeward.compat.client import Client
from lakeward.compat.errors import NotFoundError
from lakeward.compat.formats import GenericTableFormat
from lakeward.compat.url import NamespaceLike

_FILE = "SKILL.md"
_FENCE = "---"
_UNSAFE = re.compile(r"[^A-Za-z0-9._~@-]")
_MARKDOWN = "text/markdown"


class SkillNotFound(AgentsError):  # noqa: N818 - as it was called there
    """There is no approved skill of that name, or none that the caller may read."""


@dataclass(frozen=True)
class ProposedSkill:
    """One version of a skill that somebody proposes.

    Attributes:
        proposer: who.
        name: of the skill.
        version: see `version_of`.
    """

    proposer: str
    name: str
    version: str


@dataclass(frozen=True)
class Skill:
    """A skill.

    Attributes:
        name: of it.
        body: the document, with what stands before it.
        version: see `version_of`.
        description: what it is for.
        proposer: who proposed it, where that is known.
    """

    name: str
    body: str
    version: str
    description: str | None = None
    proposer: str | None = None

    @property
    def frontmatter(self) -> dict[str, str]:
        """What stands before the document."""
        return parse_frontmatter(self.body)[0]


def path_safe(principal: str) -> str:
    """Somebody's id, as the name of a table or a part of a path."""
    return _UNSAFE.sub("_", principal) or "unknown"


def version_of(body: str) -> str:
    """Which text it is: twelve digits of its SHA-256."""
    return hashlib.sha256(body.encode()).hexdigest()[:12]


def parse_frontmatter(body: str) -> tuple[dict[str, str], str]:
    """The lines `key: value` between two fences before a document, and the document; {} and all of it where there are none."""
    first, *lines = body.splitlines() or [""]
    ends = [number for number, line in enumerate(lines) if line.strip() == _FENCE]
    if not first.startswith(_FENCE) or not ends:
        return {}, body
    told = {}
    for line in lines[: ends[0]]:
        key, colon, value = line.partition(":")
        if colon and not line.lstrip().startswith("#"):
            told[key.strip()] = value.strip().strip("\"'")
    return told, "\n".join(lines[ends[0] + 1 :]).lstrip("\n")


def format_frontmatter(name: str, description: str | None, body: str, *, proposer: str | None = None) -> str:
    """A document with who and what it is before it; one that has it already, as it is."""
    if body.startswith(_FENCE):
        return body
    told = {"name": name, "description": description, "proposed-by": proposer}
    lines = [f"{key}: {value}" for key, value in told.items() if value]
    return "\n".join((_FENCE, *lines, _FENCE, "", body.lstrip("\n")))


def skill_properties(skill: Skill) -> Mapping[str, str]:
    """What a table's properties may say of a skill."""
    told = {"skill-name": skill.name, "skill-version": skill.version, "skill-description": skill.description}
    return {key: value for key, value in told.items() if value}


class SkillStore:
    """Skills, as far as the caller may propose, read or approve them.

    Args:
        client: of the caller.
        namespace: where the tables are.
        proposed_namespace: where proposers' tables are; None: `proposed` in the namespace.
        proposed_table: the caller's; None: it is called as the proposer is.
        approved_table: of what was approved.
        rejected_table: of what was not.
        proposer: who proposes; None: whom the server takes the caller for.
    """

    def __init__(
        self,
        client: Client,
        namespace: NamespaceLike = "skills",
        *,
        proposed_namespace: NamespaceLike | None = None,
        proposed_table: str | None = None,
        approved_table: str = "approved",
        rejected_table: str = "rejected",
        proposer: str | None = None,
    ) -> None:
        within = [namespace] if isinstance(namespace, str) else [*namespace]
        self._client = client
        self._proposer = proposer
        self._proposed_namespace = proposed_namespace or (
            f"{namespace}.proposed" if isinstance(namespace, str) else [*within, "proposed"]
        )
        self._proposed_table = proposed_table
        self._queues: dict[str, VendedTable] = {}
        self._approved = VendedTable(client, namespace, approved_table)
        self._rejected = VendedTable(client, namespace, rejected_table)

    @property
    def proposer(self) -> str:
        """In whose name the caller proposes."""
        if self._proposer is None:
            told = self._client.whoami()
            self._proposer = str(told.get("id") or told.get("name") or "unknown")
        return self._proposer

    def ensure_tables(self) -> None:
        """Make the tables where there are none."""
        said = {
            self._queue(self.proposer): f"skills that {self.proposer} proposes",
            self._approved: "skills that were approved",
            self._rejected: "skills that were not approved, and why",
        }
        for table, doc in said.items():
            table.ensure(format=GenericTableFormat.DATASET, doc=doc)

    def propose(self, name: str, body: str, *, description: str | None = None) -> Skill:
        """Propose a skill; the same text twice is one proposal.

        Raises:
            AgentsError: the name is none that a path can have.
        """
        if not name or "/" in name or name in {".", ".."}:
            raise AgentsError(f"{name!r} is no name of a skill: it is a part of a path")
        document = format_frontmatter(name, description, body, proposer=self.proposer)
        version = version_of(document)
        self._queue(self.proposer).objects().put(f"{name}/{version}.md", document.encode(), content_type=_MARKDOWN)
        return Skill(name, document, version, description, self.proposer)

    def load(self, name: str) -> Skill:
        """An approved skill.

        Raises:
            SkillNotFound: there is none, or none that the caller may read.
        """
        try:
            document = self._approved.read(f"{name}/{_FILE}")
        except NotFoundError as error:
            raise SkillNotFound(f"there is no approved skill {name!r} in {self._approved}") from error
        return _skill(name, document)

    def list(self) -> builtins.list[str]:
        """Names of approved skills."""
        found = (path.partition("/") for path in self._approved.objects().list())
        return sorted({name for name, _, rest in found if rest == _FILE})

    def load_all(self) -> builtins.list[Skill]:
        """Approved skills."""
        return [self.load(name) for name in self.list()]

    def list_proposed(self, *, name: str | None = None, proposer: str | None = None) -> builtins.list[ProposedSkill]:
        """What somebody proposes.

        Args:
            name: of a skill; None: all of them.
            proposer: who; None: the caller.
        """
        who = proposer or self.proposer
        paths = self._queue(who).objects().list(f"{name}/" if name else "")
        found = (_VERSION.fullmatch(path) for path in paths)
        return sorted(
            (ProposedSkill(who, each[1], each[2]) for each in found if each is not None),
            key=lambda each: (each.name, each.version),
        )

    def read_proposed(self, proposed: ProposedSkill) -> Skill:
        """What is proposed.

        Raises:
            NotFoundError: there is no such proposal, or none that the caller may read.
        """
        document = self._queue(proposed.proposer).read(f"{proposed.name}/{proposed.version}.md")
        return _skill(proposed.name, document, proposed.proposer)

    def approve(self, proposed: ProposedSkill) -> Skill:
        """Approve a proposal; what was approved before stays beside it. The store refuses who may not write there."""
        skill = self.read_proposed(proposed)
        files = self._approved.objects()
        for name in (f"{proposed.version}.md", _FILE):
            files.put(f"{skill.name}/{name}", skill.body.encode(), content_type=_MARKDOWN)
        return skill

    def reject(self, proposed: ProposedSkill, reason: str) -> Skill:
        """Say why a proposal is not approved, where its proposer reads it; the proposal stays."""
        skill = self.read_proposed(proposed)
        said = f"REJECTED by {self.proposer}\n\nReason: {reason}\n\n---\n\n{skill.body}"
        note = format_frontmatter(skill.name, skill.description, said, proposer=skill.proposer)
        path = f"{skill.name}/{proposed.version}.md"
        self._rejected.objects().put(path, note.encode(), content_type=_MARKDOWN)
        return skill

    def list_rejected(self) -> builtins.list[tuple[str, str]]:
        """Names and versions of what was not approved."""
        found = (_VERSION.fullmatch(path) for path in self._rejected.objects().list())
        return sorted((each[1], each[2]) for each in found if each is not None)

    def revoke(self, name: str) -> None:
        """Take a skill back; its versions stay, and it is not loaded any more."""
        self._approved.objects().delete(f"{name}/{_FILE}")

    def _queue(self, proposer: str) -> VendedTable:
        own = self._proposed_table
        name = own if own and proposer == self.proposer else path_safe(proposer)
        if name not in self._queues:
            self._queues[name] = VendedTable(self._client, self._proposed_namespace, name)
        return self._queues[name]


_VERSION = re.compile(r"([^/]+)/([^/]+)\.md")


def _skill(name: str, document: str, proposer: str | None = None) -> Skill:
    told = parse_frontmatter(document)[0]
    return Skill(
        told.get("name", name),
        document,
        version_of(document),
        told.get("description"),
        told.get("proposed-by", proposer),
    )
