"""What depends on the machine."""
