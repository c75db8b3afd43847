from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import duration_pb2, timestamp_pb2

from lakeward_protocol.catalog.v1 import (
    generic_tables_pb2,
    namespaces_pb2,
    server_pb2,
    tables_pb2,
    tabulars_pb2,
    types_pb2,
    views_pb2,
    warehouses_pb2,
)
from lakeward_protocol.errors.v1 import failure_pb2
from lakeward_protocol.vending.v1 import vending_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import WAREHOUSE, World, error_of

WAREHOUSES = "/management/v1/warehouse"
ONE = f"{WAREHOUSES}/{WAREHOUSE}"
OTHER = "0198e000-0000-7000-8000-000000000009"
PROFILE = b'{"type":"s3","bucket":"b","sts-enabled":true}'
CREDENTIAL = {"type": "s3", "credential-type": "access-key", "aws-secret-access-key": "hush"}
STORED = warehouses_pb2.Warehouse(
    warehouse_id=WAREHOUSE,
    project_id="p",
    name="demo",
    status=warehouses_pb2.WAREHOUSE_STATUS_ACTIVE,
    storage_profile=PROFILE,
    credential_kind="s3:access-key",
    delete_profile=warehouses_pb2.DeleteProfile(restorable_for=duration_pb2.Duration(seconds=60)),
    allowed_format_versions=[1, 2],
    default_format_version=2,
    updated_at=timestamp_pb2.Timestamp(seconds=1_767_225_600, nanos=5_000_000),
)
SHOWN: dict[str, Any] = {
    "id": WAREHOUSE,
    "warehouse-id": WAREHOUSE,
    "name": "demo",
    "project-id": "p",
    "storage-profile": {"type": "s3", "bucket": "b", "sts-enabled": True},
    "storage-credential-type": {"type": "s3", "credential-type": "access-key"},
    "delete-profile": {"type": "soft", "expiration-seconds": 60},
    "status": "active",
    "protected": False,
    "allowed-format-versions": [1, 2],
    "default-format-version": 2,
    "managed-by": "self-managed",
    "updated-at": "2026-01-01T00:00:00.005000Z",
}


async def test_the_server_says_what_it_is(served: World) -> None:
    served.catalog.answers["GetServerInfo"] = server_pb2.GetServerInfoResponse(
        version="0.1.0", bootstrapped=True, server_id="id", authz_backend="allow-all", queues=["tabular_purge"]
    )
    document = (await served.client.get("/management/v1/info")).json()
    assert document["version"] == document["lakekeeper-version"] == "0.1.0"
    assert document["bootstrapped"] is True
    assert document["default-project-id"] is None
    assert document["queues"] == ["tabular_purge"]
    assert document["license-status"]["license-type"] == "Apache-2.0"
    assert document["license-status"]["valid"] is True


async def test_bootstrap_answers_204(served: World) -> None:
    served.catalog.answers["Bootstrap"] = server_pb2.BootstrapResponse()
    response = await served.client.post(
        "/management/v1/bootstrap", json={"accept-terms-of-use": True, "is-operator": True, "user-type": "human"}
    )
    assert (response.status_code, response.content) == (204, b"")
    assert served.asked.accept_terms_of_use
    assert served.asked.is_operator


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("/management/v1/project", "header"),
        ("/management/v1/default-project", "header"),
        ("/management/v1/project/named", "named"),
    ],
)
async def test_the_project_is_found_by_header_or_path(served: World, path: str, project: str) -> None:
    served.catalog.answers["GetProject"] = server_pb2.GetProjectResponse(project_id="p", name="Default Project")
    response = await served.client.get(path, headers={"x-project-id": "header"})
    assert response.json() == {"project-id": "p", "project-name": "Default Project"}
    assert served.asked.context.project_id == project


