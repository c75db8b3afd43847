"""gRPC servicers: decode, call one use case, encode."""
