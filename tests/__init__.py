"""The tests: what each module does, what the real homes hold, and what the hard cases must show."""
