"""LDAP directories.

`reading` asks one by `ldap3`, which is pure Python: the other clients need OpenLDAP's library on every machine.
"""