async def test_projects_are_listed_by_id_and_name(served: World) -> None:
    served.catalog.answers["ListProjects"] = server_pb2.ListProjectsResponse(
        projects=[server_pb2.Project(project_id="p", name="one"), server_pb2.Project(project_id="q", name="two")]
    )
    response = await served.client.get("/management/v1/project-list")
    assert (response.status_code, response.json()) == (
        200,
        {"projects": [{"project-id": "p", "project-name": "one"}, {"project-id": "q", "project-name": "two"}]},
    )


@pytest.mark.parametrize("project_id", [None, "", "team-a"])
async def test_a_project_is_made_with_the_id_that_is_given(served: World, project_id: str | None) -> None:
    served.catalog.answers["CreateProject"] = server_pb2.CreateProjectResponse(
        project=server_pb2.Project(project_id="made", name="one")
    )
    response = await served.client.post(
        "/management/v1/project",
        json={"project-name": "one", "project-id": project_id},
        headers={"idempotency-key": "01a1fe21-0000-7000-8000-000000000001"},
    )
    assert (response.status_code, response.json()) == (201, {"project-id": "made"})
    asked = served.asked
    assert (asked.name, asked.project_id, asked.HasField("project_id")) == (
        "one",
        project_id or "",
        project_id is not None,
    )
    assert asked.context.idempotency_key == "01a1fe21-0000-7000-8000-000000000001"


@pytest.mark.parametrize(
    ("path", "project"),
    [("/management/v1/project/rename", "header"), ("/management/v1/project/named/rename", "named")],
)
async def test_a_project_is_renamed_by_header_or_path_with_nothing_to_say(
    served: World, path: str, project: str
) -> None:
    served.catalog.answers["RenameProject"] = server_pb2.RenameProjectResponse()
    response = await served.client.post(path, json={"new-name": "new"}, headers={"x-project-id": "header"})
    assert (response.status_code, response.content) == (200, b"")
    assert (served.asked.context.project_id, served.asked.name) == (project, "new")


@pytest.mark.parametrize(
    ("path", "project"),
    [("/management/v1/project", "header"), ("/management/v1/project/named", "named")],
)
async def test_a_project_is_deleted_by_header_or_path(served: World, path: str, project: str) -> None:
    served.catalog.answers["DeleteProject"] = server_pb2.DeleteProjectResponse()
    response = await served.client.delete(path, headers={"x-project-id": "header"})
    assert (response.status_code, response.content) == (204, b"")
    assert served.asked.context.project_id == project


async def test_a_warehouse_is_made_with_a_credential_that_only_vending_sees(served: World) -> None:
    served.vending.answers["StageCredential"] = vending_pb2.StageCredentialResponse(secret_id="secret-1")
    served.catalog.answers["CreateWarehouse"] = warehouses_pb2.CreateWarehouseResponse(warehouse=STORED)
    response = await served.client.post(
        WAREHOUSES,
        json={
            "warehouse-name": "demo",
            "project-id": "p",
            "storage-profile": {"type": "s3"},
            "storage-credential": CREDENTIAL,
            "delete-profile": {"type": "soft", "expiration-seconds": 60},
            "allowed-format-versions": [1, 2],
            "default-format-version": 2,
        },
    )
    assert (response.status_code, response.json()) == (201, SHOWN)
    (staged,) = served.vending.asked
    assert json.loads(staged.credential) == CREDENTIAL
    assert staged.context.project_id == "p"
    asked = served.asked
    assert asked.secret_id == "secret-1"
    assert b"hush" not in asked.SerializeToString()
    assert asked.delete_profile.restorable_for.seconds == 60
    assert list(asked.allowed_format_versions) == [1, 2]
    assert asked.context.project_id == "p"


@pytest.mark.parametrize("credential", [{}, {"storage-credential": None}])
async def test_a_warehouse_without_a_credential_stages_none(served: World, credential: dict[str, None]) -> None:
    served.catalog.answers["CreateWarehouse"] = warehouses_pb2.CreateWarehouseResponse(warehouse=STORED)
    document = {"warehouse-name": "demo", "storage-profile": {"type": "s3"}, **credential}
    assert (await served.client.post(WAREHOUSES, json=document)).status_code == 201
    assert not served.vending.asked
    assert served.asked.secret_id == ""
    assert not served.asked.HasField("delete_profile")


