"""Remote signing: which requests of a client without a credential are signed, and how.

request   the form that is signed                    refusals   the words for what is refused
target    the URI: bucket, key, query parameters   deletion   the body of a multi-object delete
examine   the rules, which all of a request must pass
sigv4     the signature
"""
