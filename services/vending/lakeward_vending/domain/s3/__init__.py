"""What S3 and the stores that speak its protocol need of rules; pure, as the rest of the domain.

keys               who signs requests, for how long and on which terms
client_properties  how a client is told to reach a bucket
session_policy     what confines a session to one location
system_identity    whether a warehouse may use the identity of the process
signing            which requests of clients are signed, and how
"""