async def test_a_credential_that_is_refused_makes_no_warehouse(served: World) -> None:
    served.vending.answers["StageCredential"] = Refusal(
        Reason.REASON_INVALID_STORAGE_PROFILE, "bad", field="credential-type", value="x"
    )
    document = {"warehouse-name": "demo", "storage-profile": {}, "storage-credential": CREDENTIAL}
    response = await served.client.post(WAREHOUSES, json=document)
    assert response.status_code == 400
    assert "hush" not in response.text
    assert not served.catalog.asked


@pytest.mark.parametrize(
    "change",
    [
        {"delete-profile": {"type": "soft", "expiration-seconds": -1}},
        {"delete-profile": {"type": "soft", "expiration-seconds": 315_360_001}},
        {"delete-profile": {"type": "firm"}},
        {"allowed-format-versions": []},
        {"allowed-format-versions": ["2"]},
        {"default-format-version": 2**40},
        {"managed-by": "nobody"},
        {"warehouse-name": None},
    ],
)
async def test_a_warehouse_of_the_wrong_shape_is_refused(served: World, change: dict[str, Any]) -> None:
    document = {"warehouse-name": "demo", "storage-profile": {}, **change}
    response = await served.client.post(WAREHOUSES, json=document)
    assert error_of(response)["code"] == 400
    assert not served.catalog.asked


@pytest.mark.parametrize("seconds", [-1, 315_360_001, 10**30, 1.5])
async def test_a_retention_beyond_ten_years_or_below_nothing_is_refused(served: World, seconds: float) -> None:
    profile = {"type": "soft", "expiration-seconds": seconds}
    document = {"warehouse-name": "demo", "storage-profile": {"type": "s3"}, "delete-profile": profile}
    response = await served.client.post(WAREHOUSES, json=document)
    assert error_of(response)["code"] == 400
    assert not served.catalog.asked


@pytest.mark.parametrize(
    ("query", "statuses"),
    [("", []), ("?warehouseStatus=inactive", [2]), ("?warehouseStatus=active&warehouseStatus=inactive", [1, 2])],
)
async def test_warehouses_are_listed_by_status(served: World, query: str, statuses: list[int]) -> None:
    served.catalog.answers["ListWarehouses"] = warehouses_pb2.ListWarehousesResponse(warehouses=[STORED])
    response = await served.client.get(WAREHOUSES + query)
    assert response.json() == {"warehouses": [SHOWN]}
    assert list(served.asked.statuses) == statuses


async def test_warehouses_come_all_at_once_unless_a_page_is_asked_for(served: World) -> None:
    served.catalog.answers["ListWarehouses"] = warehouses_pb2.ListWarehousesResponse(next_page_token="more")
    response = await served.client.get(f"{WAREHOUSES}?pageSize=5&pageToken=t")
    assert response.json() == {"warehouses": [], "next-page-token": "more"}
    assert (served.asked.page.size, served.asked.page.token) == (5, "t")
    served.catalog.asked.clear()
    served.catalog.answers["ListWarehouses"] = warehouses_pb2.ListWarehousesResponse()
    assert (await served.client.get(WAREHOUSES)).json() == {"warehouses": []}
    assert not served.asked.HasField("page")


async def test_the_older_query_names_the_project_of_a_listing(served: World) -> None:
    served.catalog.answers["ListWarehouses"] = warehouses_pb2.ListWarehousesResponse()
    await served.client.get(f"{WAREHOUSES}?projectId=q", headers={"x-project-id": "p"})
    assert served.asked.context.project_id == "q"
    assert (await served.client.get(f"{WAREHOUSES}?warehouseStatus=asleep")).status_code == 400


