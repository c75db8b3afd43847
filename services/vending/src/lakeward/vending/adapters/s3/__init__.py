"""S3 and compatible stores.

backend      the storage kind: opens buckets, mints credentials, lends an identity to the signer
objects      one bucket: reads and writes by obstore, lists and deletes by signed calls
clients      obstore's clients
bucket_calls ListObjectsV2 and DeleteObjects, with keys as they literally are
endpoints    the URLs of a profile
identities   who calls: a key, the process's own identity, a role that either assumes
sts          AssumeRole     r2   Cloudflare's     oss   Alibaba's
failures     what the store said, as a refusal
"""
