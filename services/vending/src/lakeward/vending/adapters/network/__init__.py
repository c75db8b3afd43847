"""Names, addresses and plain HTTP calls.

addresses    resolves hosts, and admits those that may be called
calls        HTTP calls to the address that was admitted
connections  what they go over
"""