async def test_one_warehouse_is_shown_with_what_it_lacks_as_null(served: World) -> None:
    bare = warehouses_pb2.Warehouse(
        warehouse_id=WAREHOUSE, storage_profile=b"{}", status=warehouses_pb2.WAREHOUSE_STATUS_INACTIVE
    )
    served.catalog.answers["GetWarehouse"] = warehouses_pb2.GetWarehouseResponse(warehouse=bare)
    document = (await served.client.get(ONE)).json()
    assert document["storage-credential-type"] is None
    assert document["updated-at"] is None
    assert document["delete-profile"] == {"type": "hard"}
    assert document["status"] == "inactive"


async def test_a_warehouse_is_renamed(served: World) -> None:
    served.catalog.answers["RenameWarehouse"] = warehouses_pb2.RenameWarehouseResponse(warehouse=STORED)
    response = await served.client.post(f"{ONE}/rename", json={"new-name": "other"})
    assert (response.status_code, response.json()) == (200, SHOWN)
    assert served.asked.name == "other"


async def test_a_warehouse_is_switched_on_and_off_with_empty_replies(served: World) -> None:
    served.catalog.answers |= {
        "ActivateWarehouse": warehouses_pb2.ActivateWarehouseResponse(),
        "DeactivateWarehouse": warehouses_pb2.DeactivateWarehouseResponse(),
    }
    for verb in ("activate", "deactivate"):
        response = await served.client.post(f"{ONE}/{verb}")
        assert (response.status_code, response.content) == (200, b"")


@pytest.mark.parametrize("protected", [True, False])
async def test_a_warehouse_is_protected_or_no_longer(served: World, protected: bool) -> None:
    now = warehouses_pb2.Warehouse(protected=protected, updated_at=STORED.updated_at)
    served.catalog.answers["SetWarehouseProtection"] = warehouses_pb2.SetWarehouseProtectionResponse(warehouse=now)
    response = await served.client.post(f"{ONE}/protection", json={"protected": protected})
    assert response.status_code == 200
    assert response.json() == {"protected": protected, "updated_at": "2026-01-01T00:00:00.005000Z"}
    assert (served.asked.warehouse_id, served.asked.protected) == (WAREHOUSE, protected)


@pytest.mark.parametrize("protected", [True, False])
@pytest.mark.parametrize(
    ("noun", "field", "replies"),
    [
        (
            "namespace",
            "namespace_id",
            (namespaces_pb2.GetNamespaceProtectionResponse, namespaces_pb2.SetNamespaceProtectionResponse),
        ),
        ("table", "tabular_id", (tables_pb2.GetTableProtectionResponse, tables_pb2.SetTableProtectionResponse)),
        ("view", "tabular_id", (views_pb2.GetViewProtectionResponse, views_pb2.SetViewProtectionResponse)),
        (
            "generic-table",
            "tabular_id",
            (
                generic_tables_pb2.GetGenericTableProtectionResponse,
                generic_tables_pb2.SetGenericTableProtectionResponse,
            ),
        ),
    ],
)
async def test_protection_is_read_and_set_by_the_id_of_what_is_in_a_warehouse(
    served: World, noun: str, field: str, replies: tuple[type[Any], type[Any]], protected: bool
) -> None:
    read, set_ = (reply(protected=protected) for reply in replies)
    called = noun.title().replace("-", "")
    served.catalog.answers |= {f"Get{called}Protection": read, f"Set{called}Protection": set_}
    path = f"{ONE}/{noun}/0198e000-0000-7000-8000-000000000002/protection"
    for response in (
        await served.client.get(path),
        await served.client.post(path, json={"protected": protected}),
    ):
        assert (response.status_code, response.json()) == (200, {"protected": protected, "updated_at": None})
    asked = served.catalog.asked
    assert [each.warehouse_id for each in asked] == [WAREHOUSE, WAREHOUSE]
    assert {getattr(each, field) for each in asked} == {"0198e000-0000-7000-8000-000000000002"}
    assert asked[1].protected is protected


