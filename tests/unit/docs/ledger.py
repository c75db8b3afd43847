"""What became of each mark "Better" in the references about upstream: ids of the page, or why it is left for later.

A key is a reference and its section; its list has one entry for each mark, in the order of the text. The references lie beside
the checkout, where they are there at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final


@dataclasses.dataclass(frozen=True)
class Later:
    """A mark about something that is not built.

    Attributes:
        why: what it waits for.
        now: ids of what is built of it already.
    """

    why: str
    now: str = ""


Entry = str | Later
STATISTICS: Final = Later("there are no statistics yet")
GRANTS: Final = Later("roles and users have their own API, which is not served yet")
SOFT_DELETION: Final = Later(
    "whoever may write a table is vended credentials that delete its files, where drops can be restored too"
)
CANCELLING: Final = "cancelling-is-each-queues-own restoring-is-settled"
AZURE_AND_GCS: Final = Later("profiles of Azure and Google are judged; nothing is vended for them yet")
AUDIT: Final = Later("there is no audit log yet")

LEDGER: Final[Mapping[str, Sequence[Entry]]] = {
    "iceberg-rest 1": ["malformed-input-in-the-envelope unknown-update-kinds", "cors-headers", "no-token-endpoint"],
    "iceberg-rest 2": ["forwarded-headers-from-trusted-proxies"],
    "iceberg-rest 3": [
        "outages-are-503 conflicts-only-where-a-retry-can-win unknown-outcome-keeps-the-file unreadable-files-are-named"
    ],
    "iceberg-rest 4": ["plus-refused-everywhere", "names-bounded", "stored-casing", "identifiers-folded"],
    "iceberg-rest 6": ["warehouse-names-without-slash", "prefix-is-an-override endpoints-are-what-is-routed"],
    "iceberg-rest 7": ["no-page-token-means-everything page-tokens-of-one-listing"],
    "iceberg-rest 8": [
        "keys-know-their-request keys-for-every-change replays-are-authorised keys-keep-lasting-refusals"
    ],
    "iceberg-rest 9": [
        "set-and-removed-is-422",
        "properties-lose-no-update",
        "empty-parent-is-the-top",
        "recursive-drop-purges-all",
        "nothing-born-in-a-dropped-namespace",
    ],
    "iceberg-rest 10.1": ["forbidden-properties-are-400", "places-by-segments one-place-one-tabular"],
    "iceberg-rest 10.2": ["staged-tables-expire"],
    "iceberg-rest 10.3": ["unknown-snapshots-are-400"],
    "iceberg-rest 10.4": ["commit-tags-promise-metadata"],
    "iceberg-rest 10.5": ["types-of-their-format-version", "stale-numbers-are-conflicts"],
    "iceberg-rest 10.6": [
        "own-metadata-files-alone",
        "unknown-outcome-keeps-the-file",
        "failed-transactions-leave-no-file",
        "replaced-statistics-are-served",
        "no-file-for-a-lost-race",
    ],
    "iceberg-rest 10.7": ["transactions-answer-204"],
    "iceberg-rest 10.8": ["register-decides-before-it-reads", "purge-spares-what-was-registered"],
    "iceberg-rest 10.9": ["purge-by-default"],
    "iceberg-rest 10.10": ["reports-of-unseen-tables"],
    "iceberg-rest 11": [
        "dialect-twice-is-400",
        "view-uuid-mismatch-is-a-conflict",
        "view-uuid-may-be-repeated",
        "view-updates-alike",
        "view-updates-alike",
        "view-updates-alike",
        "view-updates-alike",
        "view-updates-by-their-names",
        "view-updates-alike",
        "commit-failures-by-their-name",
        "moving-a-view-deletes-nothing",
        "view-replies-vend-reading",
    ],
    "iceberg-rest 12": [
        "signature-caching-by-method",
        "signing-for-the-own-host copy-sources-are-checked signed-as-checked query-is-parsed sub-resources-are-listed",
    ],
    "iceberg-rest 16": [
        "commit-failures-by-their-name",
        "unknown-outcome-keeps-the-file",
        "forbidden-properties-are-400",
        "unknown-update-kinds",
        "stale-numbers-are-conflicts",
        "set-and-removed-is-422",
        "empty-parent-is-the-top",
        "no-page-token-means-everything",
        "transactions-answer-204",
        "view-uuid-mismatch-is-a-conflict",
        Later("the specification's newer path for signing is not routed", now="older-signing-paths-say-400"),
        "purge-by-default old-metadata-files-go",
        "keys-for-every-change keys-know-their-request",
        "staged-tables-expire",
        "replaced-statistics-are-served",
        "stored-casing",
        "register-decides-before-it-reads",
    ],
    "storage 1": ["addresses-are-checked"],
    "storage 3": ["every-change-normalises"],
    "storage 4": ["stackit-signs"],
    "storage 5": ["accounts-never-change", "defaults-are-no-change"],
    "storage 8": ["names-in-layouts", "templates-are-tried"],
    "storage 9": ["no-orphaned-secrets", "confinement-is-proved", "judged-before-proved", "updates-race-safely"],
    "storage 10": ["overlap-by-place"],
    "storage 11": ["failed-vending-fails-the-load"],
    "storage 12": ["partition-follows-the-cloud", "readers-decrypt-only"],
    "storage 13": [AZURE_AND_GCS],
    "storage 14": [AZURE_AND_GCS],
    "storage 16": ["assumed-identity-is-kept"],
    "storage 17": ["granted-life-counts", "callers-told-apart"],
    "storage 18": ["metadata-is-written-once"],
    "storage 19": ["purge-spares-what-was-registered purge-in-pages", SOFT_DELETION],
    "storage 20": ["no-placeholder-key", "keys-rotate"],
    "storage 21": ["outages-are-503 refused-credentials-are-424"],
    "storage 22": [
        "stackit-signs",
        "accounts-never-change",
        "both-spellings-of-url-styles",
        "judged-before-proved",
        "every-change-normalises",
        "no-credential-must-be-said",
        "confinement-is-proved",
        "overlap-by-place",
        "view-replies-vend-reading",
        "refresh-links-for-tables-alone",
        "partition-follows-the-cloud",
        "granted-life-counts",
        AZURE_AND_GCS,
        "callers-told-apart",
        "one-rule-for-alternative-protocols",
        "purge-spares-what-was-registered purge-in-pages",
        "no-orphaned-secrets no-placeholder-key keys-rotate",
        "addresses-are-checked",
        "lifetimes-are-bounded",
    ],
    "config 1": [
        "text-is-taken-as-it-stands",
        "unknown-names-stop-the-start",
        "all-problems-at-once",
        "secrets-from-files",
    ],
    "config 2.1": ["forwarded-headers-from-trusted-proxies"],
    "config 2.2": ["no-placeholder-key", "keys-rotate"],
    "config 2.3": [Later("secrets are kept in Postgres; the key-value store is not built yet")],
    "config 2.4": ["open-without-a-provider"],
    "config 2.5": ["a-misspelt-authorizer-stops-the-start"],
    "config 2.11": [Later("there is no console yet")],
    "config 4": [
        Later("a proxy strips the path for now", now="forwarded-headers-from-trusted-proxies"),
    ],
    "config 8": [
        "a-misspelt-authorizer-stops-the-start",
        "open-without-a-provider",
        "no-placeholder-key",
        "schemas-are-checked",
        "text-is-taken-as-it-stands",
        "unknown-names-stop-the-start",
        Later("files of secrets are read once, at the start", now="secrets-from-files"),
        "live-and-ready",
        "caches-are-verified",
        "lists-are-trimmed",
        "providers-are-tried-again",
        "forwarded-headers-from-trusted-proxies",
        Later("the public listener has no TLS of its own: a proxy stands before it", now="tls-between-services"),
        "configuration-is-shown",
    ],
    "management-api 1.1": ["reads-during-maintenance"],
    "management-api 1.2": ["malformed-input-in-the-envelope"],
    "management-api 1.3": ["project-ids-checked-once", "project-ids-checked-once"],
    "management-api 1.4": ["request-ids-as-sent", "keys-for-every-change", "keys-know-their-request"],
    "management-api 1.5": [Later("pages of projects and warehouses are not served", now="warehouses-in-order")],
    "management-api 2": ["bootstrap-is-one-step"],
    "management-api 4": [STATISTICS],
    "management-api 5.2": ["retention-is-bounded"],
    "management-api 5.3": ["checks-say-what-the-call-says"],
    "management-api 6": [Later("moving namespaces is not served yet")],
    "management-api 7": [Later("search is not served yet")],
    "management-api 8": [GRANTS],
    "management-api 9": [GRANTS],
    "management-api 11": ["grants-of-one-principal"],
    "management-api 15": [
        "renaming-to-a-taken-name-is-409",
        STATISTICS,
        "retention-is-bounded",
        "no-orphaned-secrets",
        "accounts-never-change",
        "overlap-by-place",
        "updates-race-safely",
        "bootstrap-is-one-step",
        CANCELLING,
        "attempts-inside-one-task",
        "queues-are-checked-and-limits-taken-back",
        "malformed-input-in-the-envelope",
        "keys-for-every-change",
        Later("search is not served yet"),
        Later("tags are not served yet"),
        GRANTS,
        "every-change-is-told",
        STATISTICS,
        "cors-headers",
        "project-ids-checked-once",
    ],
    "events-tasks A.1": ["standard-attributes"],
    "events-tasks A.3": ["events-in-the-change"],
    "events-tasks A.5": ["every-change-is-told"],
    "events-tasks B.3": ["attempts-are-counted-and-paused queued-twice-is-one-task failed-tasks-run-again"],
    "events-tasks B.5": ["failed-purges-stay-visible", "purge-spares-what-was-registered"],
    "events-tasks C": [Later("the gate before a commit is a port; no outside checker is built yet")],
    "events-tasks D": [STATISTICS, STATISTICS],
    "events-tasks E": [AUDIT],
    "events-tasks E.2": [AUDIT],
    "events-tasks H": ["live-and-ready"],
    "events-tasks I": [
        "events-in-the-change",
        "every-change-is-told",
        "events-say-what-is",
        "standard-attributes",
        "subjects-by-what-happened",
        "attempts-are-counted-and-paused stopping-stops",
        CANCELLING,
        "queued-twice-is-one-task",
        "failed-purges-stay-visible",
        Later("the gate before a commit is a port; no outside checker is built yet"),
        AUDIT,
        "live-and-ready",
    ],
}

# Ids that no mark asked for.
OF_OUR_OWN: Final = frozenset(
    {
        "a-full-last-page-ends",
        "all-differences-are-listed",
        "assumed-roles-give",
        "away-is-not-refused",
        "beginnings-are-checked",
        "bounds-on-strangers",
        "case-is-asked-of-the-store",
        "challenges-say-why",
        "commits-make-what-was-not-staged",
        "creates-refuse-files-and-neighbours",
        "deciders-need-callers",
        "default-project-is-nil",
        "denials-are-403",
        "documents-are-bounded",
        "dropped-in-full-pages",
        "empty-keys-are-refused",
        "emptying-main-is-a-conflict",
        "failed-views-leave-no-file",
        "freed-ids-rest",
        "gc-enabled-keeps-files",
        "impossible-namespaces-are-not-there",
        "kit-1-10-views-lie-on-a-disk",
        "kit-moves-files-on-a-disk",
        "listings-need-the-slash",
        "messages-begin-as-icebergs",
        "misspelt-members-of-changes",
        "no-change-no-file",
        "no-dots-in-namespaces",
        "no-patterns-in-locations",
        "openfga-is-a-copy",
        "openfga-is-asked-by-http",
        "openfga-may-come-later",
        "partition-ids-mean-one-thing",
        "partition-names-are-unambiguous",
        "pinned-models-are-asked",
        "purges-wait-a-minute",
        "recursive-drops-keep-files",
        "register-view-is-not-served",
        "repeated-additions-resolve",
        "reviews-are-remembered",
        "revokes-count-at-once",
        "rights-are-on-what-is-there",
        "rights-hide-what-they-are-on",
        "rights-under-every-decider",
        "rotated-keys-are-found",
        "row-ids-are-given-once",
        "sequence-numbers-only-rise",
        "signatures-are-confined",
        "tables-stay-themselves",
        "twins-wait",
        "what-is-written-is-readable",
    }
)
