"""The benchmark: `bench.generate` makes homes as the real programs write them, `bench.run` measures a build of them."""