@pytest.mark.parametrize("document", [{}, {"protected": None}, {"protected": "yes"}, [], "true"])
async def test_protection_of_the_wrong_shape_is_refused(served: World, document: Any) -> None:
    for path in ("protection", f"table/{WAREHOUSE}/protection"):
        assert (await served.client.post(f"{ONE}/{path}", json=document)).status_code == 400
    assert not served.catalog.asked


@pytest.mark.parametrize(("query", "force"), [("", False), ("?force=true", True)])
async def test_a_warehouse_is_deleted(served: World, query: str, force: bool) -> None:
    served.catalog.answers["DeleteWarehouse"] = warehouses_pb2.DeleteWarehouseResponse()
    assert (await served.client.delete(ONE + query)).status_code == 204
    assert served.asked.force is force


@pytest.mark.parametrize(
    ("credential", "field"),
    [
        ({}, None),
        ({"storage-credential": None}, "without_credential"),
        ({"storage-credential": CREDENTIAL}, "secret_id"),
    ],
)
async def test_storage_is_replaced_and_a_credential_lost_only_where_that_is_said(
    served: World, credential: dict[str, Any], field: str | None
) -> None:
    served.vending.answers["StageCredential"] = vending_pb2.StageCredentialResponse(secret_id="secret-2")
    served.catalog.answers["UpdateStorage"] = warehouses_pb2.UpdateStorageResponse(warehouse=STORED)
    response = await served.client.post(f"{ONE}/storage", json={"storage-profile": {"type": "s3"}, **credential})
    assert response.json() == SHOWN
    assert served.asked.WhichOneof("credential") == field
    assert [staged.warehouse_id for staged in served.vending.asked] == ([WAREHOUSE] if field == "secret_id" else [])


@pytest.mark.parametrize(("document", "secret"), [({"new-storage-credential": CREDENTIAL}, "secret-3"), ({}, "")])
async def test_a_credential_is_replaced_or_removed(served: World, document: dict[str, Any], secret: str) -> None:
    served.vending.answers["StageCredential"] = vending_pb2.StageCredentialResponse(secret_id="secret-3")
    served.catalog.answers["UpdateStorageCredential"] = warehouses_pb2.UpdateStorageCredentialResponse(warehouse=STORED)
    response = await served.client.post(f"{ONE}/storage-credential", json=document)
    assert response.json() == SHOWN
    assert served.asked.secret_id == secret


@pytest.mark.parametrize(("parent", "shown"), [(OTHER, OTHER), ("", None)])
async def test_a_namespace_is_moved_to_a_path(served: World, parent: str, shown: str | None) -> None:
    served.catalog.answers["MoveNamespace"] = namespaces_pb2.MoveNamespaceResponse(
        ident=types_pb2.NamespaceIdent(parts=["a", "B"]), namespace_id=OTHER, parent_id=parent
    )
    for force in (True, False):
        served.catalog.asked.clear()
        document = {"destination": ["a", "b"], **({"force": True} if force else {})}
        response = await served.client.post(f"{ONE}/namespace/{OTHER}/move", json=document)
        assert response.json() == {"namespace": ["a", "B"], "namespace-id": OTHER, "parent-namespace-id": shown}
        asked = served.asked
        assert (asked.warehouse_id, asked.namespace_id, asked.force) == (WAREHOUSE, OTHER, force)
        assert list(asked.destination.parts) == ["a", "b"]


@pytest.mark.parametrize("document", [{}, {"destination": "a"}, {"destination": ["a"], "forced": True}])
async def test_a_move_of_another_shape_is_refused(served: World, document: dict[str, Any]) -> None:
    assert error_of(await served.client.post(f"{ONE}/namespace/{OTHER}/move", json=document))["code"] == 400
    assert not served.catalog.asked


@pytest.mark.parametrize(("namespace", "kind"), [("", "NamespaceEmpty"), ("a.", "NamespacePartEmpty")])
async def test_a_move_to_nowhere_has_its_own_word(served: World, namespace: str, kind: str) -> None:
    reason = Reason.REASON_NAMESPACE_PART_EMPTY
    served.catalog.answers["MoveNamespace"] = Refusal(reason, "it is empty", namespace=namespace)
    error = error_of(await served.client.post(f"{ONE}/namespace/{OTHER}/move", json={"destination": []}))
    assert (error["code"], error["type"]) == (400, kind)


