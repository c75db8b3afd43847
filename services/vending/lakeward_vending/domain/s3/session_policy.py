"""The policy that confines a vended S3 credential to one location."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.remembering import remembered
from lakeward_vending.domain.access import Access

if TYPE_CHECKING:
    from lakeward_locations import Location

_READ: Final = ("s3:GetObject", "s3:GetObjectVersion")
_WRITE: Final = ("s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")
_DELETE: Final = ("s3:DeleteObject",)
_ACTIONS: Final = {
    Access.READ: _READ,
    Access.READ_WRITE: _READ + _WRITE,
    Access.READ_WRITE_DELETE: _READ + _WRITE + _DELETE,
}
_PARTITIONS: Final = (
    ("cn-", "aws-cn"),
    ("us-gov-", "aws-us-gov"),
    ("us-isob-", "aws-iso-b"),
    ("us-isof-", "aws-iso-f"),
    ("eu-isoe-", "aws-iso-e"),
    ("us-iso-", "aws-iso"),
    ("eusc-", "aws-eusc"),
)
_ROLE: Final = re.compile(r"arn:(aws[a-z-]*):")
# Made once: `json.dumps` makes one for each document that is written in another way than its own.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
# No bucket's name and no partition holds it.
_INSIDE: Final = "<inside>"
_PATTERN_MARK: Final = re.compile(r"[*?]|\$(?=\{)")


def build(location: Location, *, access: Access, partition: str, kms_key: str | None) -> str:
    """A session policy for AssumeRole, as short as it can be: STS limits its packed size.

    Args:
        location: the directory that is opened; what lies below it, not a sibling that begins with its name.
        access: what may be done there.
        partition: "aws", "aws-cn" and so on; see `partition_of`.
        kms_key: the ARN of the bucket's key, or None.
    """
    inside = _ENCODER.encode(f"{escape(location.prefix)}*")[1:-1]
    statements = inside.join(_around(f"arn:{partition}:s3:::{location.bucket}", access))
    if kms_key is not None:
        # a reader needs no new data keys
        actions = ("kms:Decrypt",) if access is Access.READ else ("kms:Decrypt", "kms:GenerateDataKey")
        statements = f"{statements},{_ENCODER.encode(_allow('KmsAccess', actions, kms_key))}"
    return f'{{"Version":"2012-10-17","Statement":[{statements}]}}'


@remembered(entries=256, longest=512)
def _around(bucket: str, access: Access) -> tuple[str, ...]:
    """What a bucket's policies have in common: the JSON around each place where the pattern of a location stands."""
    statements = (
        _allow("TableAccess", _ACTIONS[access], f"{bucket}/{_INSIDE}"),
        _allow("ListBucketForFolder", ("s3:ListBucket",), bucket)
        | {"Condition": {"StringLike": {"s3:prefix": _INSIDE}}},
        _allow("GetBucketLocation", ("s3:GetBucketLocation",), bucket),
    )
    return tuple(",".join(map(_ENCODER.encode, statements)).split(_INSIDE))


def partition_of(*, role: str | None, region: str) -> str:
    """The ARN partition of a role, else of a region; "aws" where neither says."""
    named = _ROLE.match(role or "")
    if named is not None:
        return named[1]
    return next((partition for prefix, partition in _PARTITIONS if region.lower().startswith(prefix)), "aws")


def escape(key: str) -> str:
    """A key as the literal part of a policy's pattern, as AWS reads it. A "$" alone begins no variable, and stays as it is."""
    return _PATTERN_MARK.sub(lambda mark: f"${{{mark[0]}}}", key)


def _allow(sid: str, actions: tuple[str, ...], resource: str) -> dict[str, object]:
    return {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resource}
