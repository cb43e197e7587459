"""Tokenizers: one protocol, and behind it `tokenizers` (the reference), gigatoken (fast) and plain bytes."""

from .attribution import routed_tokens_per_row as routed_tokens_per_row
from .attribution import text_tokens_per_run as text_tokens_per_run
from .prepared import Prepared as Prepared
from .protocol import Tokenizer as Tokenizer
from .protocol import Tokens as Tokens
from .registry import adopt_tokenizer as adopt_tokenizer
from .registry import open_tokenizer as open_tokenizer
