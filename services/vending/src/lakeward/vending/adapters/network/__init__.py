"""Names, addresses and plain HTTP calls.

addresses   resolves hosts, and admits those that may be called
calls       HTTP calls in bounded threads, to the address that was admitted
"""
