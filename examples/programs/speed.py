"""How fast isr-sim runs the nodes of this folder, and whose time it is (Linux).

    python3 speed.py [--schedules 300] [--node 'node --import tsx node.ts'] [--isr-sim COMMAND]

It prints schedules and steps a second, and the processor time of isr-sim and of the nodes' processes in one run.
"""

import argparse
import os
import re
import subprocess
import tempfile
import time

p = argparse.ArgumentParser()
p.add_argument("--schedules", type=int, default=300)
p.add_argument("--node", default="node --import tsx node.ts")
p.add_argument("--scenario", default="two-contenders")
p.add_argument("--isr-sim", default="isr-sim")
args = p.parse_args()

with tempfile.TemporaryFile("w+") as output:
    began = time.monotonic()
    command = [args.isr_sim, "run", "--exec", "exec " + args.node, "--exec-limit", "60s",
               "--schedules", str(args.schedules), args.scenario]
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)  # it is over, and its times can still be read
    took = time.monotonic() - began
    with open("/proc/%d/stat" % run.pid) as f:
        times = [int(t) / os.sysconf("SC_CLK_TCK") for t in f.read().rpartition(")")[2].split()[11:15]]
    run.wait()
    output.seek(0)
    text = output.read()
row = re.search(r"^%s .*?(\d+) +(\d+)  ok " % re.escape(args.scenario), text, re.M)
if not row:
    raise SystemExit(text)
schedules, steps = int(row[1]), int(row[2])
ours, theirs = sum(times[:2]), sum(times[2:])
print("%s: %d schedules of %.0f steps in %.1f s: %.0f schedules a second" % (
    args.node, schedules, steps / schedules, took, schedules / took))
print("processor time: isr-sim %.1f s, nodes %.1f s; isr-sim's share is %.0f %%" % (
    ours, theirs, 100 * ours / (ours + theirs)))
