"""Projects with identity providers of their own: two real ones, and one of them with two applications."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakeward_authz.application.permissions import Grant
from lakeward_authz.domain.permissions.objects import ObjectKey, user_subject
from lakeward_components import oidc as nanoidp
from lakeward_components.oidc import OidcProvider
from lakeward_servicekit.authorization.principals import UserId
from tests.integration.authz.test_people import ADMINISTRATOR, People, serving
from tests.support.tokens import signed_by

pytestmark = pytest.mark.integration


@pytest.fixture
def empty(make_database: Callable[[], str]) -> str:
    return make_database()


async def status(people: People, token: str, path: str, project: str) -> int:
    reply = await people.call("nobody", "GET", path, project=project, authorization=f"Bearer {token}")
    return reply.status_code


async def test_a_token_of_one_project_s_application_is_nobody_s_in_another(
    empty: str, oidc: OidcProvider, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with nanoidp.running(tmp_path_factory.mktemp("second")) as second:
        further = {
            "LAKEKEEPER__OPENID_PROVIDERS__APP-P__URI": oidc.issuer,
            "LAKEKEEPER__OPENID_PROVIDERS__APP-P__AUDIENCE": "app-p",
            "LAKEWARD__OPENID_PROVIDERS__APP-P__PROJECTS": "p",
            "LAKEKEEPER__OPENID_PROVIDERS__APP-Q__URI": second.issuer,
            "LAKEKEEPER__OPENID_PROVIDERS__APP-Q__AUDIENCE": second.audience,
            "LAKEWARD__OPENID_PROVIDERS__APP-Q__PROJECTS": "q",
        }
        async with serving(empty, oidc, LAKEKEEPER__AUTHZ_BACKEND="builtin", **further) as people:
            of_p = signed_by(oidc, aud="app-p", sub="robot")
            of_q = signed_by(second, sub="robot")
            everybody_s = signed_by(oidc, sub="robot")
            # each was given everything everywhere
            for user in ("app-p~robot", "app-q~robot", "oidc~robot"):
                subject = user_subject(UserId(user))
                for key, relation in (
                    (ObjectKey("project", "p"), "project_admin"),
                    (ObjectKey("project", "q"), "project_admin"),
                    (ObjectKey("server"), "operator"),
                ):
                    assert await people.grants.change(key, writes=[Grant(subject, relation)], deletes=[])
            for token, own, other in ((of_p, "p", "q"), (of_q, "q", "p")):
                assert await status(people, token, "/role", own) == 200
                assert await status(people, token, "/role", other) == 404
                assert await status(people, token, "/permissions/project/assignments", own) == 200
                assert await status(people, token, "/permissions/project/assignments", other) == 404
                assert await status(people, token, "/user", own) == 403
                assert await status(people, token, "/permissions/server/assignments", own) == 403
                # a role of the other project is nobody's to act as
                role = await people.told(ADMINISTRATOR, "POST", "/role", {"name": f"of {other}"}, project=other)
                members = {"members": [{"type": "user", "id": f"app-{own}~robot"}]}
                await people.call("x", "POST", "/user", {}, authorization=f"Bearer {token}")
                await people.told(ADMINISTRATOR, "POST", f"/role/{role['id']}/members", members, project=other)
                acting = await people.call(
                    "x", "GET", "/role", project=other, authorization=f"Bearer {token}", x_assume_role=role["id"]
                )
                assert acting.status_code == 404
            assert await status(people, everybody_s, "/role", "p") == 200
            assert await status(people, everybody_s, "/role", "q") == 200
            assert await status(people, everybody_s, "/user", "q") == 200
