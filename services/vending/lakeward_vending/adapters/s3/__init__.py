"""S3 and compatible stores.

backend       the storage kind: opens buckets, mints credentials, lends an identity to the signer
objects       one bucket: the objects in it
bucket_calls  ListObjectsV2 and DeleteObjects, with keys as they literally are
signed_calls  what both are made of: signed, and tried again while the store is failing
endpoints     the URLs of a profile
tampering     what the store makes of a signed request that is tampered with
identities    who calls: a key, the process's own identity, a role that either assumes
sts           AssumeRole     r2   Cloudflare's     oss   Alibaba's
granted       the credential that any of the three grants
failures      what the store said, as a refusal     xml   reads its replies
"""
