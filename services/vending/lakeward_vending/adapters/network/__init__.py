"""Names, addresses and plain HTTP calls.

addresses    resolves hosts, and admits those that may be called
calls        HTTP calls to the address that was admitted
services     who may be called now: slots and a breaker for each     breaker   when one is left alone
connections  what calls go over
refusals     what is said of a service that can't be reached
"""
