"""The bootstrap: exact sums, paired and reproducible weights, intervals that cover."""

import numpy as np
import pytest

from byteroute_ops.comparison import MIN_DOCUMENTS, Resampled, expanded_tail, poisson_weights


def keys(n: int, seed: int = 0) -> np.ndarray:
    """Returns n random document keys."""
    return np.random.default_rng(seed).integers(0, 2**64, n, np.uint64)


def add(
    sums: Resampled[str], base: np.ndarray, other: np.ndarray, of: np.ndarray, groups: tuple[str, ...] = ("g",)
) -> None:
    """Adds one cell a document, of the groups in turn."""
    n = len(base)
    sums.add(groups, np.arange(n) % len(groups), np.arange(n), np.stack([base, other]), of)


def test_weights_are_poisson() -> None:
    """Mean and variance are 1, shares of 0, 1, 2, 3 are Poisson's, and neither documents nor replicates correlate."""
    weights = poisson_weights(keys(2000), 500).astype(float)
    assert weights.mean() == pytest.approx(1, abs=0.003)
    assert weights.var() == pytest.approx(1, abs=0.01)
    shares = [(weights == k).mean() for k in range(4)]
    assert shares == pytest.approx([np.exp(-1), np.exp(-1), np.exp(-1) / 2, np.exp(-1) / 6], abs=0.002)
    for table in (weights[:200], weights[:, :200].T):
        correlations = np.corrcoef(table)[np.triu_indices(200, 1)]
        assert abs(correlations.mean()) < 0.001
        assert np.abs(correlations).max() < 5 / np.sqrt(table.shape[1])


def test_weights_belong_to_keys() -> None:
    """A document's weights depend on its key and the seed, not on its neighbours or on the number of replicates."""
    some = keys(50)
    weights = poisson_weights(some, 101)
    assert np.array_equal(weights[::-1], poisson_weights(some[::-1], 101))
    assert np.array_equal(weights[:, :40], poisson_weights(some, 40))
    assert not np.array_equal(weights, poisson_weights(some, 101, seed=1))


def test_sums_equal_the_plain_ones_in_any_batching() -> None:
    """Totals and replicates equal a loop over documents, however the documents are batched."""
    rng = np.random.default_rng(1)
    n, groups = 1300, ("a", "b", "c")
    base, other, of = rng.integers(1, 10**6, n), rng.integers(0, 10**6, n), keys(n)
    whole: Resampled[str] = Resampled(2, replicates=100)
    parts: Resampled[str] = Resampled(2, replicates=100)
    add(whole, base, other, of, groups)
    for i in range(0, n, 300):
        piece = slice(i, i + 300)
        add(parts, base[piece], other[piece], of[piece], groups)
    weights = poisson_weights(of, 100).astype(np.int64)
    for number, name in enumerate(groups):
        mine = np.arange(n) % 3 == number
        assert whole.total(name, 0) == base[mine].sum()
        assert whole.documents(name) == mine.sum()
        ratios = 1 - (other[mine] @ weights[mine]) / (base[mine] @ weights[mine])
        tail = expanded_tail(0.95, int(mine.sum()))
        found = whole.saving(name, 0, 1)
        assert (found.low, found.high) == pytest.approx(tuple(np.quantile(ratios, [tail, 1 - tail])), abs=1e-12)
        assert found == parts.saving(name, 0, 1)


def test_order_of_cells_does_not_matter() -> None:
    """Cells may come in any order of documents."""
    rng = np.random.default_rng(2)
    base, other, of, order = rng.integers(1, 99, 700), rng.integers(0, 99, 700), keys(700), rng.permutation(700)
    one: Resampled[str] = Resampled(2, replicates=100)
    shuffled: Resampled[str] = Resampled(2, replicates=100)
    add(one, base, other, of)
    shuffled.add(("g",), np.zeros(700, np.int64), order, np.stack([base[order], other[order]]), of)
    assert one.saving("g", 0, 1) == shuffled.saving("g", 0, 1)


@pytest.mark.parametrize("n", [6, 20, 200])
def test_intervals_cover(n: int) -> None:
    """Of 300 samples from one population, about 95 % of the intervals hold the population's saving."""
    rng = np.random.default_rng(n)
    covered = 0
    for trial in range(300):
        size = rng.integers(50, 2000, n)
        saved = rng.normal(0.2, 0.05, n)
        sums: Resampled[str] = Resampled(2, replicates=400)
        add(sums, size, np.round(size * (1 - saved)).astype(np.int64), keys(n, 1000 + trial))
        found = sums.saving("g", 0, 1)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.2 <= found.high
    assert 0.9 <= covered / 300 <= 0.985


def test_verdicts() -> None:
    """Beyond the interval is fewer or more, around 0 is none, no change is none with an empty interval."""
    rng = np.random.default_rng(3)
    base, noise = np.full(400, 1000), rng.integers(-50, 51, 400)
    noise -= round(noise.mean())
    for change, verdict in ((-100, "fewer"), (100, "more"), (0, "none")):
        sums: Resampled[str] = Resampled(2)
        add(sums, base, base + noise + change, keys(400))
        assert sums.saving("g", 0, 1).verdict == verdict
        same = sums.saving("g", 0, 0)
        assert (same.saving, same.low, same.high, same.verdict) == (0, 0, 0, "none")


def test_few_documents_have_no_interval() -> None:
    """Below `MIN_DOCUMENTS` there is a saving but no interval and no verdict; without tokens no saving either."""
    sums: Resampled[str] = Resampled(2)
    n = MIN_DOCUMENTS - 1
    add(sums, np.full(n, 10), np.full(n, 5), keys(n))
    found = sums.saving("g", 0, 1)
    assert (found.saving, found.low, found.high, found.verdict) == (0.5, None, None, "few documents")
    empty: Resampled[str] = Resampled(2)
    add(empty, np.zeros(9, np.int64), np.zeros(9, np.int64), keys(9))
    assert empty.saving("g", 0, 1).saving is None


def test_only_the_first_measures_are_drawn() -> None:
    """Measures beyond `n_drawn` are summed, without replicates."""
    sums: Resampled[str] = Resampled(2, 1, replicates=100)
    add(sums, np.full(9, 10), np.full(9, 5), keys(9))
    assert sums.total("g", 1) == 45
    assert sums.saving("g", 0, 0).verdict == "none"
