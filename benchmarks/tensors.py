"""`python -m benchmarks.tensors`: forward and backward of S_p on tensors over the same of torch.sort, on one core.

Prints the table of docs/howto/tensors.md. Needs PyTorch.
"""

import os
import time
from collections.abc import Callable

import torch

import sparsegauge as sg

SHAPES = [(4096, 1024), (1_000_000,)]
ORDERS = (1, 2, 3)
LIMIT = 3.0
REPEATS = 5


def processor_time(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def backward_of(x: torch.Tensor, forward: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], None]:
    def both() -> None:
        x.grad = None
        forward(x).sum().backward()

    return both


def ratio(x: torch.Tensor, order: float) -> float:
    """The best time of S_p over the best time of a sort, the two taken in turns."""
    ours = backward_of(x, lambda t: sg.gds(t, order))
    sort = backward_of(x, lambda t: torch.sort(t, dim=-1).values)
    times = [(processor_time(ours), processor_time(sort)) for _ in range(REPEATS)]
    best, base = (min(column) for column in zip(*times, strict=True))
    return best / base


def main() -> None:
    torch.set_num_threads(1)
    os.environ["SPARSEGAUGE_NUM_THREADS"] = "1"
    torch.manual_seed(0)
    print("| tensor | " + " | ".join(f"order {order}" for order in ORDERS) + " |")
    print("|---|" + "---:|" * len(ORDERS))
    for shape in SHAPES:
        for dtype in (torch.float32, torch.float64):
            x = torch.randn(shape, dtype=dtype, requires_grad=True)
            name = f"{' x '.join(f'{n:,}' for n in shape)}, {str(dtype).rpartition('.')[2]}"
            ratios = [ratio(x, order) for order in ORDERS]
            print(f"| {name} | " + " | ".join(f"{r:.1f}{'' if r <= LIMIT else ' **missed**'}" for r in ratios) + " |")


if __name__ == "__main__":
    main()
