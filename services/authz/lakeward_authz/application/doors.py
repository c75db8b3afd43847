"""Finding what somebody named, and what it and they may do with each other.

To whom nothing at all is allowed on an object is told what is told of one that is not there. Somebody may be allowed to give a
right on a thing that it does not see otherwise, so any right is sight enough here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from lakeward_authz.application.permissions import Named, ObjectNames, RightsReader, subject_of, token_roles_of
from lakeward_authz.domain.permissions.lakeward import CONTROLS, MODEL
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind
from lakeward_servicekit.errors import Reason, ReasonValue, Refusal

ACTION: Final = "can_"
READS_GRANTS: Final = "can_read_assignments"


@dataclasses.dataclass(frozen=True, slots=True)
class Opened:
    """An object that is there for somebody.

    Attributes:
        held: every relation that they hold on it.
    """

    key: ObjectKey
    held: Collection[str]

    @property
    def allowed(self) -> frozenset[str]:
        """What they may do, in words such as "read_data"."""
        return frozenset(relation.removeprefix(ACTION) for relation in self.held if relation.startswith(ACTION))


@dataclasses.dataclass(frozen=True, slots=True)
class Doors:
    """Opens what somebody named.

    Attributes:
        administrators: user ids of those who do everything but reach data and give rights, without having been granted anything.
    """

    names: ObjectNames
    rights: RightsReader
    administrators: Collection[str] = frozenset()

    async def open(
        self, named: Named, *needs: str, caller: Principal, powers: bool = False, subject: Subject | None = None
    ) -> Opened:
        """An object that is there for the caller, with what it holds there.

        Args:
            named: which.
            needs: relations that the caller must hold.
            caller: who asks.
            powers: whether an administrator of the instance needs no grant for it.
            subject: whom it is about; None for the caller. About another the caller must be allowed to read grants, and it is
                there if it is for them.

        Raises:
            Refusal: NO_SUCH_…, by the type; FORBIDDEN.
        """
        key = (await self.names.find([named]))[0]
        own = subject_of(caller)
        if subject is not None and subject != own:
            admit(named, await self._held(key, own, caller), [READS_GRANTS])
            found = await self._held(key, subject)
            admit(named, found, ())
        else:
            found = await self._held(key, own, caller)
            if powers and key is not None and self.passes(caller):
                found = found | CONTROLS[named.type]
            admit(named, found, needs)
        assert key is not None
        return Opened(key, found)

    async def holdings(
        self, named: Sequence[Named], *, caller: Principal, subject: Subject | None = None
    ) -> Sequence[frozenset[str]]:
        """What somebody holds on each of many objects, by one question; nothing on what is not there.

        Args:
            named: which.
            caller: who asks.
            subject: whom it is about; None for the caller, who passes as an administrator of the instance does.

        Raises:
            Refusal: FORBIDDEN, about another on one that the caller sees and whose grants it may not read.
        """
        known = dict.fromkeys(named)
        keys = dict(zip(known, await self.names.find([*known]), strict=True))
        own = subject_of(caller)
        held = await self._all(keys, own, caller)
        if subject is None or subject == own:
            if self.passes(caller):
                held = {each: found | CONTROLS[each.type] if keys[each] else found for each, found in held.items()}
        else:
            shown = {each: key if there(each, held[each]) else None for each, key in keys.items()}
            for each, key in shown.items():
                if key is not None:
                    admit(each, held[each], [READS_GRANTS])
            held = await self._all(shown, subject)
        return [held[each] for each in named]

    async def _held(self, key: ObjectKey | None, subject: Subject, caller: Principal | None = None) -> frozenset[str]:
        if key is None:
            return frozenset()
        also = () if caller is None else await token_roles_of(caller, self.rights, [key.project_id])
        held = (await self.rights.of(subject, [key], also=also)).held[0]
        return frozenset() if held is None else MODEL.types[key.type].names(held)

    async def _all(
        self, keys: dict[Named, ObjectKey | None], subject: Subject, caller: Principal | None = None
    ) -> dict[Named, frozenset[str]]:
        wanted = [key for key in dict.fromkeys(keys.values()) if key is not None]
        projects = {key.project_id for key in wanted}
        also = () if caller is None else await token_roles_of(caller, self.rights, projects)
        rights = (await self.rights.of(subject, wanted, also=also)).held if wanted else ()
        held = {
            key: frozenset[str]() if mask is None else MODEL.types[key.type].names(mask)
            for key, mask in zip(wanted, rights, strict=True)
        }
        return {each: frozenset() if key is None else held[key] for each, key in keys.items()}

    def passes(self, caller: Principal) -> bool:
        """Whether the caller administers the instance, and does so as itself."""
        return caller.kind is PrincipalKind.USER and caller.user_id in self.administrators


def there(named: Named, held: Collection[str]) -> bool:
    """Whether an object is there for who holds this on it; the server is for everybody."""
    return named.type == "server" or any(relation.startswith(ACTION) for relation in held)


def admit(named: Named, held: Collection[str], needs: Collection[str]) -> None:
    """Return where who holds this on an object may do what is needed.

    Raises:
        Refusal: NO_SUCH_…, by the type; FORBIDDEN.
    """
    if not there(named, held):
        raise absent(named)
    if lacking := [relation for relation in needs if relation not in held]:
        raise forbidden(named.type, lacking)


def forbidden(type_name: str, lacking: Sequence[str]) -> Refusal:
    """The refusal of who may do something to an object, and not this."""
    words = [relation.removeprefix(ACTION) for relation in lacking]
    return Refusal(
        Reason.REASON_FORBIDDEN,
        f"you may not {', nor '.join(word.replace('_', ' ') for word in words)} on this {type_name.replace('_', ' ')}; ask who"
        " manages its grants",
        kind=type_name,
        action=words[0],
    )


def absent(named: Named) -> Refusal:
    """The refusal of an object that is not there, or on which the caller may do nothing."""
    own = named.project_id if named.type == "project" else str(named.warehouse_id if named.id is None else named.id)
    shown = named.called or own
    message = f"there is no {named.type.replace('_', ' ')} {shown!r} that you can see"
    reason, key = _ABSENT[named.type]
    return Refusal(reason, message, **{key: shown})


_ABSENT: Final[Mapping[str, tuple[ReasonValue, str]]] = {
    "project": (Reason.REASON_NO_SUCH_PROJECT, "project"),
    "warehouse": (Reason.REASON_NO_SUCH_WAREHOUSE, "warehouse"),
    "namespace": (Reason.REASON_NO_SUCH_NAMESPACE, "namespace"),
    "table": (Reason.REASON_NO_SUCH_TABLE, "table"),
    "view": (Reason.REASON_NO_SUCH_VIEW, "view"),
    "generic_table": (Reason.REASON_NO_SUCH_GENERIC_TABLE, "table"),
    "role": (Reason.REASON_NO_SUCH_ROLE, "role"),
    "tag": (Reason.REASON_NO_SUCH_TAG, "tag"),
}