async def test_what_was_dropped_is_listed_a_hundred_at_a_time_unless_another_size_is_asked_for(served: World) -> None:
    entry = tabulars_pb2.DeletedTabular(
        tabular=tabulars_pb2.TabularRef(kind=tabulars_pb2.TABULAR_KIND_VIEW, tabular_id=OTHER),
        ident=types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=["a", "b"]), name="v"),
        created_at=timestamp_pb2.Timestamp(seconds=1),
        deleted_at=timestamp_pb2.Timestamp(seconds=2),
        expires_at=timestamp_pb2.Timestamp(seconds=3, nanos=5_000_000),
    )
    served.catalog.answers["ListDeletedTabulars"] = tabulars_pb2.ListDeletedTabularsResponse(
        tabulars=[entry], next_page_token="more"
    )
    response = await served.client.get(f"{ONE}/deleted-tabulars")
    assert response.json() == {
        "tabulars": [
            {
                "id": OTHER,
                "name": "v",
                "namespace": ["a", "b"],
                "typ": "view",
                "warehouse-id": WAREHOUSE,
                "created-at": "1970-01-01T00:00:01Z",
                "deleted-at": "1970-01-01T00:00:02Z",
                "expiration-date": "1970-01-01T00:00:03.005000Z",
            }
        ],
        "next-page-token": "more",
    }
    asked = served.asked
    assert (asked.warehouse_id, asked.namespace_id) == (WAREHOUSE, "")
    assert (asked.page.HasField("size"), asked.page.HasField("token"), asked.page.token) == (False, True, "")


async def test_a_listing_of_what_was_dropped_is_narrowed_and_goes_on(served: World) -> None:
    served.catalog.answers["ListDeletedTabulars"] = tabulars_pb2.ListDeletedTabularsResponse()
    response = await served.client.get(f"{ONE}/deleted-tabulars?namespaceId={OTHER}&pageSize=7&pageToken=more")
    assert response.json() == {"tabulars": [], "next-page-token": None}
    asked = served.asked
    assert (asked.namespace_id, asked.page.size, asked.page.token) == (OTHER, 7, "more")


async def test_what_was_dropped_is_restored_by_kind_and_id(served: World) -> None:
    served.catalog.answers["UndropTabulars"] = tabulars_pb2.UndropTabularsResponse()
    targets = [{"type": "table", "id": OTHER}, {"type": "view", "id": WAREHOUSE}]
    response = await served.client.post(f"{ONE}/deleted-tabulars/undrop", json={"targets": targets})
    assert (response.status_code, response.content) == (204, b"")
    assert [(each.kind, each.tabular_id) for each in served.asked.tabulars] == [(1, OTHER), (2, WAREHOUSE)]


@pytest.mark.parametrize(
    "document", [{}, {"targets": [{"type": "namespace", "id": OTHER}]}, {"targets": [{"id": OTHER}]}]
)
async def test_a_restoration_of_the_wrong_shape_is_refused(served: World, document: dict[str, Any]) -> None:
    assert (await served.client.post(f"{ONE}/deleted-tabulars/undrop", json=document)).status_code == 400
    assert not served.catalog.asked


@pytest.mark.parametrize(
    ("profile", "asked"),
    [
        ({"type": "hard"}, warehouses_pb2.DeleteProfile()),
        ({"type": "soft"}, warehouses_pb2.DeleteProfile(restorable=True)),
        (
            {"type": "soft", "expiration-seconds": 60},
            warehouses_pb2.DeleteProfile(restorable_for=duration_pb2.Duration(seconds=60)),
        ),
    ],
)
async def test_what_becomes_of_what_is_dropped_is_set(served: World, profile: dict[str, Any], asked: Any) -> None:
    served.catalog.answers["SetDeleteProfile"] = warehouses_pb2.SetDeleteProfileResponse(warehouse=STORED)
    response = await served.client.post(f"{ONE}/delete-profile", json={"delete-profile": profile})
    assert (response.status_code, response.json()) == (200, SHOWN)
    assert (served.asked.warehouse_id, served.asked.HasField("delete_profile")) == (WAREHOUSE, True)
    assert served.asked.delete_profile == asked


