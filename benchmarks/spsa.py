"""One iteration of SPSA at N = 100, M = 50: two evaluations, a perturbation, a projection.

The yardsticks, measured in between: numpy.sort of a row of a 20,000 x 100 batch, and an iteration of noisyopt's
minimizeSPSA on the same objective written in NumPy, once by the shortest formula that its order has and once by the
definition, which serves every order. noisyopt knows box bounds and no equations, so that it is given the
constraint as one has to give it: the objective projects its argument onto A x = y before it measures (two products
with the orthonormal rows per call), and the caller projects the result. Its iterates then differ from ours by what the
projection takes away, which no evaluation sees.
"""

import time
from collections.abc import Callable

import noisyopt
import numpy as np

from sparsegauge._compiled import recover as kernels
from sparsegauge.recovery.spsa_workspace import SpsaWorkspace

N, M, ROWS = 100, 50, 20_000
SORT_LIMITS = {1: 12, 2: 6, 3: 12, 4: 6}
TIMES_FASTER = 50
ITERATIONS, PEER_ITERATIONS, REPEATS = 500, 50, 41
RANKS, COUNTS = np.arange(1 - N, N, 2), np.arange(1, N + 1)

Formula = Callable[[int, np.ndarray], float]


def problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal rows B, and the start in units of its RMS."""
    B = np.ascontiguousarray(np.linalg.qr(rng.standard_normal((N, M)))[0].T)
    signal = np.zeros(N)
    signal[:20] = rng.standard_normal(20)
    x = B.T @ (B @ signal)
    return B, x / np.sqrt(np.mean(x**2))


def shortcut(order: int, c: np.ndarray) -> float:
    """S_p by the shortest formula of each order."""
    if order == 2:
        return 1 - c.sum() ** 2 / (N * (c @ c))
    if order == 4:
        squares = (c - c.mean()) ** 2
        return (N * (squares @ squares) + 3 * squares.sum() ** 2) / (N * np.sum(c**4))
    c.sort()
    if order == 1:
        return RANKS @ c / (N * c.sum())
    first, second, third = np.cumsum(c), np.cumsum(c * c), np.cumsum(c**3)
    # sum_{i<j} (c_j - c_i)^3, expanded: it cancels where ours does not
    return np.sum(COUNTS * c**3 - 3 * c**2 * first + 3 * c * second - third) / (N * third[-1])


def definition(order: int, c: np.ndarray) -> float:
    """S_p by all pairs, for any order."""
    return np.sum(np.abs(c - c[:, None]) ** order) / (2 * N * np.sum(c**order))


def objective(formula: Formula, order: int, B: np.ndarray, b: np.ndarray) -> Callable[[np.ndarray], float]:
    """-S_p of the nearest solution."""
    return lambda x: -formula(order, np.abs(x + B.T @ (b - B @ x)))


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(order: int, rng: np.random.Generator) -> np.ndarray:
    """The best seconds of our iteration, of sorting a row, and of noisyopt's iteration with either formula."""
    B, start = problem(rng)
    batch = rng.standard_normal((ROWS, N))
    walk = SpsaWorkspace(B, B @ start, None, float(order)).walk
    state = np.array([1], np.uint64)
    gains = np.array([1.0, 0.602, 100.0, 0.01, 0.101])

    def ours() -> None:
        kernels.walk_on(walk, start.copy(), state, gains, 0, np.array([ITERATIONS]), np.inf, np.empty(1))

    def peer(formula: Formula) -> None:
        function = objective(formula, order, B, B @ start)
        noisyopt.minimizeSPSA(function, start.copy(), niter=PEER_ITERATIONS, a=1.0, c=0.01, paired=False)

    cases = [ours, lambda: np.sort(batch, axis=-1), lambda: peer(shortcut), lambda: peer(definition)]
    best = np.min([[seconds(case) for case in cases] for _ in range(REPEATS)], axis=0)
    return best / [ITERATIONS, ROWS, PEER_ITERATIONS, PEER_ITERATIONS]


def iteration() -> str:
    lines = ["| case | µs per iteration | ratio | limit | |", "|---|--:|--:|--:|---|"]

    def line(case: str, time: float, ratio: float, limit: str, met: bool) -> None:
        lines.append(f"| {case} | {time * 1e6:.2f} | {ratio:.1f} | {limit} | {'met' if met else '**missed**'} |")

    for order, limit in SORT_LIMITS.items():
        ours, sort, *peers = measure(order, np.random.default_rng(0))
        line(
            f"order {order}: ours, over numpy.sort of a row",
            ours,
            ours / sort,
            f"at most {limit}",
            ours <= limit * sort,
        )
        for formula, peer in zip(("shortest formula", "definition"), peers, strict=True):
            met = peer >= TIMES_FASTER * ours
            line(f"order {order}: noisyopt, {formula}, over ours", peer, peer / ours, f"at least {TIMES_FASTER}", met)
    return "\n".join(lines)


if __name__ == "__main__":
    print(iteration())
