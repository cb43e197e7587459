"""The tokenizer workshop: train tokenizers on text or routed bytes, compare, audit and prune them.

Everything here works on batches and on the JSON of tokenizer files; what reads files, watches the clock and prints
tables is `pipelines.workshop`.
"""
