"""A program that a task starts ends with the task, also where that is killed and can see to nothing."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent() -> Callable[[], None] | None:
    """Return what a process that this one forks off does first, so that it is told to end when this one is gone.

    It lasts over the start of another program in the same process, as ``spark-submit`` starts Java. Only Linux can do
    that; elsewhere there is nothing to do.
    """
    if sys.platform != "linux":
        return None
    parent, set_option = os.getpid(), ctypes.CDLL(None).prctl

    def tie() -> None:
        set_option(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # gone already
            os._exit(1)

    return tie
