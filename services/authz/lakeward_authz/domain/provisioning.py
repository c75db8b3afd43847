"""People and groups that an identity provider sends, and what can be asked about them."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from lakeward_authz.domain.profiles import Profile, UserKind, checked_email, checked_name, incomplete
from lakeward_authz.domain.user_ids import user_id_of
from lakeward_servicekit.errors import Reason, Refusal, invalid_field

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from lakeward_servicekit.authorization.principals import UserId

MOST_DOCUMENT_BYTES: Final = 64 * 1024
MOST_CONDITIONS: Final = 50
DEEPEST: Final = 10
_LONGEST_VALUE: Final = 1024


class MatchedBy(enum.StrEnum):
    """What of a person says which subject it is at the identity provider; the values are SCIM's words."""

    EXTERNAL_ID = "externalId"
    USER_NAME = "userName"


@dataclasses.dataclass(frozen=True, slots=True)
class ProvisionedProfile:
    """What a provider sends of a person.

    Attributes:
        user_name: unique, whatever the case.
        external_id: what the provider calls the person; None: nothing.
        display_name: None: the user name is shown.
        active: whether it may use its rights.
        document: a JSON object, all that was sent.
    """

    user_name: str
    external_id: str | None
    display_name: str | None
    email: str | None
    active: bool
    document: bytes

    def checked(self) -> ProvisionedProfile:
        """Itself.

        Raises:
            Refusal: USER_INCOMPLETE, INVALID_FIELD.
        """
        if not self.user_name.strip():
            raise incomplete("userName", "empty", "it is empty; send one")
        checked_name(self.user_name)
        if len(self.document) > MOST_DOCUMENT_BYTES:
            raise invalid_field("document", f"{len(self.document)} bytes", f"at most {MOST_DOCUMENT_BYTES} bytes")
        self.profile()
        return self

    def profile(self) -> Profile:
        """As everybody sees the user."""
        shown = self.display_name if self.display_name and self.display_name.strip() else self.user_name
        return Profile(checked_name(shown.strip()), checked_email(self.email), UserKind.HUMAN)


@dataclasses.dataclass(frozen=True, slots=True)
class Matching:
    """Says which user a person is when it calls.

    Attributes:
        idp_id: the identity provider whose tokens it comes with.
        by: what of it is that provider's subject.
    """

    idp_id: str
    by: MatchedBy

    def user_id(self, profile: ProvisionedProfile) -> UserId:
        """The user.

        Raises:
            Refusal: INVALID_USER_ID; USER_INCOMPLETE where what names the user is missing.
        """
        subject = profile.external_id if self.by is MatchedBy.EXTERNAL_ID else profile.user_name
        if not subject:
            why = f"it is missing, and says which user of {self.idp_id!r} the person is; have the provider send it"
            raise incomplete(self.by.value, "missing", why)
        return user_id_of(self.idp_id, subject)


@dataclasses.dataclass(frozen=True, slots=True)
class Membership:
    """A group that a person is in.

    Attributes:
        direct: whether it is a member itself, and not only of groups in it.
    """

    group_id: UUID
    display: str
    direct: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ProvisionedUser:
    """A person.

    Attributes:
        id: ours, which the provider keeps.
        user_id: the user that it is.
        version: larger after each change.
        groups: of one project, by id; none as a store has the person.
    """

    id: UUID
    user_id: UserId
    profile: ProvisionedProfile
    created_at: datetime
    updated_at: datetime
    version: int = 1
    groups: tuple[Membership, ...] = ()


class Attribute(enum.Enum):
    """What can be asked about."""

    ID = enum.auto()
    EXTERNAL_ID = enum.auto()
    USER_NAME = enum.auto()
    DISPLAY_NAME = enum.auto()
    EMAIL = enum.auto()
    ACTIVE = enum.auto()
    CREATED_AT = enum.auto()
    UPDATED_AT = enum.auto()
    MEMBER = enum.auto()


class Comparison(enum.Enum):
    """How it is compared."""

    EQUAL = enum.auto()
    UNEQUAL = enum.auto()
    CONTAINS = enum.auto()
    STARTS = enum.auto()
    ENDS = enum.auto()
    GREATER = enum.auto()
    AT_LEAST = enum.auto()
    LESS = enum.auto()
    AT_MOST = enum.auto()
    PRESENT = enum.auto()


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """One comparison; times are compared as moments, and truth values as such."""

    attribute: Attribute
    comparison: Comparison
    value: str | bool | datetime = ""


