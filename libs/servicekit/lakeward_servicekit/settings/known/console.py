"""Names of the console; upstream reads them with the one prefix only."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service, Setting, Support


def _console(
    name: str, kind: kinds.Kind[object], default: str | None, about: str, support: Support = Support.PLANNED
) -> Setting:
    return Setting(
        f"UI__{name}",
        kind,
        default,
        about,
        family=Family.UPSTREAM_NEW,
        support=support,
        services=frozenset({Service.GATEWAY}),
    )


SETTINGS: Final = (
    _console("OPENID_PROVIDER_URI", kinds.HTTP_URL, None, "The issuer as browsers reach it; the server's if unset."),
    _console("OPENID_CLIENT_ID", kinds.TEXT, "lakekeeper", "The console's client id."),
    _console("OPENID_REDIRECT_PATH", kinds.TEXT, "/callback", "Where a login comes back to."),
    _console("OPENID_SCOPE", kinds.TEXT, "openid profile email", "Scopes a login asks for."),
    _console("OPENID_RESOURCE", kinds.TEXT, None, "Resource a login asks for."),
    _console("OPENID_POST_LOGOUT_REDIRECT_PATH", kinds.TEXT, "/logout", "Where a logout comes back to."),
    _console("OPENID_POST_LOGOUT_REDIRECT_URL", kinds.HTTP_URL, None, "The same as a whole URL."),
    _console("OPENID_POST_LOGOUT_REDIRECT_DISABLED", kinds.BOOLEAN, "false", "Whether a logout comes back at all."),
    _console(
        "OPENID_TOKEN_TYPE", kinds.word("access_token", "id_token"), "access_token", "Token the console calls with."
    ),
    _console("LAKEKEEPER_URL", kinds.HTTP_URL, None, "The server as browsers reach it; the base URI if unset."),
    _console("ENABLE_SURVEYS", kinds.BOOLEAN, "true", "Surveys by a third party; there are none here.", Support.GONE),
    _console("BRANDING", kinds.TEXT, None, "Colours and logos.", Support.COMMERCIAL),
)
