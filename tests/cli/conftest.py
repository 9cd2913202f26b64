"""The command line, run in the process of the tests."""

import pytest

from sparsegauge.cli import main


@pytest.fixture
def command(capsys):
    """Run a command line -> exit code, stdout, stderr."""

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        return caught.value.code or 0, *capsys.readouterr()

    return run
