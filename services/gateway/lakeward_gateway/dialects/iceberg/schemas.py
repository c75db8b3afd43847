"""Schemas of the Iceberg documents that pass through to the catalog unread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_STRINGS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": {"type": "string"}}
_OBJECTS: Final[Mapping[str, Any]] = {"type": "array", "items": {"type": "object"}}
_IDENTIFIER: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {"namespace": {"type": "array", "items": {"type": "string"}}, "name": {"type": "string"}},
}
_FIELDS: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "name", "type", "required"],
        "properties": {
            "id": {"type": "integer"},
            "name": {"type": "string"},
            "type": {"description": "A primitive type's name, or a struct, list or map."},
            "required": {"type": "boolean"},
            "doc": {"type": "string"},
        },
    },
}
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["type", "fields"],
    "properties": {
        "type": {"type": "string", "enum": ["struct"]},
        "fields": _FIELDS,
        "schema-id": {"type": "integer"},
        "identifier-field-ids": {"type": "array", "items": {"type": "integer"}},
    },
}
_ID: Final[Mapping[str, Any]] = {"type": "integer"}
_IDS: Final[Mapping[str, Any]] = {"type": "array", "items": {"type": "integer"}}
_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_OBJECT: Final[Mapping[str, Any]] = {"type": "object"}


def _tagged(tag: str, words: Sequence[str], members: Mapping[str, Any]) -> Mapping[str, Any]:
    """A list of objects, each of the kind that its tag says; which members a kind has, Iceberg's own document tells."""
    properties = {tag: {"type": "string", "enum": list(words)}, **members}
    return {"type": "array", "items": {"type": "object", "required": [tag], "properties": properties}}


_TABLE_UPDATES: Final = _tagged(
    "action",
    (
        "assign-uuid",
        "upgrade-format-version",
        "add-schema",
        "set-current-schema",
        "add-spec",
        "set-default-spec",
        "add-sort-order",
        "set-default-sort-order",
        "add-snapshot",
        "set-snapshot-ref",
        "remove-snapshots",
        "remove-snapshot-ref",
        "set-location",
        "set-properties",
        "remove-properties",
        "set-statistics",
        "remove-statistics",
        "set-partition-statistics",
        "remove-partition-statistics",
        "remove-partition-specs",
        "remove-schemas",
        "add-encryption-key",
        "remove-encryption-key",
    ),
    {
        "uuid": _TEXT,
        "format-version": _ID,
        "schema": _SCHEMA,
        "schema-id": _ID,
        "spec": _OBJECT,
        "spec-id": _ID,
        "sort-order": _OBJECT,
        "sort-order-id": _ID,
        "snapshot": _OBJECT,
        "snapshot-id": _ID,
        "ref-name": _TEXT,
        "type": {"type": "string", "enum": ["branch", "tag"]},
        "snapshot-ids": _IDS,
        "location": _TEXT,
        "updates": _STRINGS,
        "removals": {"type": "array", "items": _TEXT},
        "statistics": _OBJECT,
        "partition-statistics": _OBJECT,
        "spec-ids": _IDS,
        "schema-ids": _IDS,
        "encryption-key": _OBJECT,
        "key-id": _TEXT,
    },
)
_TABLE_REQUIREMENTS: Final = _tagged(
    "type",
    (
        "assert-create",
        "assert-table-uuid",
        "assert-ref-snapshot-id",
        "assert-last-assigned-field-id",
        "assert-current-schema-id",
        "assert-last-assigned-partition-id",
        "assert-default-spec-id",
        "assert-default-sort-order-id",
    ),
    {
        "uuid": _TEXT,
        "ref": _TEXT,
        "snapshot-id": {"type": ["integer", "null"]},
        "last-assigned-field-id": _ID,
        "current-schema-id": _ID,
        "last-assigned-partition-id": _ID,
        "default-spec-id": _ID,
        "default-sort-order-id": _ID,
    },
)
_VIEW_UPDATES: Final = _tagged(
    "action",
    (
        "assign-uuid",
        "upgrade-format-version",
        "add-schema",
        "set-location",
        "set-properties",
        "remove-properties",
        "add-view-version",
        "set-current-view-version",
    ),
    {
        "uuid": _TEXT,
        "format-version": _ID,
        "schema": _SCHEMA,
        "location": _TEXT,
        "updates": _STRINGS,
        "removals": {"type": "array", "items": _TEXT},
        "view-version": _OBJECT,
        "view-version-id": _ID,
    },
)
_VIEW_REQUIREMENTS: Final = _tagged("type", ("assert-view-uuid",), {"uuid": _TEXT})

CREATE_TABLE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["name", "schema"],
    "properties": {
        "name": {"type": "string"},
        "location": {"type": "string"},
        "schema": _SCHEMA,
        "partition-spec": {"type": "object", "required": ["fields"], "properties": {"fields": _OBJECTS}},
        "write-order": {
            "type": "object",
            "required": ["order-id", "fields"],
            "properties": {"order-id": {"type": "integer"}, "fields": _OBJECTS},
        },
        "stage-create": {"type": "boolean"},
        "properties": _STRINGS,
    },
}
COMMIT_TABLE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["requirements", "updates"],
    "properties": {"identifier": _IDENTIFIER, "requirements": _TABLE_REQUIREMENTS, "updates": _TABLE_UPDATES},
}
COMMIT_TRANSACTION: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["table-changes"],
    "properties": {
        "table-changes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["identifier", "requirements", "updates"],
                "properties": {
                    "identifier": _IDENTIFIER,
                    "requirements": _TABLE_REQUIREMENTS,
                    "updates": _TABLE_UPDATES,
                },
            },
        }
    },
}
CREATE_VIEW: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["name", "schema", "view-version", "properties"],
    "properties": {
        "name": {"type": "string"},
        "location": {"type": "string"},
        "schema": _SCHEMA,
        "view-version": {
            "type": "object",
            "required": ["version-id", "timestamp-ms", "schema-id", "summary", "representations", "default-namespace"],
            "properties": {
                "version-id": {"type": "integer"},
                "timestamp-ms": {"type": "integer"},
                "schema-id": {"type": "integer"},
                "summary": _STRINGS,
                "representations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["type", "sql", "dialect"],
                        "properties": {
                            "type": {"type": "string", "enum": ["sql"]},
                            "sql": {"type": "string"},
                            "dialect": {"type": "string"},
                        },
                    },
                },
                "default-catalog": {"type": "string"},
                "default-namespace": {"type": "array", "items": {"type": "string"}},
            },
        },
        "properties": _STRINGS,
    },
}
COMMIT_VIEW: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["updates"],
    "properties": {"identifier": _IDENTIFIER, "requirements": _VIEW_REQUIREMENTS, "updates": _VIEW_UPDATES},
}
REPORT_METRICS: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["report-type"],
    "properties": {"report-type": {"type": "string", "enum": ["scan-report", "commit-report"]}},
}
LOADED_TABLE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["metadata"],
    "properties": {
        "metadata-location": {"type": ["string", "null"]},
        "metadata": {"type": "object"},
        "config": _STRINGS,
        "storage-credentials": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["prefix", "config"],
                "properties": {"prefix": {"type": "string"}, "config": _STRINGS},
            },
        },
    },
}
LOADED_VIEW: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["metadata-location", "metadata"],
    "properties": {
        "metadata-location": {"type": "string"},
        "metadata": {"type": "object"},
        "config": _STRINGS,
    },
}
COMMITTED_TABLE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["metadata-location", "metadata"],
    "properties": {"metadata-location": {"type": "string"}, "metadata": {"type": "object"}},
}
