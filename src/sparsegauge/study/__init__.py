"""Grids of recoveries: planned in a TOML file, run anywhere, stored so that nothing is lost or done twice."""
