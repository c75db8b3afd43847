"""The refusal of metadata that can't be built or used."""

from __future__ import annotations

from lakeward_catalog.domain.iceberg.documents import Invalid
from lakeward_servicekit.errors import Reason, Refusal


def invalid_metadata(finding: Invalid) -> Refusal:
    """INVALID_METADATA, with the finding's path."""
    return Refusal(
        Reason.REASON_INVALID_METADATA,
        f"the metadata can't be used, at {finding.path or '$'}: {finding.message}",
        path=finding.path or "$",
    )
