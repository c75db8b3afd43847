"""What fills vending's ports, a folder a technology.

s3         S3 and compatible stores: the one storage kind of this build
postgres   secrets, encrypted
caching    decorators over ports and over what kinds have alike
network    names, addresses and plain HTTP calls
"""
