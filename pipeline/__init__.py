"""The engine: discover, extract, normalize, join, publish. It knows tables and rows, and no assistant by name."""

import os

# A process is one worker and uses one core; the libraries read this when they are first imported.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
