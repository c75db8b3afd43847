"""Contracts: setting them, and asking them before a change."""
