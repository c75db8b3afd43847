"""The vending service: storage secrets, short-lived credentials, request signing and all object-store I/O.

It decides nothing about who may: whatever it does to a store, it does on a permit that the catalog signed.
"""
