#!/bin/sh
# Install into an environment of Python: tools/install.sh ENVIRONMENT ARGUMENT..., with arguments of pip's `install`.
# uv does it in a fraction of pip's time, most of what a new machine's set-up took. It does not read pip's configuration, so pip does it
# where that says where packages come from, and what uv can't, or there is no uv for.
set -eu
environment=$1
shift
pip() {
    "$environment/bin/python" -m pip "$@"
}

with_pip() {
    # Of what is installed, Python compiles what it imports, once; to compile all of it takes half of the installation's time.
    pip install --quiet --no-compile "$@"
}

with_uv() {
    [ -x "$environment/bin/uv" ] || with_pip --only-binary uv --constraint constraints.txt uv || return
    "$environment/bin/uv" pip install --quiet --native-tls --python "$environment/bin/python" "$@"
}

if pip config list | grep -Eq '(index-url|no-index|proxy|client-cert)='; then
    with_pip "$@"
else
    with_uv "$@" || with_pip "$@"
fi