@dataclasses.dataclass(frozen=True, slots=True)
class All:
    """Where all are true."""

    filters: tuple[Filter, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class AnyOf:
    """Where one is true."""

    filters: tuple[Filter, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Not:
    """Where it is not true."""

    filter: Filter


Filter: TypeAlias = Condition | All | AnyOf | Not

_BOTH: Final = frozenset(
    {Attribute.ID, Attribute.EXTERNAL_ID, Attribute.DISPLAY_NAME, Attribute.CREATED_AT, Attribute.UPDATED_AT}
)
OF_PEOPLE: Final = _BOTH | {Attribute.USER_NAME, Attribute.EMAIL, Attribute.ACTIVE}
OF_GROUPS: Final = _BOTH | {Attribute.MEMBER}
TIMES: Final = frozenset({Attribute.CREATED_AT, Attribute.UPDATED_AT})

_EQUALITY: Final = frozenset({Comparison.EQUAL, Comparison.UNEQUAL, Comparison.PRESENT})
_PARTS: Final = frozenset({Comparison.CONTAINS, Comparison.STARTS, Comparison.ENDS})


def check_filter(wanted: Filter, attributes: frozenset[Attribute]) -> None:
    """Whether it can be asked.

    Args:
        wanted: the filter.
        attributes: those that the entries have.

    Raises:
        Refusal: INVALID_FIELD.
    """
    for conditions, (depth, condition) in enumerate(_conditions(wanted, 1), 1):
        if depth > DEEPEST or conditions > MOST_CONDITIONS:
            expected = f"at most {MOST_CONDITIONS} conditions, nested at most {DEEPEST} deep"
            raise invalid_field("filter", f"{conditions} conditions, {depth} deep", expected)
        _check_condition(condition, attributes)


def _conditions(wanted: Filter, depth: int) -> Iterator[tuple[int, Condition]]:
    match wanted:
        case Condition():
            yield depth, wanted
        case Not(inner):
            yield from _conditions(inner, depth + 1)
        case All(inner) | AnyOf(inner):
            for each in inner:
                yield from _conditions(each, depth + 1)


def _check_condition(condition: Condition, attributes: frozenset[Attribute]) -> None:
    attribute, comparison = condition.attribute, condition.comparison
    if attribute not in attributes:
        right = ", ".join(sorted(each.name for each in attributes))
        raise invalid_field("filter", attribute.name, f"one of {right}")
    fits = comparison in _EQUALITY
    if attribute in TIMES:
        fits = comparison not in _PARTS
    elif attribute is Attribute.MEMBER:
        fits = comparison in {Comparison.EQUAL, Comparison.PRESENT}
    elif attribute is not Attribute.ACTIVE:
        fits = True
    if not fits:
        raise invalid_field("filter", f"{attribute.name} {comparison.name}", "a comparison that the attribute has")
    if isinstance(condition.value, str) and len(condition.value) > _LONGEST_VALUE:
        raise invalid_field("filter", f"{len(condition.value)} characters", f"values of at most {_LONGEST_VALUE}")


def not_provisioned(wanted: str) -> Refusal:
    """The refusal of a person that no provider sent."""
    shown = wanted[:64]
    message = f"there is no person {shown!r} that an identity provider sent; look for it by its user name"
    return Refusal(Reason.REASON_NOT_PROVISIONED, message, id=shown)


def provisioned_already(field: str, value: str) -> Refusal:
    """The refusal of a person that is there, by what it shares with the one that is."""
    return Refusal(
        Reason.REASON_PROVISIONED_ALREADY,
        f"a person with the {field} {value!r} was sent already; change that one, or delete it first",
        field=field,
        value=value,
    )


def changed_meanwhile(wanted: object, version: str) -> Refusal:
    """The refusal of a change of what changed since it was read."""
    return Refusal(
        Reason.REASON_PROVISIONED_CONCURRENTLY,
        f"{wanted} is not at version {version!r} any more; read it and try again",
        id=str(wanted),
        version=version,
    )


def id_fixed(by: MatchedBy) -> Refusal:
    """The refusal of a change that would make a person another user."""
    return Refusal(
        Reason.REASON_PROVISIONED_ID_FIXED,
        f"{by.value} says which user the person is, so it can't change; delete the person and send it anew",
        field=by.value,
    )


def member_unknown(member: str) -> Refusal:
    """The refusal of a member that is no person and no group of this project that a provider sent."""
    shown = member[:64]
    return Refusal(
        Reason.REASON_PROVISIONED_MEMBER_UNKNOWN,
        f"{shown!r} is neither a person nor a group here; send it first, and name it by the id that it was given",
        member=shown,
    )
