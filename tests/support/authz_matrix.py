"""Every action on every object of upstream's fixture, for each subject named there: listed is allowed, not listed is not.

Source: the decision matrix of the reference, which holds the assertions of upstream's model tests (model 4.9).
"""

from __future__ import annotations

from tests.support.authz_worlds import World

SUBJECTS = {
    "OP": [("operator", "server")],
    "AD": [("admin", "server")],
    "PA": [("project_admin", "project_1")],
    "SA": [("security_admin", "project_1")],
    "DA": [("data_admin", "project_1")],
    "TC": [("tag_creator", "project_1")],
    "W1": [("ownership", "warehouse 1")],
    "W2": [("ownership", "warehouse 2")],
    "N11": [("ownership", "ns_1_1")],
    "N21": [("ownership", "ns_2_1")],
    "N22": [("ownership", "ns_2_2")],
    "T22": [("ownership", "table_2_2")],
    "GA": [("manage_grants", "ns_2_1")],
    "MA": [("manage_grants", "ns_2_1"), ("ownership", "ns_2_1")],
    "RM": [("assignee", "R")],
    "RO": [("ownership", "R")],
    "S3": [("assignee", "reads table_3")],
    "SG": [("assignee", "reads generic_1")],
    "TO": [("ownership", "pii")],
    "TA": [("apply", "pii")],
    "ST": [("manage_tags", "table_1")],
}
SEES_PROJECT = "OP AD PA SA DA W1 N11 S3 SG W2 N21 MA N22 T22 RM RO"
GRANTS = ("create", "describe", "modify", "select", "pass_grants", "manage_grants", "manage_tags")

# An object, actions on it, and who may.
ABOVE_WAREHOUSES = [
    (
        "server",
        (
            "create_project list_all_projects list_users provision_users update_users delete_users read_assignments "
            "grant_admin grant_operator"
        ),
        "OP AD",
    ),
    (
        "project_1",
        "get_metadata get_task_queue_config include_in_list list_roles search_roles list_tags list_warehouses",
        SEES_PROJECT,
    ),
    ("project_1", "get_project_tasks", "OP AD PA SA DA"),
    ("project_1", "get_endpoint_statistics", "OP PA SA DA"),
    ("project_1", "create_warehouse", "OP PA DA"),
    ("project_1", "create_role", "OP PA SA"),
    ("project_1", "create_tag", "OP PA SA TC"),
    ("project_1", "delete rename modify_task_queue_config", "OP PA"),
    ("project_1", "control_project_tasks grant_project_admin", "OP AD PA"),
    (
        "project_1",
        (
            "grant_role_creator grant_tag_creator grant_create grant_describe grant_modify grant_select "
            "grant_security_admin grant_data_admin read_assignments"
        ),
        "OP AD PA SA",
    ),
    ("pii", "read", f"{SEES_PROJECT} TO TA"),
    ("pii", "apply", "OP PA SA TO TA"),
    ("pii", "update delete grant_apply change_ownership read_assignments read_attachments", "OP PA SA TO"),
    ("R", "assume", "RM RO"),
    ("R", "grant_assignee change_ownership delete update update_source_system", "RO"),
    ("R", "read read_assignments", ""),
]
_GRANT = (
    " ".join(f"grant_{privilege}" for privilege in GRANTS) + " change_ownership set_managed_access read_assignments"
)
CLASSES = {
    "warehouse": {
        "move": "accept_moved_namespace",
        "write": "create_namespace delete rename activate deactivate update_storage update_storage_credential "
        "modify_soft_deletion set_protection set_format_version_policy control_all_tasks modify_task_queue_config",
        "describe": "list_everything get_all_tasks get_endpoint_statistics",
        "see": "get_metadata get_config use include_in_list list_namespaces list_deleted_tabulars get_task_queue_config",
        "grant": _GRANT,
        "tag": "manage_tags",
    },
    "namespace": {
        "move": "move accept_moved_namespace",
        "write": "create_table create_view create_generic_table create_namespace delete update_properties set_protection",
        "describe": "list_everything",
        "see": "get_metadata include_in_list list_tables list_views list_generic_tables list_namespaces",
        "grant": _GRANT,
        "tag": "manage_tags",
    },
    "table": {
        "write": "drop undrop rename set_protection control_tasks commit write_data",
        "read": "read_data",
        "describe": "get_metadata include_in_list get_tasks",
        "grant": _GRANT.replace("grant_create ", "").replace("set_managed_access ", ""),
        "tag": "manage_tags",
    },
}
CLASSES["view"] = {
    **CLASSES["table"],
    "write": "drop undrop rename set_protection control_tasks commit",
    "read": "select",
}
CLASSES["generic_table"] = {
    **CLASSES["table"],
    "write": "drop undrop rename set_protection control_tasks write_data",
}
# Who is allowed beside OP and PA: move | write | read | describe | see | grant | tag
BELOW_PROJECTS = """
warehouse 1 | W1 | DA W1 | | SA DA W1 | SA DA W1 N11 S3 SG | SA W1 | SA
ns_1 | W1 | DA W1 | | SA DA W1 | SA DA W1 | SA W1 | SA
ns_1_1 | W1 N11 | DA W1 N11 | | SA DA W1 N11 | SA DA W1 N11 S3 SG | SA W1 N11 | SA
ns_1_2 | W1 N11 | DA W1 N11 | | SA DA W1 N11 | SA DA W1 N11 S3 SG | SA W1 N11 | SA
table_1 | | DA W1 | DA W1 | SA DA W1 | | SA W1 | SA ST
table_3 | | DA W1 N11 | DA W1 N11 S3 | SA DA W1 N11 S3 | | SA W1 N11 | SA
view_1 | | DA W1 N11 | DA W1 N11 | SA DA W1 N11 | | SA W1 N11 | SA
generic_1 | | DA W1 N11 | DA W1 N11 SG | SA DA W1 N11 SG | | SA W1 N11 | SA
warehouse 2 | W2 | DA W2 | | SA DA W2 | SA DA W2 N21 MA N22 T22 RM RO | SA W2 | SA
ns_2_1 | W2 MA | DA W2 N21 MA RM RO | | SA DA W2 N21 MA RM RO | SA DA W2 N21 MA N22 T22 RM RO | SA W2 GA MA | SA
ns_2_2 | W2 MA | DA W2 N21 MA N22 RM RO | | SA DA W2 N21 MA N22 RM RO | SA DA W2 N21 MA N22 T22 RM RO | SA W2 GA MA | SA
table_2_2 | | DA W2 N21 MA N22 T22 RM RO | DA W2 N21 MA N22 T22 RM RO | SA DA W2 N21 MA N22 T22 RM RO | | SA W2 GA MA | SA
generic_2_2 | | DA W2 N21 MA N22 RM RO | DA W2 N21 MA N22 RM RO | SA DA W2 N21 MA N22 RM RO | | SA W2 GA MA | SA
""".strip()


