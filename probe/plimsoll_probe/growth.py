"""Is memory at rest growing? A statistical test that tells a leak from warm-up, noise and caching.

Memory is sampled once a step, at the same instant (behind the optimizer), where activations are gone. The series is
kept at four scales: every step, and the minimum of every 4, 16 and 64 steps. The minimum is the lower envelope:
batches of varying length and evaluations push single steps up, never the envelope. On each scale, the newest points
(at most 32) are tested:

- Mann-Kendall: is the order of the points a trend? One-sided, z >= 3.5 (p < 0.00024).
- Theil-Sen: the median of all pairwise slopes, per step; at least `floor` bytes.
- The newer half must still climb at 60 % of that or more: warm-up and filling caches flatten out.
"""
import math
import operator

SCALES = (1, 4, 16, 64)
POINTS = 32
# With 12 points Mann-Kendall's z reaches at most 4.5, so this is the fewest that can pass with a little noise.
ENOUGH = 12
Z = 3.5
# Lazily made optimizer state, cuDNN's workspaces and autotuning happen in the first steps.
WARM_UP = 3


class Trend:
    """`scale`: steps between two points of the series that shows it."""

    __slots__ = ("scale", "per_step", "z", "points")

    def __init__(self, scale, per_step, z, points):
        self.scale = scale
        self.per_step = per_step
        self.z = z
        self.points = points


class Growth:
    def __init__(self):
        self._seen = 0
        self._every = 1
        self._rings = [[] for _ in SCALES]
        self._low = [None] * len(SCALES)
        self._count = [0] * len(SCALES)

    def add(self, value, every=1):
        """A reading; `every`: how many steps lie between two of them now."""
        ring = self._rings[0]
        if every != self._every or (ring and value < 0.5 * min(ring)):
            # Another pace, or another model: what came before says nothing about what comes now.
            self.restart()
            self._every = every
            self._seen = 0
        self._seen += 1
        if self._seen <= WARM_UP:
            return
        for index, scale in enumerate(SCALES):
            low = self._low[index]
            self._low[index] = value if low is None or value < low else low
            self._count[index] += 1
            if self._count[index] == scale:
                ring = self._rings[index]
                ring.append(self._low[index])
                if len(ring) > POINTS:
                    del ring[0]
                self._low[index] = None
                self._count[index] = 0

    def restart(self):
        self._low = [None] * len(SCALES)
        self._count = [0] * len(SCALES)
        for ring in self._rings:
            del ring[:]

    def trend(self, floor):
        """The finest scale that shows growth of at least `floor` bytes a step, or None."""
        for index, scale in enumerate(SCALES):
            found = _test(self._rings[index], scale * self._every, floor)
            if found is not None:
                return found
        return None


def _test(ring, scale, floor):
    n = len(ring)
    half = n // 2
    # The cheap question first: a run at rest ends here.
    if n < ENOUGH or sum(ring[half:]) / (n - half) < sum(ring[:half]) / half + floor * scale:
        return None
    # And the next: of noise, one series in thirty has three quarters of these in order; of what passes below, all.
    if sum(map(operator.gt, ring[n - half:], ring)) < 0.75 * half:
        return None
    z = mann_kendall(ring)
    if z < Z:
        return None
    slope = theil_sen(ring) / scale
    newer = theil_sen(ring[half:]) / scale
    if slope < floor or newer < 0.6 * slope:
        return None
    # The newer half says how fast: the older may reach back to before it began.
    return Trend(scale, newer, z, n)


def mann_kendall(series):
    """The normal score of Mann's S, corrected for ties (Kendall 1975)."""
    n = len(series)
    s = 0
    for i in range(n - 1):
        here = series[i]
        for j in range(i + 1, n):
            s += (series[j] > here) - (series[j] < here)
    ties = {}
    for value in series:
        ties[value] = ties.get(value, 0) + 1
    variance = n * (n - 1) * (2 * n + 5) - sum(c * (c - 1) * (2 * c + 5) for c in ties.values())
    if variance <= 0 or s == 0:
        return 0.0
    return (s - (1 if s > 0 else -1)) / math.sqrt(variance / 18.0)


def theil_sen(series):
    slopes = sorted(
        (series[j] - series[i]) / float(j - i) for i in range(len(series) - 1) for j in range(i + 1, len(series))
    )
    middle = len(slopes) // 2
    return slopes[middle] if len(slopes) % 2 else (slopes[middle - 1] + slopes[middle]) / 2.0
