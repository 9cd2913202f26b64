"""The criteria P1..P11, one class each: what the law says, which changes are legal, how it is judged and searched."""

from ..criterion import CriterionRegistry
from .additions import Babies, RisingTide
from .bill_gates import BillGates, BillGatesAsPrinted
from .continuity import Continuity
from .extremes import LowerBound, Saturation, UpperBound
from .invariances import Cloning, PermutationInvariance, Scaling
from .robin_hood import RobinHood

CRITERIA = CriterionRegistry()
for _criterion in (
    Continuity, PermutationInvariance, RobinHood, Scaling, RisingTide, Cloning, BillGates, BillGatesAsPrinted, Babies,
    Saturation, LowerBound, UpperBound,
):  # fmt: skip
    CRITERIA.add(_criterion())
