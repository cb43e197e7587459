"""Mergeable metrics of a run: token budgets by script and language, and the totals that prove nothing was lost."""

from .budget import BatchCounts as BatchCounts
from .budget import Budget as Budget
from .budget import TokenCounts as TokenCounts
from .histogram import Histogram as Histogram
from .totals import RunTotals as RunTotals
