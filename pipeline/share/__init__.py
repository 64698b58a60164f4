"""A reduced or masked copy of a lake, which is a lake itself."""
