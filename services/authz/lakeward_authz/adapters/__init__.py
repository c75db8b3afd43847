"""What fills the roles, a module a technology."""
