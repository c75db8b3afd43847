"""Finding what somebody named, and what it and they may do with each other.

To whom nothing at all is allowed on an object is told what is told of one that is not there. Somebody may be allowed to give a
right on a thing that it does not see otherwise, so any right is sight enough here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from lakeward_authz.application.permissions import Named, ObjectNames, RightsReader, subject_of, token_roles_of
from lakeward_authz.domain.bindings import NONE, Bindings
from lakeward_authz.domain.permissions.lakeward import CONTROLS, MODEL
from lakeward_authz.domain.permissions.objects import ObjectKey, Subject, role_id_of
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
        bindings: which identity providers are a project's own, so that their users hold nothing elsewhere.
    """

    names: ObjectNames
    rights: RightsReader
    administrators: Collection[str] = frozenset()
    bindings: Bindings = NONE

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
            Refusal: NO_SUCH_…, by the type, also of a role that it is about; FORBIDDEN.
        """
        key = (await self.names.find([named]))[0]
        own = subject_of(caller)
        if subject is not None and subject != own:
            admit(named, await self._held(key, own, caller), [READS_GRANTS])
            await self._check_known(subject, [key])
            found = await self._held(key, subject)
            admit(named, found, ())
        else:
            found = await self._held(key, own, caller)
            if powers and key is not None and self._passes(caller, key):
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
            Refusal: FORBIDDEN, about another on one that the caller sees and whose grants it may not read; NO_SUCH_ROLE, about a
                role that is in the project of none of those that the caller sees.
        """
        places: dict[Named, int] = {}
        for each in named:
            places.setdefault(each, len(places))
        known = [*places]
        keys = await self.names.find(known)
        own = subject_of(caller)
        held = await self._all(keys, own, caller)
        if subject is None or subject == own:
            if self.passes(caller):
                held = [
                    found if key is None or not self._passes(caller, key) else found | CONTROLS[each.type]
                    for each, key, found in zip(known, keys, held, strict=True)
                ]
        else:
            shown = [key if there(each, found) else None for each, key, found in zip(known, keys, held, strict=True)]
            for each, key, found in zip(known, shown, held, strict=True):
                if key is not None:
                    admit(each, found, [READS_GRANTS])
            await self._check_known(subject, shown)
            held = await self._all(shown, subject)
        return held if len(places) == len(named) else [held[places[each]] for each in named]

    async def _held(self, key: ObjectKey | None, subject: Subject, caller: Principal | None = None) -> frozenset[str]:
        asked = _NOTHING if key is None or not self._admits(key, subject, caller) else key
        also = () if caller is None else await token_roles_of(caller, self.rights, [asked.project_id])
        held = (await self.rights.of(subject, [asked], also=also)).held[0]
        return frozenset() if held is None else MODEL.types[asked.type].names(held)

    async def _all(
        self, keys: Sequence[ObjectKey | None], subject: Subject, caller: Principal | None = None
    ) -> Sequence[frozenset[str]]:
        wanted = [
            (place, key) for place, key in enumerate(keys) if key is not None and self._admits(key, subject, caller)
        ]
        asked = [key for _, key in wanted] or [_NOTHING]
        also = () if caller is None else await token_roles_of(caller, self.rights, {key.project_id for key in asked})
        rights = (await self.rights.of(subject, asked, also=also)).held
        held: list[frozenset[str]] = [frozenset()] * len(keys)
        for (place, key), mask in zip(wanted, rights, strict=False):
            if mask is not None:
                held[place] = MODEL.types[key.type].names(mask)
        return held

    def _admits(self, key: ObjectKey, subject: Subject, caller: Principal | None) -> bool:
        if caller is None:
            return self.bindings.admit_subject(subject, key.project_id)
        return self.bindings.admit(caller, key.project_id)

    def _passes(self, caller: Principal, key: ObjectKey) -> bool:
        return self.passes(caller) and self.bindings.admit(caller, key.project_id)

    async def _check_known(self, subject: Subject, shown: Iterable[ObjectKey | None]) -> None:
        """Return where a role can hold something on what the caller was shown: it has to be of its project.

        Of a role that is another project's is said what is said of one that is not there, and nothing of either before the
        caller may ask about others.

        Raises:
            Refusal: NO_SUCH_ROLE.
        """
        role_id = role_id_of(subject)
        keys = [key for key in shown if key is not None]
        if role_id is None or not keys:
            return
        named = Named("role", id=role_id)
        (role,) = await self.names.find([named])
        if role is None or not any(key.type == "server" or key.project_id == role.project_id for key in keys):
            raise absent(named)

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


# Asked about in place of what is not there: how long an answer takes is not to say that there was nothing to ask about.
_NOTHING: Final = ObjectKey("warehouse")
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