async def test_the_format_versions_of_a_warehouse_are_set(served: World) -> None:
    served.catalog.answers["SetFormatVersionPolicy"] = warehouses_pb2.SetFormatVersionPolicyResponse(warehouse=STORED)
    document = {"allowed-format-versions": [1, 3], "default-format-version": 3}
    response = await served.client.post(f"{ONE}/format-version-policy", json=document)
    assert (response.status_code, response.json()) == (200, SHOWN)
    assert (list(served.asked.allowed_format_versions), served.asked.default_format_version) == ([1, 3], 3)


@pytest.mark.parametrize("word", ["self-managed", "instance-admin"])
async def test_who_manages_a_warehouse_is_set_and_shown(served: World, word: str) -> None:
    value = {"self-managed": 1, "instance-admin": 2}[word]
    now = warehouses_pb2.Warehouse(managed_by=value)  # type: ignore[arg-type]  # one of its values
    served.catalog.answers["SetManagedBy"] = warehouses_pb2.SetManagedByResponse(warehouse=now)
    response = await served.client.post(f"{ONE}/managed-by", json={"managed-by": word})
    assert (response.status_code, response.json()["managed-by"]) == (200, word)
    assert served.asked.managed_by == value


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("delete-profile", {}),
        ("delete-profile", {"delete-profile": {"type": "firm"}}),
        ("delete-profile", {"delete-profile": {"type": "soft", "expiration-seconds": -1}}),
        ("format-version-policy", {}),
        ("format-version-policy", {"allowed-format-versions": ["2"]}),
        ("managed-by", {"managed-by": "me"}),
    ],
)
async def test_a_setting_of_the_wrong_shape_is_refused(served: World, path: str, document: dict[str, Any]) -> None:
    assert (await served.client.post(f"{ONE}/{path}", json=document)).status_code == 400
    assert not served.catalog.asked


CHECKS = [
    warehouses_pb2.WarehouseCheck(
        name="profile-well-formed",
        status=warehouses_pb2.CHECK_STATUS_PASSED,
        duration=duration_pb2.Duration(nanos=12_000_000),
    ),
    warehouses_pb2.WarehouseCheck(
        name="warehouse-name-valid",
        status=warehouses_pb2.CHECK_STATUS_FAILED,
        failure=failure_pb2.Failure(
            reason=Reason.REASON_WAREHOUSE_EXISTS, message="taken", metadata={"warehouse": "demo"}
        ),
    ),
    warehouses_pb2.WarehouseCheck(name="cleanup", status=warehouses_pb2.CHECK_STATUS_SKIPPED, reason="no store"),
]
CHECKED: dict[str, Any] = {
    "valid": False,
    "checks": [
        {"name": "profile-well-formed", "status": "passed", "duration-ms": 12, "error": None, "reason": None},
        {
            "name": "warehouse-name-valid",
            "status": "failed",
            "duration-ms": None,
            "error": {"message": "taken", "type": "WarehouseAlreadyExists", "code": 409},
            "reason": None,
        },
        {"name": "cleanup", "status": "skipped", "duration-ms": None, "error": None, "reason": "no store"},
    ],
}


