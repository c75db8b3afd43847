"""Contracts: what a warehouse promises about tables and views to those who read them."""
