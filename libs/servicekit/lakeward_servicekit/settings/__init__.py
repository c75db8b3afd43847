"""Settings: every name that upstream or Lakeward knows, what its value may be, and the frozen classes services take.

    catalogue   what a setting is
    kinds       what a value may be, and how text becomes it
    inline      the `{k="v"}` and `["a", "b"]` forms inside one value
    model       the base of the classes of settings; a field says all there is to say of its setting
    known/      names that no class has: upstream's that have no effect here, and those of services that are not installed
    names       the lookup of a name among all of these
    environment from variables to values: prefixes, older names, files, tables
    loading     builds the classes; all that is wrong is said at once
    showing     the effective configuration, secrets masked

Beside these, what several services share, one module a subject: server, postgres, authorization, storage,
services, observability. What one service alone reads is declared in the module `settings` of its package.
"""
