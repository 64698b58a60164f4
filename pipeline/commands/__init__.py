"""What each command of `homelake` does with its options: a module a command, and what several of them share.

A command parses its options, calls one function of the engine and prints what it returns; `pipeline.cli` puts the
commands together.
"""
