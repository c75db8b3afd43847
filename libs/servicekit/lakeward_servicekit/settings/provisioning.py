"""People and groups that identity providers send by SCIM."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Settings, setting

SCIM: Final = "scim"
"""The provider of roles that SCIM's clients send."""
_BOTH: Final = (Service.AUTHZ, Service.GATEWAY)


class ScimSettings(Settings, read_by={Service.AUTHZ}):
    """SCIM's clients, and whose users the people are that they send."""

    enabled: bool = setting(
        "SCIM__ENABLED",
        kinds.BOOLEAN,
        "false",
        "Whether SCIM 2.0 is served at /scim/v2, and roles of the provider `scim` are kept by its clients alone.",
        family=Family.OURS,
        services=_BOTH,
    )
    idp_id: str = setting(
        "SCIM__IDP_ID",
        kinds.matching(r"[a-z0-9-]+", "the id of an identity provider, as oidc"),
        "oidc",
        "The identity provider whose users the people are that are sent.",
        family=Family.OURS,
    )
    user_id: str = setting(
        "SCIM__USER_ID",
        kinds.word("externalId", "userName"),
        "externalId",
        "What of a person is its subject at that provider.",
        family=Family.OURS,
    )
