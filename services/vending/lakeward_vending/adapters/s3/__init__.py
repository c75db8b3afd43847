"""S3 and compatible stores.

kind          the storage kind: what clients are offered, told, given and have signed
backend       the stores behind it: opens buckets, mints sessions, tries what a store does
cached        remembers what those were asked
objects       one bucket: the objects in it
bucket_calls  ListObjectsV2 and DeleteObjects, with keys as they literally are
signed_calls  what both are made of: signed, and tried again while the store is failing
endpoints     the URLs of a profile
tampering     what the store makes of a signed request that is tampered with
key_sources   whose key signs: a credential's, the process's own, that of a role which either assumes
sts           AssumeRole     r2   Cloudflare's     oss   Alibaba's
granted       the session that any of the three grants
failures      what the store said, as a refusal     xml   reads its replies
"""
