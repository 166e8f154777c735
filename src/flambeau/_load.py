"""Loads the native extension, with a setting for the OpenMP runtime that comes with it.

libgomp reads GOMP_SPINCOUNT while it is loaded. With 1000 a waiting thread gives its processor up after some
microseconds instead of milliseconds. On an idle machine that is as fast; beside other busy processes it is about ten
times faster, because spinning threads keep the processor from the work that everybody waits for. What the user set
stays, and the environment is left as it was found.
"""

import os

_OWN = not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys()
if _OWN:
    os.environ["GOMP_SPINCOUNT"] = "1000"
try:
    from . import _C  # noqa: F401
finally:
    if _OWN:
        del os.environ["GOMP_SPINCOUNT"]
