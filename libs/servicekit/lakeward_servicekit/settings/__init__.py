"""Settings: every name that upstream or Lakeward knows, what its value may be, and the frozen classes services take.

    catalogue   what a setting is, and the lookup of a name
    known/      the table of names, a module a subject
    kinds       what a value may be, and how text becomes it
    inline      the `{k="v"}` and `["a", "b"]` forms inside one value
    environment from variables to values: prefixes, older names, files, tables
    model       the base of the classes below, and how a field names its setting
    loading     builds the classes; all that is wrong is said at once
    showing     the effective configuration, secrets masked

Beside these, one module a class: server, postgres, authentication, authorization, secret_store, storage, tasks, events,
caches, idempotency, services, observability. A service's own settings are a frozen dataclass whose fields are those.
"""
