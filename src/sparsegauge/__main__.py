"""`python -m sparsegauge` is the same as the `sparsegauge` command."""

from .cli import main

if __name__ == "__main__":
    main()
