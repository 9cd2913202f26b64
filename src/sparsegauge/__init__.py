"""Measure how sparse a signal is, at any order, exactly; and use it to recover sparse signals."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# The public surface: the names of each module. Each is loaded on first use, so that `import sparsegauge` loads neither
# NumPy nor matplotlib. `python tools/write_stub.py` writes __init__.pyi from this list, for type checkers and editors.
_PUBLIC = {
    "errors": (
        "CellFailed",
        "InvalidInput",
        "MissingExtra",
        "SparsegaugeError",
        "SpeedWarning",
        "StaleStudy",
        "StoreInUse",
        "StudyWarning",
    ),
    "_arrays": ("Parameter",),
    "metrics.metric": ("Metric",),
    "metrics.catalogue": ("METRICS", "measure", "metric"),
    "metrics.statistics": ("Rows",),
    "metrics.gds": ("gds", "gds_gradient", "gds_profile"),
    "metrics.penalties": ("l0", "l0_eps", "neg_l1", "neg_log", "neg_lp", "neg_lp_neg", "neg_tanh"),
    "metrics.norms": (
        "crest_factor",
        "d_norm",
        "hoyer",
        "kappa4",
        "kurtosis",
        "l2_l1",
        "neg_numerical_sparsity",
        "pastor",
        "pastor_entropy",
        "pq_index",
        "pq_mean",
        "treves_rolls",
    ),
    "metrics.gini_family": ("fggi", "ggi", "gi2", "gi3", "gini", "pfgi1", "pfgi2", "pfgi3", "s_gini", "u_theta"),
    "metrics.entropies": ("box_cox", "h_g", "h_s", "h_s_prime", "neg_h_s", "neg_h_s_prime", "negentropy"),
    "metrics.inequality": (
        "atkinson",
        "coefficient_of_variation",
        "generalised_entropy",
        "gm_am",
        "hoover",
        "mean_log_deviation",
        "spectral_flatness",
        "theil",
    ),
    "metrics.diversity": (
        "berger_parker",
        "herfindahl",
        "hill",
        "participation_ratio",
        "renyi",
        "tsallis",
    ),
    "metrics.accumulator": ("Accumulator",),
    "metrics.curves": ("Lorenz", "effective_rank", "lorenz", "stable_rank"),
    "metrics.error_bars": ("ConfidenceInterval", "confidence_interval", "standard_error"),
    "metrics.metric_table": ("MetricTable",),
    "features": ("SparsityFeatures",),
    "normalise": ("CoefficientNormaliser", "normalised_gds"),
    "signals": ("DEMOS", "dct", "demo", "wavelet", "windows"),
    "simulate": ("gaussian_matrix", "sparse_signal"),
    "criteria.auditor": ("Audit", "Verdict", "audit"),
    "criteria.claims": ("PaperAudit",),
    "criteria.shipped_audits": ("stored_audits",),
    "criteria.counterexample": ("verify",),
    "criteria.criterion": ("Criterion",),
    "criteria.definitions": ("CRITERIA",),
    "vibration.band_map": ("BandMap", "band_map"),
    "vibration.bearings": ("BEARINGS", "bearing_orders"),
    "vibration.diagnosis": ("Diagnosis", "diagnose"),
    "vibration.bearing_records": ("bearing_record",),
    "recovery.ascent": ("GDSAscent",),
    "recovery.baselines": (
        "BasisPursuit",
        "DantzigSelector",
        "IRLS",
        "LARS",
        "Lasso",
        "MinimumNorm",
        "OMP",
        "ReweightedL1",
        "SBL",
        "SL0",
    ),
    "recovery.driver": ("Iterate",),
    "recovery.entry": ("recover",),
    "recovery.ep": ("EP",),
    "recovery.estimator": ("SparseRecovery",),
    "recovery.message_passing": ("MessagePassing",),
    "recovery.portfolio": ("Portfolio",),
    "recovery.problem": ("Problem",),
    "recovery.registry": ("SOLVERS",),
    "recovery.result": ("Certificate", "Recoveries", "Recovery"),
    "recovery.reweighted": ("GDSReweighted",),
    "recovery.solver": ("Capabilities", "Solver"),
    "recovery.spsa": ("SPSA",),
    "recovery.status": ("Status",),
    "recovery.system": ("System",),
    "recovery.trade_off": ("TradeOff", "trade_off"),
    "paper": ("audit_paper",),
    "study.lookup": ("Recommendation", "recommend_order"),
    "study.plan": ("Study",),
    "study.run": ("run_study",),
    "study.tables": ("load_study", "study_dataset"),
}
_WHERE = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = sorted([*_WHERE, "__version__"], key=lambda name: (name[0].islower() or name[0] == "_", name))


def __getattr__(name: str) -> Any:
    if name == "torch":  # a module of its own, which needs PyTorch
        return importlib.import_module(".torch", __name__)
    if name not in _WHERE:
        raise AttributeError(f"module 'sparsegauge' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
