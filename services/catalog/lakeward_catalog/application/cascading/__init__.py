"""Dropping what holds other things, with all of it: a namespace, or a whole warehouse, by a task."""
