"""What fills vending's ports, a folder a technology.

s3         S3 and compatible stores: the one storage kind of this build
postgres   secrets, encrypted
caching    decorators over ports
network    names, addresses and plain HTTP calls
system     clock and ids
"""
