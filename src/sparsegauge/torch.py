"""For networks of PyTorch: the sparsity of activations and weights, layer by layer.

Every metric takes tensors and has gradients: ``-sg.gds(h, 2).mean()`` is a penalty. Needs the extra `torch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._platform.extras import import_extra
from .errors import InvalidInput
from .metrics.catalogue import METRICS

if TYPE_CHECKING:
    from pandas import DataFrame

torch: Any = import_extra("torch", "sparsegauge.torch", extra="torch")

__all__ = ["LayerSparsity", "Monitor", "monitor"]


@dataclass(frozen=True)
class LayerSparsity:
    """The sparsity of one layer's activations, or of one of its weights.

    Attributes
    ----------
    layer : str
        The name of the module, or of the parameter, in the model.
    kind : str
        "activation" or "weight".
    shape : tuple of int
        The shape of the weight, or of the activation of one sample.
    sparsity : float
        The metric: the mean over the samples for activations; nan before the first one.
    zeros : float
        The share of exact zeros.
    samples : int
        How many samples were measured; 1 for weights.
    silent : int
        How many of the samples were all zero, for which a metric is not defined: the mean is over the others.
    """

    layer: str
    kind: str
    shape: tuple[int, ...]
    sparsity: float
    zeros: float
    samples: int
    silent: int


class _Mean:
    """Sums over the samples of one layer, kept on their device so that no batch has to wait for them."""

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.samples = 0
        self.sums: Any = None

    def add(self, output: Any, measure: Callable[[Any], Any]) -> None:
        rows = output.detach().reshape(output.shape[0], -1)
        values = measure(rows).double()
        silent = (rows == 0).all(dim=1)
        sums = torch.stack(
            [
                torch.where(silent, torch.zeros_like(values), values).sum(),
                (rows == 0).double().mean(dim=1).sum(),
                silent.double().sum(),
            ]
        )
        self.sums = sums if self.sums is None else self.sums + sums
        self.samples += rows.shape[0]
        self.shape = tuple(output.shape[1:])

    def row(self, layer: str) -> LayerSparsity:
        if self.sums is None:
            return LayerSparsity(layer, "activation", (), float("nan"), float("nan"), 0, 0)
        total, zeros, silent = self.sums.tolist()
        alive = self.samples - int(silent)
        mean = total / alive if alive else float("nan")
        return LayerSparsity(layer, "activation", self.shape, mean, zeros / self.samples, self.samples, int(silent))


class Monitor:
    """What `monitor` returns: hooks that measure every activation, and a table of the results.

    It is a context manager: the hooks are removed at the end of the ``with`` block, and the results stay.
    """

    def __init__(self, model: Any, metric: str, parameters: dict[str, Any], layers: Any) -> None:
        self._model = model
        self.metric = metric
        self.parameters = parameters
        self._means: dict[str, _Mean] = {name: _Mean() for name, _ in layers}
        self._handles = [module.register_forward_hook(self._hook(name)) for name, module in layers]

    def _measure(self, rows: Any) -> Any:
        with torch.no_grad():
            return METRICS[self.metric].function(rows, **self.parameters)

    def _hook(self, name: str) -> Callable[..., None]:
        def measure(module: Any, inputs: Any, output: Any) -> None:
            if isinstance(output, torch.Tensor) and output.ndim > 1 and output.numel():
                self._means[name].add(output, self._measure)

        return measure

    def rows(self) -> list[LayerSparsity]:
        """Return one row per layer for its activations, then one row per weight of two dimensions or more."""
        activations = [mean.row(name) for name, mean in self._means.items()]
        return activations + list(self._weights())

    def _weights(self) -> Iterator[LayerSparsity]:
        for name, weight in self._model.named_parameters():
            if weight.ndim > 1:
                flat = weight.detach().reshape(1, -1)
                zeros = float((flat == 0).double().mean())
                value = float(self._measure(flat)[0])
                yield LayerSparsity(name, "weight", tuple(weight.shape), value, zeros, 1, int(zeros == 1.0))

    def __getitem__(self, layer: str) -> LayerSparsity:
        """Return the row of a layer or weight."""
        for row in self.rows():
            if row.layer == layer:
                return row
        raise KeyError(f"{layer!r} is not monitored; there are {', '.join(row.layer for row in self.rows())}")

    def to_pandas(self) -> DataFrame:
        """Return the rows as a pandas DataFrame (extra `study`)."""
        pandas = import_extra("pandas", "a table")
        return pandas.DataFrame([vars(row) for row in self.rows()])

    def reset(self) -> None:
        """Forget all activations so far, say at the start of an epoch."""
        self._means = {name: _Mean() for name in self._means}

    def remove(self) -> None:
        """Remove the hooks from the model; the results stay."""
        while self._handles:
            self._handles.pop().remove()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()

    def __str__(self) -> str:
        rows = [("layer", "kind", "shape", self.metric, "zeros", "samples", "silent")]
        for row in self.rows():
            shape = " x ".join(map(str, row.shape))
            numbers = f"{row.sparsity:.3f}", f"{row.zeros:.3f}", str(row.samples), str(row.silent)
            rows.append((row.layer, row.kind, shape, *numbers))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        aligned = [
            [
                text.ljust(width) if k < 3 else text.rjust(width)
                for k, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            for row in rows
        ]
        return "\n".join("  ".join(row).rstrip() for row in aligned)


def monitor(model: Any, metric: str = "gini", *, layers: Any = None, **parameters: float) -> Monitor:
    """Measure the sparsity of every activation of a model while it runs, and of its weights.

    Parameters
    ----------
    model : torch.nn.Module
        It is not changed, except for hooks that `Monitor.remove`, or the end of a ``with`` block, takes away.
    metric : str
        A metric of the catalogue, with its parameters as further arguments.
    layers : iterable of str, optional
        The names of the modules whose outputs are measured; by default all that have no modules inside.

    Returns
    -------
    Monitor
        Its text is a table; `Monitor.rows` and `Monitor.to_pandas` give the same as data.

    Examples
    --------
    >>> import torch
    >>> import sparsegauge as sg
    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
    >>> with sg.torch.monitor(model, "gds", order=2) as report:
    ...     _ = model(torch.ones(5, 3))
    >>> report["1"].samples
    5
    """
    if not isinstance(model, torch.nn.Module):
        raise InvalidInput(
            f"model must be a torch.nn.Module, got {type(model).__name__}; a tensor is measured by sg.{metric}(x)"
        )
    found = METRICS.find(metric)
    checked = found.check(parameters)
    modules = dict(model.named_modules())
    if layers is None:
        chosen = [(key, module) for key, module in modules.items() if not any(module.children())]
        chosen = [(key or type(module).__name__, module) for key, module in chosen]
    else:
        chosen = [(key, _module(modules, key)) for key in layers]
    return Monitor(model, found.name, checked, chosen)


def _module(modules: dict[str, Any], name: Any) -> Any:
    if name not in modules or name == "":
        raise InvalidInput(f"the model has no layer {name!r}; there are {', '.join(filter(None, modules))}")
    return modules[name]
