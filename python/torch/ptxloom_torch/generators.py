"""Random numbers: the state of CUDA's generators decides what a CPU generator draws.

A CUDA generator is a seed and an offset. Each operator draws from a CPU generator that these two
seed, and moves the offset on; so seeds, saved states and recomputation work as on a GPU. The
numbers are not those of a GPU. Before anything was drawn they are those of the CPU with that seed.
"""

import contextlib
import threading

import torch

_STEP = 4  # offsets of CUDA's generators are multiples of it
_MASK = (1 << 64) - 1
_lock = threading.RLock()


def _mixed(seed, offset):
    """A seed for the CPU generator: the finalizer of SplitMix64 over both; `seed` at the start."""
    if not offset:
        return seed
    z = (seed + offset * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _next_seed(generator, index):
    if generator is None or generator.device.type != "cuda":
        generator = torch.cuda.default_generators[index]
    with _lock:
        offset = generator.get_offset()
        generator.set_offset(offset + _STEP)
        return _mixed(generator.initial_seed() & _MASK, offset)


def host_generator(generator, index):
    """A CPU generator for one operator on device `index`."""
    drawn = torch.Generator()
    drawn.manual_seed(_next_seed(generator, index))
    return drawn


@contextlib.contextmanager
def default_generator(index):
    """The CPU's default generator is seeded for one operator that takes no other."""
    with _lock:
        kept = torch.default_generator.get_state()
        torch.default_generator.manual_seed(_next_seed(None, index))
        try:
            yield
        finally:
            torch.default_generator.set_state(kept)
