"""Measure how sparse a signal is, at any order, exactly; and use it to recover sparse signals."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that holds it. Loaded on first use: `import sparsegauge` loads neither NumPy nor matplotlib.
_WHERE = {
    "Audit": "criteria.audit",
    "BasisPursuit": "recovery.baselines",
    "CRITERIA": "criteria.definitions",
    "Capabilities": "recovery.solver",
    "Certificate": "recovery.result",
    "CoefficientNormaliser": "normalise",
    "Criterion": "criteria.criterion",
    "DantzigSelector": "recovery.baselines",
    "EP": "recovery.ep",
    "GDSAscent": "recovery.ascent",
    "GDSReweighted": "recovery.reweighted",
    "IRLS": "recovery.baselines",
    "InvalidInput": "errors",
    "Iterate": "recovery.driver",
    "LARS": "recovery.baselines",
    "Lasso": "recovery.baselines",
    "METRICS": "metrics.catalogue",
    "MessagePassing": "recovery.message_passing",
    "Metric": "metrics.catalogue",
    "MinimumNorm": "recovery.baselines",
    "MissingExtra": "errors",
    "OMP": "recovery.baselines",
    "PaperAudit": "criteria.claims",
    "Portfolio": "recovery.portfolio",
    "Problem": "recovery.problem",
    "Recommendation": "study.lookup",
    "Recoveries": "recovery.result",
    "Recovery": "recovery.result",
    "ReweightedL1": "recovery.baselines",
    "SBL": "recovery.baselines",
    "SL0": "recovery.baselines",
    "SOLVERS": "recovery.registry",
    "SPSA": "recovery.spsa",
    "Solver": "recovery.solver",
    "SparseRecovery": "recovery.estimator",
    "SparsegaugeError": "errors",
    "StaleStudy": "errors",
    "Status": "recovery.status",
    "Study": "study.plan",
    "System": "recovery.system",
    "TradeOff": "recovery.trade_off",
    "Verdict": "criteria.audit",
    "atkinson": "metrics.inequality",
    "audit": "criteria.audit",
    "audit_paper": "criteria.paper",
    "box_cox": "metrics.entropies",
    "d_norm": "metrics.norms",
    "demo": "signals",
    "fggi": "metrics.gini_family",
    "gaussian_matrix": "simulate",
    "gds": "metrics.gds",
    "gds_gradient": "metrics.gds",
    "gds_profile": "metrics.gds",
    "ggi": "metrics.gini_family",
    "gi2": "metrics.gini_family",
    "gi3": "metrics.gini_family",
    "gini": "metrics.gini_family",
    "gm_am": "metrics.inequality",
    "h_g": "metrics.entropies",
    "h_s": "metrics.entropies",
    "h_s_prime": "metrics.entropies",
    "hoover": "metrics.inequality",
    "hoyer": "metrics.norms",
    "kappa4": "metrics.norms",
    "kurtosis": "metrics.norms",
    "l0": "metrics.norms",
    "l0_eps": "metrics.norms",
    "l2_l1": "metrics.norms",
    "load_study": "study.tables",
    "measure": "metrics.catalogue",
    "neg_h_s": "metrics.entropies",
    "neg_h_s_prime": "metrics.entropies",
    "neg_l1": "metrics.norms",
    "neg_log": "metrics.norms",
    "neg_lp": "metrics.norms",
    "neg_lp_neg": "metrics.norms",
    "neg_numerical_sparsity": "metrics.norms",
    "neg_tanh": "metrics.norms",
    "negentropy": "metrics.entropies",
    "normalised_gds": "normalise",
    "pastor": "metrics.norms",
    "pfgi1": "metrics.gini_family",
    "pfgi2": "metrics.gini_family",
    "pfgi3": "metrics.gini_family",
    "pq_index": "metrics.norms",
    "pq_mean": "metrics.norms",
    "recommend_order": "study.lookup",
    "recover": "recovery.entry",
    "run_study": "study.run",
    "s_gini": "metrics.gini_family",
    "sparse_signal": "simulate",
    "stored_audits": "criteria.stored",
    "study_dataset": "study.tables",
    "theil": "metrics.inequality",
    "trade_off": "recovery.trade_off",
    "treves_rolls": "metrics.norms",
    "u_theta": "metrics.gini_family",
    "verify": "criteria.counterexample",
    "windows": "signals",
}

__all__ = [  # noqa: RUF022 (all capitals first, then by name)
    "Audit",
    "BasisPursuit",
    "CRITERIA",
    "Capabilities",
    "Certificate",
    "CoefficientNormaliser",
    "Criterion",
    "DantzigSelector",
    "EP",
    "GDSAscent",
    "GDSReweighted",
    "IRLS",
    "InvalidInput",
    "Iterate",
    "LARS",
    "Lasso",
    "METRICS",
    "MessagePassing",
    "Metric",
    "MinimumNorm",
    "MissingExtra",
    "OMP",
    "PaperAudit",
    "Portfolio",
    "Problem",
    "Recommendation",
    "Recoveries",
    "Recovery",
    "ReweightedL1",
    "SBL",
    "SL0",
    "SOLVERS",
    "SPSA",
    "Solver",
    "SparseRecovery",
    "SparsegaugeError",
    "StaleStudy",
    "Status",
    "Study",
    "System",
    "TradeOff",
    "Verdict",
    "__version__",
    "atkinson",
    "audit",
    "audit_paper",
    "box_cox",
    "d_norm",
    "demo",
    "fggi",
    "gaussian_matrix",
    "gds",
    "gds_gradient",
    "gds_profile",
    "ggi",
    "gi2",
    "gi3",
    "gini",
    "gm_am",
    "h_g",
    "h_s",
    "h_s_prime",
    "hoover",
    "hoyer",
    "kappa4",
    "kurtosis",
    "l0",
    "l0_eps",
    "l2_l1",
    "load_study",
    "measure",
    "neg_h_s",
    "neg_h_s_prime",
    "neg_l1",
    "neg_log",
    "neg_lp",
    "neg_lp_neg",
    "neg_numerical_sparsity",
    "neg_tanh",
    "negentropy",
    "normalised_gds",
    "pastor",
    "pfgi1",
    "pfgi2",
    "pfgi3",
    "pq_index",
    "pq_mean",
    "recommend_order",
    "recover",
    "run_study",
    "s_gini",
    "sparse_signal",
    "stored_audits",
    "study_dataset",
    "theil",
    "trade_off",
    "treves_rolls",
    "u_theta",
    "verify",
    "windows",
]

if TYPE_CHECKING:
    from .criteria.audit import Audit, Verdict, audit
    from .criteria.claims import PaperAudit
    from .criteria.counterexample import verify
    from .criteria.criterion import Criterion
    from .criteria.definitions import CRITERIA
    from .criteria.paper import audit_paper
    from .criteria.stored import stored_audits
    from .errors import InvalidInput, MissingExtra, SparsegaugeError, StaleStudy
    from .metrics.catalogue import METRICS, Metric, measure
    from .metrics.entropies import box_cox, h_g, h_s, h_s_prime, neg_h_s, neg_h_s_prime, negentropy
    from .metrics.gds import gds, gds_gradient, gds_profile
    from .metrics.gini_family import fggi, ggi, gi2, gi3, gini, pfgi1, pfgi2, pfgi3, s_gini, u_theta
    from .metrics.inequality import atkinson, gm_am, hoover, theil
    from .metrics.norms import (
        d_norm,
        hoyer,
        kappa4,
        kurtosis,
        l0,
        l0_eps,
        l2_l1,
        neg_l1,
        neg_log,
        neg_lp,
        neg_lp_neg,
        neg_numerical_sparsity,
        neg_tanh,
        pastor,
        pq_index,
        pq_mean,
        treves_rolls,
    )
    from .normalise import CoefficientNormaliser, normalised_gds
    from .recovery.ascent import GDSAscent
    from .recovery.baselines import (
        IRLS,
        LARS,
        OMP,
        SBL,
        SL0,
        BasisPursuit,
        DantzigSelector,
        Lasso,
        MinimumNorm,
        ReweightedL1,
    )
    from .recovery.driver import Iterate
    from .recovery.entry import recover
    from .recovery.ep import EP
    from .recovery.estimator import SparseRecovery
    from .recovery.message_passing import MessagePassing
    from .recovery.portfolio import Portfolio
    from .recovery.problem import Problem
    from .recovery.registry import SOLVERS
    from .recovery.result import Certificate, Recoveries, Recovery
    from .recovery.reweighted import GDSReweighted
    from .recovery.solver import Capabilities, Solver
    from .recovery.spsa import SPSA
    from .recovery.status import Status
    from .recovery.system import System
    from .recovery.trade_off import TradeOff, trade_off
    from .signals import demo, windows
    from .simulate import gaussian_matrix, sparse_signal
    from .study.lookup import Recommendation, recommend_order
    from .study.plan import Study
    from .study.run import run_study
    from .study.tables import load_study, study_dataset


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'sparsegauge' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
