"""What every test may rely on."""

import signal

# A shell that starts the tests in the background has them ignore Ctrl-C, and all that they start; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
