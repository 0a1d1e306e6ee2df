"""Ctrl-C, pressed while a fit runs."""

from __future__ import annotations

import signal
import threading
import time


def press_ctrl_c() -> None:
    """Press Ctrl-C a moment after the fit that follows has begun to watch for it, however busy the machine is."""

    def press() -> None:
        last = time.monotonic() + 60
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler and time.monotonic() < last:
            time.sleep(0.01)
        time.sleep(0.1)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
