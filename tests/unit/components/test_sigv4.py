"""The signature against the example of AWS's own documentation."""

from __future__ import annotations

from datetime import UTC, datetime

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from lakeward_components.sigv4 import Key, signed


def test_a_listing_is_signed_as_the_documentation_does() -> None:
    # "GET Bucket (List Objects)" in "Signature Calculations for the Authorization Header", Amazon S3 API Reference.
    headers = signed(
        "GET",
        "http://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J",
        key=Key("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region="us-east-1",
        now=datetime(2013, 5, 24, tzinfo=UTC),
    )
    assert headers["authorization"].endswith(
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )


def test_a_bucket_is_signed_as_botocore_does() -> None:
    request = AWSRequest("PUT", "http://127.0.0.1:8333/a-bucket", headers={})
    S3SigV4Auth(Credentials("key", "secret"), "s3", "eu-west-1").add_auth(request)
    now = datetime.strptime(request.context["timestamp"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    headers = signed("PUT", request.url, key=Key("key", "secret"), region="eu-west-1", now=now)
    assert headers["authorization"] == request.headers["Authorization"]
