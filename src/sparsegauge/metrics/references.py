"""The publications that several metrics cite."""

HURLEY = "Hurley and Rickard (2009), Comparing measures of sparsity, IEEE Trans. Inf. Theory 55(10), 4723-4741"
RAO = "Rao and Kreutz-Delgado (1999), IEEE Trans. Signal Process. 47(1), 187-200"
KARVANEN = "Karvanen and Cichocki (2003), Measuring sparseness of noisy signals"
HOU = "Hou, Wang et al., generalised Gini indices, Mech. Syst. Signal Process."
GDS = (
    "Maronidis, Chatzilari, Nikolopoulos and Kompatsiaris, A generalised differential framework for measuring signal "
    "sparsity, section IV"
)
