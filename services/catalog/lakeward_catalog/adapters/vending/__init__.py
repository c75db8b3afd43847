"""Vending, reached over gRPC: files, access for clients, and the judging of storage. Each call carries a permit."""
