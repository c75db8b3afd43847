"""gRPC servicers: decode, call one use case, encode.

decode    permits, ids and words from messages: refused here, once
access    VendingService        files   FileService        storage   StorageService
"""
