"""Tiny models learn from exported shards, and packing changes no loss. Needs the extra torch."""

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest
from byteroute.pipelines.export_driver import plan_export, write_export
from export_fixtures import write_run
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

torch = pytest.importorskip("torch", reason="needs the extra torch")

from tiny_model import TinyModel, loss_sum  # noqa: E402

from byteroute_ops.export import IdSpace  # noqa: E402
from byteroute_ops.loading import Packing, one_per_row, pack  # noqa: E402
from byteroute_ops.loading.torch_datasets import collate_rows  # noqa: E402

BPE_SIZE = 600
SPACES = {
    "bytes": IdSpace(kind="bytes", size=260, bos=1, eos=2),
    "text": IdSpace(kind="text", size=BPE_SIZE, eos=0),
}
STEPS = 200


@pytest.fixture(scope="module", params=SPACES)
def exported(request: pytest.FixtureRequest, data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(ids space, training documents, validation documents) of the UDHR sample, read from an Arrow export."""
    rows = [orjson.loads(line) for line in (data_dir / "udhr_small.jsonl").read_bytes().splitlines()]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=BPE_SIZE, special_tokens=["<eos>"], initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator([row["text"] for row in rows], trainer)
    run = write_run(
        tmp_path_factory.mktemp("run"),
        [(row["id"], row["text"]) for row in rows],
        tokenize=lambda text: bpe.encode(text).ids,
        vocab_size=bpe.get_vocab_size(),
    )
    output, space = tmp_path_factory.mktemp("out"), SPACES[request.param]
    job = plan_export(run, str(output), to="arrow", space=space, validation_fraction=0.15, shuffle_seed=1)
    write_export(job, run)
    return space, *(read(output / split) for split in ("train", "validation"))


def read(folder: Path) -> list[Any]:
    """All documents of a split as int64 arrays."""
    tables = [pa.ipc.open_file(path).read_all() for path in sorted(folder.glob("*.arrow"))]
    return [ids.values.to_numpy().astype("int64") for table in tables for ids in table["input_ids"]]


def batch_of(rows: Any) -> dict[str, Any]:
    """Rows of `pack` as a batch of tensors with its mask."""
    return collate_rows([{name: torch.from_numpy(a) for name, a in row.arrays().items()} for row in rows])


def test_loss_falls(exported: Any) -> None:
    """A few hundred steps on packed rows bring the loss of held-out documents well below that of unigrams."""
    space, train, validation = exported
    torch.set_num_threads(1)
    rows = list(pack(train, Packing(length=128, pad_id=space.eos)))
    held_out = batch_of(pack(validation, Packing(length=128, pad_id=space.eos)))
    model = TinyModel(space.size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    with torch.no_grad():
        before = torch.div(*loss_sum(model, held_out)).item()
    for step in range(STEPS):
        chosen = [rows[(step * 8 + i) % len(rows)] for i in range(8)]
        total, count = loss_sum(model, batch_of(chosen))
        optimizer.zero_grad()
        (total / count).backward()
        optimizer.step()
    with torch.no_grad():
        after = torch.div(*loss_sum(model, held_out)).item()
    unigram = unigram_loss(train, validation, space.size)
    assert after < unigram < before


def unigram_loss(train: list[Any], validation: list[Any], size: int) -> float:
    """Cross entropy in nats of held-out ids under the smoothed counts of the training ids."""
    counts = torch.bincount(torch.from_numpy(np.concatenate(train)), minlength=size) + 1.0
    log_p = torch.log(counts / counts.sum())
    return -log_p[torch.from_numpy(np.concatenate([ids[1:] for ids in validation]))].mean().item()


@pytest.mark.parametrize("pad", ["zero", "eos", "other"])
def test_packed_loss_is_the_unpacked_one(exported: Any, pad: str) -> None:
    """Documents packed into rows have the loss and the gradient of documents on their own, whatever the pad id."""
    space, train, _ = exported
    documents = sorted(train, key=len)[:30]
    pad_id = {"zero": 0, "eos": space.eos, "other": space.size - 1}[pad]
    length = 4 * max(map(len, documents))
    packed = batch_of(pack(documents, Packing(length=length, pad_id=pad_id, fill="whole")))
    single = batch_of(one_per_row(documents, pad_id=0))
    assert len(packed["input_ids"]) < len(documents) / 2
    results = []
    for batch in (packed, single):
        model = TinyModel(space.size, n_positions=2048).double()
        total, count = loss_sum(model, batch)
        total.backward()
        results.append((total.item(), count, torch.cat([p.grad.flatten() for p in model.parameters()])))
    assert results[0][1] == results[1][1] == sum(len(ids) - 1 for ids in documents)
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-12)
    torch.testing.assert_close(results[0][2], results[1][2], rtol=1e-9, atol=1e-9)


def test_a_wrong_mask_would_be_seen(exported: Any) -> None:
    """With a plain causal mask, or positions that run on, the packed loss is another one: the equality above bites."""
    space, train, _ = exported
    documents = sorted(train, key=len)[:30]
    batch = batch_of(pack(documents, Packing(length=512, fill="whole")))
    model = TinyModel(space.size, n_positions=2048).double()
    right = loss_sum(model, batch)[0].item()
    causal = torch.ones_like(batch["attention_mask"]).tril()
    running = torch.arange(512).expand_as(batch["position_ids"])
    for wrong in ({"attention_mask": causal}, {"position_ids": running}):
        assert abs(loss_sum(model, batch | wrong)[0].item() / right - 1) > 1e-6
