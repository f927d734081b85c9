"""Is an agent that has isr-sim mcp alone, and looks for the bugs of examples/programs/mutants.py in the caches there.

    python3 agent.py ISR_SIM [REGEXP]

Each bug must be found by run, explained and replayed. Its program is the cache in Python, in a folder of its own.
"""

import json
import os
import re
import subprocess
import sys

import mutants


class Agent:
    def __init__(self, *command):
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.calls = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "agent", "version": "1"}})
        self.say({"method": "notifications/initialized"})

    def say(self, message):
        print(json.dumps({"jsonrpc": "2.0", **message}), file=self.server.stdin, flush=True)

    def ask(self, method, params):
        self.calls += 1
        self.say({"id": self.calls, "method": method, "params": params})
        for line in self.server.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.calls:
                return answer["result"]
        sys.exit("the server has ended")

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            sys.exit("%s %s: %s" % (tool, arguments, result["structuredContent"]))
        return result["structuredContent"]


def main():
    programs = {}
    for i, (name, scenario, invariants, _, change) in enumerate(mutants.MUTANTS):
        if not re.search(sys.argv[2] if len(sys.argv) > 2 else "", name):
            continue
        os.makedirs("bug%d" % i, exist_ok=True)
        with open("cache.py") as f, open("bug%d/cache.py" % i, "w") as to:
            to.write(mutants.broken(f.read(), *change))
        with open("node.py") as f, open("bug%d/node.py" % i, "w") as to:
            to.write(f.read())
        programs["exec %s bug%d/node.py" % (sys.executable, i)] = (name, scenario, invariants)
    agent = Agent(sys.argv[1], "mcp", *("--allow=" + program for program in programs))
    for program, (name, scenario, invariants) in programs.items():
        where = mutants.promising(scenario) if invariants in mutants.RULES else scenario
        ran = agent.call("run", scenarios=[where], exec=program, schedules=500, **{"exec-limit": "5m"})
        found = ran["results"][0]
        if found.get("invariant") not in invariants.split():
            sys.exit("%s: run answered %s" % (name, ran["text"]))
        explained = agent.call("explain", scenario=found["record"], exec=program, tails=2)
        replayed = agent.call("replay", scenario=found["record"], exec=program)
        if not explained["text"] or replayed["results"][0]["invariant"] != found["invariant"] or not replayed["state"]:
            sys.exit("%s: explained as %s, replayed as %s" % (name, explained["text"], replayed["text"]))
        print("nodes: an agent finds, explains and replays: %s (%s)" % (name, found["invariant"]), flush=True)
    agent.server.stdin.close()
    sys.exit(agent.server.wait())


main()
