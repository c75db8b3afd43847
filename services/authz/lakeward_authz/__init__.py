"""The authz service: who is calling, and what each may do and see."""
