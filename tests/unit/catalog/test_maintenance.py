"""Which methods read-only maintenance lets through: those that change nothing, by whatever verb of HTTP they are reached."""

from __future__ import annotations

from google.protobuf import descriptor_pool

from lakeward_protocol.common.v1 import options_pb2
from tests.support.catalog.expectations import EXPECTED

READS_THAT_ARE_POSTS = {"SignS3Request", "ReportMetrics"}


def rule_of(path: str) -> options_pb2.MethodRule:
    _, service, method = path.split("/")
    found = descriptor_pool.Default().FindServiceByName(service).methods_by_name[method]
    rule: options_pb2.MethodRule = found.GetOptions().Extensions[options_pb2.rule]
    return rule


def test_what_changes_nothing_is_served_during_maintenance_though_it_is_sent_as_a_post() -> None:
    served = {path.rpartition("/")[2] for path in EXPECTED if not rule_of(path).mutation}
    assert served >= READS_THAT_ARE_POSTS
    assert not {
        name for name in served if name.startswith(("Create", "Commit", "Drop", "Rename", "Register", "Update"))
    }


def test_only_what_changes_something_needs_a_key_to_be_repeated() -> None:
    keyed = {path for path in EXPECTED if rule_of(path).repeat == options_pb2.REPEAT_KEYED}
    assert {path for path in keyed if not rule_of(path).mutation} == set()
