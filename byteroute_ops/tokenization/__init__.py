"""Tokenizers: one protocol, and behind it `tokenizers` (the reference), gigatoken (fast) and plain bytes."""

from byteroute_ops.tokenization.attribution import routed_tokens_per_row as routed_tokens_per_row
from byteroute_ops.tokenization.attribution import text_tokens_per_run as text_tokens_per_run
from byteroute_ops.tokenization.protocol import Tokenizer as Tokenizer
from byteroute_ops.tokenization.protocol import Tokens as Tokens
from byteroute_ops.tokenization.registry import open_tokenizer as open_tokenizer
