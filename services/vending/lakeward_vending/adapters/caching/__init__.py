"""Decorators over ports that remember answers.

backends  clients of stores and minted credentials
secrets   secrets that warehouses refer to
"""
