"""Judge many mutated files: ``cd tests && python -m fuzz --count 10000``; what must not be is printed with its seed."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from .judge import BAD, FAULT_WITHOUT_LINE, judged
from .mutate import mutated

CRASH = "CRASH"
_TOGETHER = 200
_MEMORY = 4 << 30


def main() -> int:
    """Counts on stdout; 1 if anything was bad."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="files")
    parser.add_argument("--seed", type=int, default=None, help="of the first file; a fresh one if not given")
    parser.add_argument("--quick", action="store_true", help="do not compute accepted robots again")
    parser.add_argument("--show", action="store_true", help="print the file of --seed and what becomes of it")
    given = parser.parse_args()
    first = secrets.randbelow(10**9) if given.seed is None else given.seed
    if given.show:
        mutant = mutated(first)
        with tempfile.TemporaryDirectory() as folder:
            print(mutant.text, mutant.csv, mutant.what, judged(mutant, Path(folder)), sep="\n---\n")
        return 0
    print(f"seeds {first} to {first + given.count - 1}", flush=True)
    counts: Counter[tuple[str, str]] = Counter()
    seed, end, started = first, first + given.count, time.monotonic()
    with suppress(KeyboardInterrupt):  # what was judged until then is still counted
        while seed < end:
            seed = _some(seed, min(end, seed + _TOGETHER), not given.quick, counts)
            print(f"{seed - first} files, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    for kind in ("robot", "motion"):
        print(f"\n{kind} files: {sum(n for (k, _), n in counts.items() if k == kind)}")
        for (own, word), number in sorted(counts.items(), key=lambda item: -item[1]):
            if own == kind:
                print(f"  {number:6d}  {word}")
    return int(any(word in (*BAD, CRASH) for _, word in counts))


def _some(first: int, last: int, compare: bool, counts: Counter[tuple[str, str]]) -> int:
    """Judge files in a process of their own; the seed to go on with."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _in_child(first, last, compare, write)
    os.close(write)
    seed = first
    with os.fdopen(read, encoding="utf-8") as lines:
        for line in lines:
            kind, word, why = line.rstrip("\n").split("\t", 2)
            counts[kind, word] += 1
            if word in (*BAD, FAULT_WITHOUT_LINE):
                print(f"{word}: seed {seed}: {why}", flush=True)
            seed += 1
    _, status = os.waitpid(child, 0)
    if status and seed < last:
        counts[mutated(seed).kind, CRASH] += 1
        print(f"{CRASH}: seed {seed}: status {status}", flush=True)
        seed += 1
    return seed


def _in_child(first: int, last: int, compare: bool, write: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with os.fdopen(write, "w", encoding="utf-8", buffering=1) as out, tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            mutant = mutated(seed)
            verdict = judged(mutant, Path(folder), compare, as_json=seed % 2 == 1)
            why = " ".join(f"{verdict.why} [{mutant.what[:200]}]".split())
            out.write(f"{mutant.kind}\t{verdict.word}\t{why}\n")
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
