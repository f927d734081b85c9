# The cache of cache.py as a node of isr-sim: isr-sim run --exec 'python3 node.py' paused-writer
import isr_sim

from cache import Cache


def create(init):
    return Cache(
        isr_sim.boto3_options(init), init["table"], init["tenant"], init["config"], isr_sim.bodies, isr_sim.origin)


isr_sim.node(create, ["get"])
