"""The roles that the catalog's use cases need, and what each promises, a module a noun.

Every role raises Refusal DATABASE_UNAVAILABLE, or SERVICE_UNAVAILABLE where it is another service, when there is no answer to be
had; that is not repeated.
"""
