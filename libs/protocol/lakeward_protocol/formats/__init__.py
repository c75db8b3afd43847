# Generated from protos/ by tools/generate_protos.py; do not edit.