def fixture() -> World:
    """Upstream's fixture. Its roles hang from no project: they are put into one of their own, where nobody has a right."""
    world = World()
    world.add("project", "project_1", "server")
    world.add("project", "of the roles", "server")
    world.add("warehouse", "warehouse 1", "project_1")
    world.add("warehouse", "warehouse 2", "project_1", managed=True)
    for name, above in [
        ("ns_1", "warehouse 1"),
        ("ns_1_1", "warehouse 1"),
        ("ns_1_2", "ns_1_1"),
        ("ns_2_1", "warehouse 2"),
        ("ns_2_2", "ns_2_1"),
    ]:
        world.add("namespace", name, above)
    for type_name, name, above in [
        ("table", "table_1", "ns_1"),
        ("table", "table_3", "ns_1_2"),
        ("view", "view_1", "ns_1_2"),
        ("generic_table", "generic_1", "ns_1_2"),
        ("table", "table_2_2", "ns_2_2"),
        ("generic_table", "generic_2_2", "ns_2_2"),
        ("tag", "pii", "project_1"),
    ]:
        world.add(type_name, name, above)
    for role in ("R", "reads table_3", "reads generic_1"):
        world.add("role", role, "of the roles")
    world.give("role:R", "ownership", "ns_2_1")
    world.give("role:reads table_3", "select", "table_3")
    world.give("role:reads generic_1", "select", "generic_1")
    for subject, given in SUBJECTS.items():
        for relation, name in given:
            world.give(f"user:{subject}", relation, name)
    return world


def expected() -> dict[str, dict[str, set[str]]]:
    """Who is allowed what: object, action, subjects."""
    matrix: dict[str, dict[str, set[str]]] = {}
    for name, actions, allowed in ABOVE_WAREHOUSES:
        for action in actions.split():
            matrix.setdefault(name, {})[f"can_{action}"] = set(allowed.split())
    world = fixture()
    for line in BELOW_PROJECTS.splitlines():
        name, *cells = (cell.strip() for cell in line.split("|"))
        classes = CLASSES[world.nodes[name].key.type]
        for column, cell in zip(("move", "write", "read", "describe", "see", "grant", "tag"), cells, strict=True):
            for action in classes.get(column, "").split():
                matrix.setdefault(name, {})[f"can_{action}"] = {"OP", "PA", *cell.split()}
    # roles of the fixture hang from a project here, and so who runs the server may as well
    for action in (
        "can_grant_assignee",
        "can_change_ownership",
        "can_delete",
        "can_update",
        "can_update_source_system",
    ):
        matrix["R"][action] |= {"OP"}
    for action in ("can_read", "can_read_assignments"):
        matrix["R"][action] |= {"OP", "AD"}
    return matrix


MATRIX = expected()
