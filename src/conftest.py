"""Which modules have no examples to run because what they need is not installed."""

import importlib.util

collect_ignore = []
if importlib.util.find_spec("torch") is None:
    collect_ignore += ["sparsegauge/torch.py", "sparsegauge/metrics/autograd.py"]