async def test_a_warehouse_is_checked_before_it_is_made_and_a_failed_check_is_an_answer(served: World) -> None:
    served.vending.answers["StageCredential"] = vending_pb2.StageCredentialResponse(secret_id="secret-1")
    served.catalog.answers["ValidateWarehouse"] = warehouses_pb2.ValidateWarehouseResponse(checks=CHECKS)
    document = {"warehouse-name": "demo", "storage-profile": {"type": "s3"}, "storage-credential": CREDENTIAL}
    response = await served.client.post("/management/v1/warehouse-creation-validation", json=document)
    assert (response.status_code, response.json()) == (200, CHECKED)
    asked = served.asked.warehouse
    assert (asked.name, json.loads(asked.storage_profile), asked.secret_id) == ("demo", {"type": "s3"}, "secret-1")


@pytest.mark.parametrize(
    ("what", "document"),
    [
        ("access", None),
        ("profile", {"storage-profile": {"type": "s3"}, "storage-credential": None}),
        ("credential", {"new-storage-credential": CREDENTIAL}),
    ],
)
async def test_a_warehouse_s_storage_is_checked_as_it_is_or_would_be(
    served: World, what: str, document: dict[str, Any] | None
) -> None:
    served.vending.answers["StageCredential"] = vending_pb2.StageCredentialResponse(secret_id="secret-1")
    passed = warehouses_pb2.ValidateWarehouseStorageResponse(checks=CHECKS[:1])
    served.catalog.answers["ValidateWarehouseStorage"] = passed
    response = await served.client.post(f"{ONE}/storage/validate-{what}", json=document)
    assert response.json() == {"valid": True, "checks": CHECKED["checks"][:1]}
    asked = served.asked
    instead = {"access": None, "profile": "storage", "credential": "credential"}[what]
    assert (asked.warehouse_id, asked.WhichOneof("instead")) == (WAREHOUSE, instead)
    assert asked.storage.without_credential is (what == "profile")
    assert asked.credential.secret_id == ("secret-1" if what == "credential" else "")


async def test_a_search_shows_matches_with_their_distance_and_ids_without(served: World) -> None:
    ref = tabulars_pb2.TabularRef(kind=tabulars_pb2.TABULAR_KIND_TABLE, tabular_id=OTHER)
    path = types_pb2.TabularIdent(namespace=types_pb2.NamespaceIdent(parts=["a"]), name="t")
    served.catalog.answers["SearchTabulars"] = tabulars_pb2.SearchTabularsResponse(
        matches=[
            tabulars_pb2.TabularMatch(tabular=ref, ident=path, distance=0.25),
            tabulars_pb2.TabularMatch(tabular=ref, ident=path),
        ]
    )
    response = await served.client.post(f"{ONE}/search-tabular", json={"search": "t"})
    shown = {"namespace-name": ["a"], "tabular-name": "t", "tabular-id": {"type": "table", "id": OTHER}}
    assert response.json() == {"tabulars": [{**shown, "distance": 0.25}, {**shown, "distance": None}]}
    assert (served.asked.warehouse_id, served.asked.search) == (WAREHOUSE, "t")
    assert (await served.client.post(f"{ONE}/search-tabular", json={})).status_code == 400


async def test_statistics_are_shown_by_the_hour_s_end_and_page_by_page(served: World) -> None:
    hour = warehouses_pb2.WarehouseHour(
        ended_at=timestamp_pb2.Timestamp(seconds=7_200),
        tables=3,
        views=2,
        generic_tables=1,
        counted_at=timestamp_pb2.Timestamp(seconds=3_601),
    )
    served.catalog.answers["GetWarehouseStatistics"] = warehouses_pb2.GetWarehouseStatisticsResponse(
        hours=[hour], next_page_token="more"
    )
    response = await served.client.get(f"{ONE}/statistics?page_size=5&page_token=t")
    assert response.json() == {
        "warehouse-ident": WAREHOUSE,
        "stats": [
            {
                "timestamp": "1970-01-01T02:00:00Z",
                "number-of-tables": 3,
                "number-of-views": 2,
                "number-of-generic-tables": 1,
                "updated-at": "1970-01-01T01:00:01Z",
            }
        ],
        "next-page-token": "more",
    }
    assert (served.asked.page.size, served.asked.page.token) == (5, "t")
