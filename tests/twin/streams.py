"""Random numbers: SplitMix64, one stream for each (seed, purpose, owner)."""

TIE, JITTER, FIRST_FLOW, SALT, BALANCER, SPREADER, LOSS, CLOCK, TRANSPORT, MARK, TRIM = range(1, 12)
_GOLDEN = 0x9E3779B97F4A7C15
_64_BITS = 2**64


def mix(x: int) -> int:
    """The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % _64_BITS
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % _64_BITS
    return x ^ (x >> 31)


class Stream:
    def __init__(self, seed: int, purpose: int, owner: int) -> None:
        of_seed = mix((seed + _GOLDEN) % _64_BITS)
        of_purpose = mix(of_seed ^ purpose)
        self.state = mix((of_purpose + _GOLDEN) % _64_BITS ^ owner)

    def next(self) -> int:
        self.state = (self.state + _GOLDEN) % _64_BITS
        return mix(self.state)

    def below(self, n: int) -> int:
        """Uniform in 0..n-1."""
        return self.next() * n // _64_BITS
