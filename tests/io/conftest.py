"""What every test of readers may use."""

import pytest


@pytest.fixture
def notes():
    return []
