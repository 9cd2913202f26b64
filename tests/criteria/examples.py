"""A counterexample that several tests verify, and spoil."""

ROBIN_HOOD = {
    "criterion": "P3",
    "metric": "gds",
    "parameters": {"order": 4},
    "before": [["3", 20], ["6", 1], ["12", 1]],
    "after": [["3", 19], ["4", 1], ["5", 1], ["12", 1]],
}
