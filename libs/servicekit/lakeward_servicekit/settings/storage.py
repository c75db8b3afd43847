"""What vending may do with storage: whose credentials, which addresses."""

from __future__ import annotations

import ipaddress

from lakeward_servicekit.settings.model import Settings, named

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class StorageSettings(Settings):
    """What vending may do with storage."""

    aws_system_credentials: bool = named("ENABLE_AWS_SYSTEM_CREDENTIALS")
    aws_direct_system_credentials: bool = named("S3_ENABLE_DIRECT_SYSTEM_CREDENTIALS")
    aws_external_id_required: bool = named("S3_REQUIRE_EXTERNAL_ID_FOR_SYSTEM_CREDENTIALS")
    azure_system_credentials: bool = named("ENABLE_AZURE_SYSTEM_CREDENTIALS")
    gcp_system_credentials: bool = named("ENABLE_GCP_SYSTEM_CREDENTIALS")
    skip_validation: bool = named("SKIP_STORAGE_VALIDATION")
    deny_addresses: tuple[Network, ...] = named("STORAGE_DENY_ADDRESSES")
    allow_addresses: tuple[Network, ...] = named("STORAGE_ALLOW_ADDRESSES")
    calls_per_store: int = named("STORAGE_CALLS_AT_ONCE")
    failures_until_a_store_is_left_alone: int = named("STORAGE_BREAKER_FAILURES")
