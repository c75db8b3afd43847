"""OpenAPI documents, made from the operations themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from lakeward_gateway.errors import Rendering, Varying
from lakeward_gateway.operation import HeaderParameter, Operation, Schema

_PATH_PARAMETER: Final = re.compile(r"\{([^}]+)\}")
_REFERENCE: Final = "#/components/schemas/{name}"
_ERROR_NAME: Final = "IcebergErrorResponse"
_ERROR: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string", "description": "The word that clients match on."},
                "code": {"type": "integer", "minimum": 400, "maximum": 599},
                "stack": {"type": "array", "items": {"type": "string"}},
            },
        }
    },
}


def openapi_document(
    operations: Iterable[Operation],
    *,
    title: str,
    version: str,
    formats: Mapping[str, str] | None = None,
    headers: Sequence[HeaderParameter] = (),
) -> dict[str, Any]:
    """The document of an API.

    Args:
        operations: of the API; those that are not documented are left out.
        title: of the API.
        version: of this server.
        formats: formats of path parameters, by name.
        headers: that every operation heeds.
    """
    listed = [operation for operation in operations if operation.documented]
    components: dict[str, Any] = {_ERROR_NAME: _ERROR}
    paths: dict[str, dict[str, Any]] = {}
    for operation in listed:
        item = paths.setdefault(operation.path, {})
        item[operation.method.lower()] = _operation(operation, components, formats or {}, headers)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"bearer": []}, {}],
    }


def _operation(
    operation: Operation, components: dict[str, Any], formats: Mapping[str, str], headers: Sequence[HeaderParameter]
) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": _parameters(operation, formats, headers),
        "responses": _responses(operation, components),
    }
    if operation.deprecated:
        shown["deprecated"] = True
    if operation.body is not None:
        shown["requestBody"] = {
            "required": operation.body.required,
            "content": {
                "application/json": {"schema": _schema(operation.body.name, operation.body.schema, components)}
            },
        }
    return shown


def _parameters(
    operation: Operation, formats: Mapping[str, str], headers: Sequence[HeaderParameter]
) -> list[dict[str, Any]]:
    parameters: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1, **({"format": formats[name]} if name in formats else {})},
        }
        for name in _PATH_PARAMETER.findall(operation.path)
    ]
    for query in operation.query:
        shown = {"name": query.name, "in": "query", "description": query.description, "schema": query.schema}
        parameters.append({**shown, "deprecated": True} if query.deprecated else shown)
    parameters.extend(
        {"name": header.name, "in": "header", "description": header.description, "schema": header.schema}
        for header in (*operation.headers, *headers)
    )
    return parameters


def _responses(operation: Operation, components: dict[str, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, answer in operation.answers.items():
        shown: dict[str, Any] = {"description": answer.description}
        if answer.schema is not None:
            assert answer.name is not None, operation.id
            schema = _schema(answer.name, answer.schema, components)
            shown["content"] = {"application/json": {"schema": schema}}
        if answer.headers:
            shown["headers"] = {
                name: {"description": description, "schema": {"type": "string"}}
                for name, description in answer.headers.items()
            }
        if answer.links:
            shown["links"] = {
                link.operation_id: {"operationId": link.operation_id, "parameters": link.parameters}
                for link in answer.links
            }
        responses[str(status)] = shown
    refused = {"application/json": {"schema": {"$ref": _REFERENCE.format(name=_ERROR_NAME)}}}
    for status in statuses(operation):
        responses[str(status)] = {"description": "Refused.", "content": refused}
    return responses


def statuses(operation: Operation) -> Sequence[int]:
    """The statuses that refusals of an operation may have, ascending."""
    entries = operation.renderings.values()
    fixed = {entry.status for entry in entries if isinstance(entry, Rendering)}
    chosen = {status for entry in entries if isinstance(entry, Varying) for status in entry.statuses}
    return sorted({*fixed, *chosen, 408})


def _schema(name: str, schema: Schema, components: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema, Mapping):
        components[name] = schema
    else:
        assert schema.__name__ == name, f"{schema.__name__} is documented as {name}"
        _, found = msgspec.json.schema_components([schema], ref_template=_REFERENCE)
        components.update(found)
    return {"$ref": _REFERENCE.format(name=name)}
