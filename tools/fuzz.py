"""Feeds the decoder and the readers with damaged input until a time is over.

    python tools/fuzz.py decoder --minutes 10 --artifacts out/fuzz
    python tools/fuzz.py jsonl --minutes 10 --engine mutate --seed 7

The promise: any bytes at all give documents and rejects, or the documented error; never another exception, never an
input that takes longer than --seconds, never a dead process. With atheris installed its coverage guides the search;
otherwise seeds are mutated at random. An input that breaks the promise is left in the folder of artifacts; the name
of the input at hand is there also when the process dies.
"""

import argparse
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

Check = Callable[[bytes], None]

NUMBERS = (b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80" * 9 + b"\x01")
SIGNS = (b"\n", b"\r\n", b'"', b"{", b"\xef\xbb\xbf")
MARKS = (b"\xef\xa4\x80", b"\xef\xa4\x81", b"\xef\xa4\x84", b"\xc0\x80", b"\xfe\xff", b"\xff\xfe", b"WARC/1.0\r\n")


def mutate(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Returns the data with a few random changes; `other` is spliced in now and then."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        place = rng.randrange(len(out) + 1)
        span = rng.randint(1, 40)
        kind = rng.randrange(7)
        if kind == 0 and place < len(out):
            out[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del out[place : place + span]
        elif kind == 2:
            out[place:place] = rng.randbytes(span)
        elif kind == 3:
            out[place:place] = out[place : place + span]
        elif kind == 4:
            piece = rng.choice(NUMBERS + SIGNS + MARKS)
            out[place : place + (len(piece) if rng.random() < 0.5 else 0)] = piece
        elif kind == 5:
            del out[place:]
        else:
            start = rng.randrange(len(other) + 1)
            out[place:] = other[start:]
    return bytes(out)


class Runner:
    """Runs one input after the other and keeps the one at hand in a file."""

    def __init__(self, check: Check, current: Path, seconds: int) -> None:
        self._check, self._current, self._seconds = check, current, seconds
        self.n, self.slowest = 0, 0.0
        signal.signal(signal.SIGALRM, self._hang)

    def _hang(self, *_: object) -> None:
        raise TimeoutError(f"an input took more than {self._seconds} s; it is in {self._current}")

    def one(self, data: bytes) -> None:
        """Checks one input; raises what the check raises."""
        self._current.write_bytes(data)
        signal.alarm(self._seconds)
        begun = time.monotonic()
        self._check(data)
        self.slowest = max(self.slowest, time.monotonic() - begun)
        signal.alarm(0)
        self.n += 1

    def summary(self, name: str) -> str:
        """Returns one line on what was done."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return f"{name}: {self.n:,} inputs, slowest {self.slowest * 1e3:,.0f} ms, peak {peak:,.0f} MiB, no fault"


def by_mutation(
    runner: Runner,
    seeds: Sequence[bytes],
    *,
    minutes: float,
    seed: int,
    wrap: Callable[[bytes], bytes] | None,
    plain: bytes,
) -> None:
    """Mutates seeds at random until the time is over; with `wrap` half of them inside an intact archive."""
    rng = random.Random(seed)
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        if wrap is not None and rng.random() < 0.5:
            runner.one(wrap(mutate(plain, plain, rng)))
        else:
            runner.one(mutate(rng.choice(seeds), rng.choice(seeds), rng))


def by_coverage(runner: Runner, seeds: Sequence[bytes], minutes: float, seed: int, corpus: Path) -> None:
    """Lets atheris choose the inputs. libFuzzer ends the process itself, with a line of its own on what it did."""
    import atheris

    corpus.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(seeds):
        (corpus / f"seed-{i}").write_bytes(data)
    flags = [f"-max_total_time={int(60 * minutes)}", f"-seed={seed}", "-max_len=8192", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], *flags, f"-artifact_prefix={corpus.parent}/", str(corpus)], runner.one)
    atheris.Fuzz()


def main() -> None:
    """Reads the command line and fuzzes one target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seconds", type=int, default=20, help="the longest that one input may take")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=("atheris", "mutate"))
    parser.add_argument("--artifacts", type=Path, default=Path("out/fuzz"))
    args = parser.parse_args()
    engine = args.engine or ("atheris" if find_spec("atheris") else "mutate")
    if engine == "atheris":
        import atheris

        with atheris.instrument_imports(include=["byteroute_ops"]):
            from fuzz_targets import TARGETS
    else:
        from fuzz_targets import TARGETS
    if args.target not in TARGETS:
        parser.error(f"target {args.target!r} is not one of {', '.join(TARGETS)}")
    target = TARGETS[args.target]
    folder = args.artifacts / args.target
    folder.mkdir(parents=True, exist_ok=True)
    runner = Runner(target.check, folder / "current", args.seconds)
    if engine == "atheris":
        by_coverage(runner, target.seeds, args.minutes, args.seed, folder / "corpus")
    else:
        plain = TARGETS["jsonl"].seeds[0]
        by_mutation(runner, target.seeds, minutes=args.minutes, seed=args.seed, wrap=target.wrap, plain=plain)
        print(runner.summary(args.target))


if __name__ == "__main__":
    main()
