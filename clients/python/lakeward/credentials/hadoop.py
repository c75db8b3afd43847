"""Hadoop's file systems, and Spark over them."""

from __future__ import annotations

from lakeward.credentials import AzureSas, Credentials, S3Keys
from lakeward.errors import ConfigurationError


def settings(credentials: Credentials) -> dict[str, str]:
    """Settings for the bucket or the account alone, so that others keep theirs.

    A Hadoop process keeps one file system a bucket: what is set after the first access to it has no effect, unless
    `fs.s3a.impl.disable.cache` is true.

    Raises:
        ConfigurationError: of Google's storage, whose connector takes tokens from a class on the cluster alone.
    """
    store = credentials.store
    if isinstance(store, S3Keys):
        return _s3a(store)
    if isinstance(store, AzureSas):
        host = f"{store.account}.{store.domain}"
        return {
            f"fs.azure.account.auth.type.{host}": "SAS",
            f"fs.azure.sas.fixed.token.{store.container}.{host}": store.sas_token,
            f"fs.azure.sas.fixed.token.{host}": store.sas_token,
        }
    raise ConfigurationError(
        f"{credentials.location}: the connector for Google's storage takes tokens from a class on the cluster "
        f"(fs.gs.auth.type=ACCESS_TOKEN_PROVIDER), not from settings"
    )


def _s3a(store: S3Keys) -> dict[str, str]:
    told = {
        "aws.credentials.provider": "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"
        if store.session_token
        else "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        "access.key": store.access_key_id,
        "secret.key": store.secret_access_key,
        "session.token": store.session_token,
        "endpoint": store.endpoint,
        "endpoint.region": store.region,
        # What lies above the table is not ours to delete, and the store refuses it.
        "directory.marker.retention": "keep",
    }
    if store.path_style:
        told["path.style.access"] = "true"
    if (store.endpoint or "").startswith("http://"):
        told["connection.ssl.enabled"] = "false"
    if store.kms_key:
        told |= {"encryption.algorithm": "SSE-KMS", "encryption.key": store.kms_key}
    return {f"fs.s3a.bucket.{store.bucket}.{key}": value for key, value in told.items() if value}
