"""The public HTTP APIs, one package each: operations, documents, and how reasons of refusal are shown."""
