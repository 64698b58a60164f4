"""The benchmark: `bench.generate` makes homes like real ones, `bench.run` measures a build of them."""
