"""The public surface is a contract: names, signatures and the errors' family."""

import inspect

import pytest

import sparsegauge as sg


def test_every_public_name_is_there_and_listed():
    assert sg.__all__ == sorted(sg.__all__, key=lambda name: (name[0].islower() or name[0] == "_", name))
    for name in sg.__all__:
        assert getattr(sg, name) is not None
    assert set(dir(sg)) == set(sg.__all__)


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        ("gds", "(x, order=2.0, *, axis=-1, nan_policy='propagate', zero=nan, method='auto')"),
        ("gds_profile", "(x, orders, *, axis=-1, nan_policy='propagate', zero=nan)"),
        ("gds_gradient", "(x, order, *, axis=-1)"),
        ("demo", "(name)"),
        ("run_study", "(study, store, *, executor=None, progress=None)"),
        ("load_study", "(store)"),
        ("study_dataset", "(store)"),
    ],
)
def test_signatures(function, signature):
    found = inspect.signature(getattr(sg, function))
    bare = found.replace(
        parameters=[p.replace(annotation=p.empty) for p in found.parameters.values()],
        return_annotation=inspect.Signature.empty,
    )
    assert str(bare) == signature


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'gdss'"):
        sg.gdss  # noqa: B018


def test_errors_are_what_callers_already_catch():
    assert issubclass(sg.InvalidInput, ValueError)
    assert issubclass(sg.MissingExtra, ImportError)
    assert all(issubclass(e, sg.SparsegaugeError) for e in (sg.InvalidInput, sg.MissingExtra, sg.StaleStudy))


@pytest.mark.parametrize("name", [n for n in sg.__all__ if n != "__version__"])
def test_everything_public_is_documented(name):
    assert len(inspect.getdoc(getattr(sg, name)) or "") > 20
