"""S_p of torch tensors on the processor, with the compiled kernels for the value and the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .._arrays import as_signals
from . import _dispatch, _slopes
from .portable import orders


def exact_gds(c: torch.Tensor, p: float) -> torch.Tensor:
    """Return S_p along the last axis of magnitudes, none of whose rows is all zero."""
    return _ExactGDS.apply(c, p)


class _ExactGDS(torch.autograd.Function):
    """S_p and its gradient from the kernels; higher derivatives from the portable formula."""

    @staticmethod
    def forward(c: torch.Tensor, p: float) -> torch.Tensor:
        signals = _as_signals(c)
        values = _dispatch.measure(signals, p, np.nan)
        return torch.from_numpy(values).to(c.dtype).reshape(c.shape[:-1])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        c, ctx.p = inputs
        ctx.save_for_backward(c)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (c,) = ctx.saved_tensors
        (grad,) = grads
        if torch.is_grad_enabled():  # a derivative of this derivative is wanted
            values = _portable_gds(c, ctx.p)
            return torch.autograd.grad(values, c, grad, create_graph=True)[0], None
        slopes = torch.from_numpy(_slopes.slopes(_as_signals(c), ctx.p)).to(c.dtype).reshape(c.shape)
        return grad[..., None] * slopes, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, c: torch.Tensor, p: float) -> Any:
        return _ExactGDS.apply(c.movedim(in_dims[0], 0), p), 0


def _portable_gds(c: torch.Tensor, p: float) -> Any:
    from array_api_compat import torch as xp

    return orders.gds(xp, c, p)


def _as_signals(c: torch.Tensor) -> Any:
    rows = c.detach().reshape(-1, c.shape[-1])
    return as_signals(rows.numpy(), axis=-1)
