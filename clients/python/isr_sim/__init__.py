"""The kit of isr-sim for Python: import it before anything else in a program that is a node.

It replaces the clock, the threads and the randomness of the process by simulated ones (_kit.py). It does nothing in the
process of pytest, whose tests are run as nodes in others (isr_sim_pytest), and for python -m isr_sim, which is the
command.
"""

import sys

__all__ = ["OtherPayload", "bodies", "boto3_options", "node", "origin"]

if "_pytest" not in sys.modules and sys.argv[:1] != ["-m"]:  # which it is while python -m looks for __main__
    from ._kit import OtherPayload, bodies, boto3_options, node, origin
else:  # names that modules import, and only nodes use

    class OtherPayload(Exception):
        pass

    def _elsewhere(*_, **__):
        raise RuntimeError("isr_sim: this process is no node: what a check makes runs in others")

    boto3_options = node = origin = _elsewhere

    class bodies:
        put = get = delete = staticmethod(_elsewhere)
