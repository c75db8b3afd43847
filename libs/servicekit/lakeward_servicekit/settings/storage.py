"""Whose credentials storage may be reached with, which vending holds to and the catalog tells clients."""

from __future__ import annotations

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service, Support
from lakeward_servicekit.settings.model import Settings, setting


class SystemIdentitySettings(Settings, read_by={Service.VENDING, Service.CATALOG}):
    """Whether storage may be reached as the vending process itself, by cloud."""

    aws_system_credentials: bool = setting(
        "ENABLE_AWS_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "false",
        "Whether warehouses may use the AWS identity of the vending process.",
    )
    azure_system_credentials: bool = setting(
        "ENABLE_AZURE_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "false",
        "Whether warehouses may use the Azure identity of the vending process.",
        support=Support.PLANNED,
    )
    gcp_system_credentials: bool = setting(
        "ENABLE_GCP_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "false",
        "Whether warehouses may use the Google identity of the vending process.",
        support=Support.PLANNED,
    )
