"""Breaks the caches, the lock and the calls of this folder in the ways that teams do, one at a time, and sees isr-sim
find each.

    python3 mutants.py [--seeds 10] [--schedules 500] [--check] [--only REGEXP] [--isr-sim COMMAND]
                       [--languages TypeScript,Python,lock,once]

The isr-sim that is run, and the packages of the nodes, are those of the shell. It prints a table, and exits with 1 if a
mutant was not found under a seed, was found by another invariant, or if its shrunk schedule needs more than four
switches or comes out otherwise when it is run again.

Bugs of the lock and of the calls are looked for in drawn worlds, by isr-sim check; those of the caches in the scenario
that the table names, or, with --check, in drawn worlds, too.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_SWITCHES = 4

# Each mutant has: what the team wrote; the scenario; the invariants, any of which may be violated, there and in drawn
# worlds; and the texts that are replaced in cache.ts and in cache.py.
MUTANTS = [
    ("the publish asks for nothing", "paused-writer", "stale-writer",
     ["this.own(key, token, ' AND lease_expires_at > :now', { ':now': N(now()) })",
      "{ TableName: this.o.table, Key: this.row(key, 'LOCK') }"],
     [", **own}}", "}}"]),
    ("the publish asks for the token alone", "two-contenders", "expired-publish",
     ["this.own(key, token, ' AND lease_expires_at > :now', { ':now': N(now()) })", "this.own(key, token)"],
     ['"lease_token = :token AND lease_expires_at > :now",\n               '
      '"ExpressionAttributeValues": {":token": S(token), ":now": N(now())}',
      '"lease_token = :token",\n               "ExpressionAttributeValues": {":token": S(token)}']),
    ("the publish asks for the end of the lease alone", "two-contenders", "stale-writer",
     ["this.own(key, token, ' AND lease_expires_at > :now', { ':now': N(now()) })",
      "{ ...this.own(key, token), ConditionExpression: 'lease_expires_at > :now', "
      "ExpressionAttributeValues: { ':now': N(now()) } }"],
     ['"lease_token = :token AND lease_expires_at > :now",\n               '
      '"ExpressionAttributeValues": {":token": S(token), ":now": N(now())}',
      '"lease_expires_at > :now",\n               "ExpressionAttributeValues": {":now": N(now())}']),
    ("no second look", "two-contenders", "single-flight",
     ["const again = await this.read(key)", "const again = undefined as Page | undefined"],
     ["again = self.read(key)", "again = None"]),
    ("the lock is taken without a condition", "two-contenders", "lock-theft",
     ["Item, ...free,", "Item,"],
     ['ConditionExpression="attribute_not_exists(pk) OR lease_expires_at <= :now",\n'
      '                ExpressionAttributeValues={":now": N(now())})', ")"]),
    ("the lock is taken two seconds early", "paused-writer", "lock-theft",
     ["ExpressionAttributeValues: { ':now': N(now()) }", "ExpressionAttributeValues: { ':now': N(now() + 2) }"],
     ['ExpressionAttributeValues={":now": N(now())})\n            return token',
      'ExpressionAttributeValues={":now": N(now() + 2)})\n            return token']),
    ("the page is put, and then the lock deleted", "two-contenders", "atomic-publish",
     ["{ Delete: lock }],\n    }).then(() => true,",
      "{ ConditionCheck: lock }],\n    }).then(() => this.release(key, token).then(() => true),"],
     ['{"Delete": {"TableName": self.table, "Key": self.row(key, "LOCK"), **own}}])',
      '{"ConditionCheck": {"TableName": self.table, "Key": self.row(key, "LOCK"), **own}}])\n'
      '            self.release(key, token)']),
    ("the body is put after the page", "two-contenders", "no-dangling-pointer",
     ["    await this.o.bodies.put(page.s3Key, body)\n"
      "    return await this.commitGeneration(key, token, page) ? this.serve(page, body) : undefined",
      "    const done = await this.commitGeneration(key, token, page)\n"
      "    await this.o.bodies.put(page.s3Key, body)\n    return done ? this.serve(page, body) : undefined"],
     ['        self.bodies.put(page["s3_key"], body)\n'
      '        return self.serve(page, body) if self.commit_generation(key, token, at, page) else None',
      '        done = self.commit_generation(key, token, at, page)\n        self.bodies.put(page["s3_key"], body)\n'
      '        return self.serve(page, body) if done else None']),
    ("one body name for all generations", "steady-reads", "freshness monotonic-reads liveness",
     ["s3Key: `${key}/${token}`", "s3Key: `${key}`"],
     ['{"s3_key": key + "/" + token,', '{"s3_key": key,']),
    ("ttl in milliseconds", "two-contenders", "ttl-well-formed",
     ["N(page.until + this.o.config.retention + this.o.config.ttlBuffer)",
      "N((page.until + this.o.config.retention + this.o.config.ttlBuffer) * 1000)"],
     ['N(page["until"] + self.config["retention"] + self.config["ttlBuffer"])',
      'N((page["until"] + self.config["retention"] + self.config["ttlBuffer"]) * 1000)']),
    ("an own lock, whose answer was lost, is not recognised", "lost-response", "liveness",
     ["return e.Item?.lease_token?.S === token ? token : undefined", "return undefined"],
     ['return token if held.get("lease_token") == S(token) else None', "return None"]),
    ("everything is served as fresh", "skewed-clocks", "freshness",
     ["fresh: now() < page.until }", "fresh: true }"],
     ['return body, now() < page["until"]', "return body, True"]),
]

# Where answers are lost, drawn worlds allow the wait of one lease, which many caches need (docs/CHECK.md). So a check
# does not promise to find this one.
NOT_DRAWN = "an own lock, whose answer was lost, is not recognised"

# The rules of the recipe are judged where they are promised: breaking one serves no wrong page.
RULES = ["expired-publish", "atomic-publish"]

# Those of lock.ts: what the team wrote, its BUG, and the invariants, any of which may be violated.
LOCK_MUTANTS = [
    ("the lock is taken without a condition", "unconditional", "mutual-exclusion guarded-write"),
    ("the lock is taken two seconds early", "early", "mutual-exclusion guarded-write kept-lease"),
    ("its end is cut to whole seconds", "seconds", "mutual-exclusion guarded-write kept-lease"),
    ("it is extended whoever holds it", "extends-any", "mutual-exclusion guarded-write lock-liveness free-lock"),
    ("it is given back whoever holds it", "releases-any", "mutual-exclusion guarded-write kept-lease"),
    ("every holder has the same token", "same-token", "guarded-write"),
    ("its row is deleted, and its token with it", "deletes", "guarded-write"),
    ("still held is said without a look", "held", "mutual-exclusion guarded-write"),
    ("an own lock, whose answer was lost, is not recognised", "own", "free-lock"),
    ("it is not given back", "keeps", "free-lock lock-liveness"),
    ("it is never taken over", "never", "lock-liveness free-lock"),
    ("a wait before it is tried", "waits", "free-lock"),
]


# Those of once.ts.
ONCE_MUTANTS = [
    ("whoever fails deletes the row, whosever it is", "gives-up-anyones", "effect-once"),
    ("the row is deleted when the result could not be written", "gives-up-what-happened", "effect-once"),
    ("a row in progress is taken for free", "unconditional", "effect-once same-result"),
    ("a look, and then a put that asks for nothing", "looks-first", "effect-once same-result"),
    ("it is taken over a second early", "early", "effect-once"),
    ("it is forgotten after half its time", "forgets", "effect-once"),
    ("the result is written without a condition", "completes-blindly", "same-result"),
    ("an effect that failed is recorded as completed", "completes-what-failed", "same-result"),
    ("the payload is not compared", "any-payload", "same-payload"),
    ("an own row, whose answer was lost, is not recognised", "own", "free-call"),
    ("a call in progress is never taken over", "never", "call-liveness free-call"),
]


def broken(source, old, new):
    if source.count(old) != 1:
        sys.exit("found %d times, expected once: %s" % (source.count(old), old))
    return source.replace(old, new)


def built(program):
    return "exec node built/" + program.replace(".ts", ".js")


def build(program):
    """A program starts in half the time if tsx has nothing to translate."""
    subprocess.run(["node_modules/.bin/esbuild", program, "--bundle", "--packages=external", "--platform=node",
                    "--format=esm", "--outdir=built", "--log-level=warning"], check=True)


def run(args, *more):
    limit = ["--exec-limit", "60s"]  # of a busy machine
    done = subprocess.run([args.isr_sim, *more, *limit], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def processor():
    """The seconds of a processor that the commands have taken, with their nodes, whatever else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Found:
    """What the seeds of a bug took, at most, and what went wrong."""

    def __init__(self, names):
        self.names, self.schedules, self.seconds, self.processor, self.errors = names, 0, 0, 0, []

    def search(self, args, seed, count, *more):
        """Looks for the bug by a command, whose output has the schedules as count says. It returns the output if it was
        found."""
        began, used = time.monotonic(), processor()
        code, output = run(args, *more, "--seed", str(seed))
        self.seconds = max(self.seconds, time.monotonic() - began)
        self.processor = max(self.processor, processor() - used)
        found = re.search(r"violated: ([a-z-]+)", output)
        if code != 1 or not found or found[1] not in self.names:
            self.errors.append("seed %d: exit %d, %s\n%s" % (seed, code, found and found[1], output))
            return None
        self.schedules = max(self.schedules, int(re.search(count, output)[1]))
        return output

    def drawn(self, args, command, *kind):
        """Looks for the bug of a command's program in drawn worlds, under each seed."""
        for seed in range(1, args.seeds + 1):
            with tempfile.TemporaryDirectory() as keep:  # in which no run of another bug is
                self.search(args, seed, r"drawn worlds +exec .*? +(\d+) +\d+  violated", "check", *kind,
                            "--exec", command, "--shrink-time", "0s", "--keep", keep)

    def row(self, mutant, where, language):
        print("| %s | %s | %s | %s | %s | %.0f | %.0f |" % (
            mutant, where, " or ".join("`%s`" % n for n in self.names), language,
            "see below" if self.errors else self.schedules, self.seconds, self.processor), flush=True)
        for e in self.errors:
            print(e, file=sys.stderr)
        return bool(self.errors)


def promising(scenario):
    """The file of a scenario whose cache promises the recipe."""
    with open(os.path.join(HERE, "..", "..", "fixtures", "scenarios", scenario + ".yaml")) as f:
        text = f.read()
    with open("promising.yaml", "w") as f:
        f.write(text.rstrip("\n") + "\npromise: {recipe: true}\n")
    return "promising.yaml"


def check(args, language, mutant):
    name, scenario, invariants, *changes = mutant
    source, command, change = {
        "TypeScript": ("cache.ts", built("node.ts"), changes[0]),
        "Python": ("cache.py", "exec " + sys.executable + " node.py", changes[1]),
    }[language]
    with open(source) as f:
        original = f.read()
    try:
        with open(source, "w") as f:
            f.write(broken(original, *change))
        if language == "TypeScript":
            build("node.ts")
        found = Found(invariants.split())
        if args.check:
            found.drawn(args, command, *(["--recipe"] if invariants in RULES else []))
            return found.row(name, "drawn worlds", language)
        where = promising(scenario) if invariants in RULES else scenario
        for seed in range(1, args.seeds + 1):
            output = found.search(args, seed, r"found in schedule (\d+)", "run", "--exec", command,
                                  "--schedules", str(args.schedules), where)
            if output and seed == 1:
                found.errors += shrunk(args, command, where, output)
        return found.row(name, "`%s`" % scenario, language)
    finally:
        with open(source, "w") as f:
            f.write(original)


def check_drawn(args, kind, name, bug, invariants):
    """A bug of the lock, or of the calls."""
    found = Found(invariants.split())
    os.environ["BUG"] = bug
    build("%s-node.ts" % kind)
    found.drawn(args, built("%s-node.ts" % kind), "--" + kind)
    del os.environ["BUG"]
    return found.row(name, "drawn worlds", "TypeScript")


def shrunk(args, command, scenario, output):
    replay = re.search(r"--seed (\d+) --choices '?([0-9a-z.-]+)'?", output)
    _, said = run(args, "shrink", "--exec", command, "--seed", replay[1], "--choices", replay[2], "-o", "shrunk.yaml",
                  scenario)
    switches = re.search(r"^context switches +\d+ +(\d+)$", said, re.M)  # before and after
    if not switches or int(switches[1]) > MAX_SWITCHES:
        return ["its shrunk schedule: %s" % said]
    traces = set()
    for cores in ["1", "2", "2"]:
        os.environ["GOMAXPROCS"] = cores
        traces.add(run(args, "replay", "--exec", command, "shrunk.yaml")[1])
    del os.environ["GOMAXPROCS"]
    return [] if len(traces) == 1 else ["three replays differ:\n" + "\n".join(traces)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seeds", type=int, default=10)
    p.add_argument("--schedules", type=int, default=500)
    p.add_argument("--check", action="store_true")
    p.add_argument("--only", default="")
    p.add_argument("--languages", default="TypeScript,Python,lock,once")
    p.add_argument("--isr-sim", default="isr-sim")
    args = p.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as work:
        for name in os.listdir(HERE):
            if name != "node_modules" and os.path.isfile(os.path.join(HERE, name)):
                shutil.copy(os.path.join(HERE, name), work)
        if os.path.isdir(os.path.join(HERE, "node_modules")):
            os.symlink(os.path.join(HERE, "node_modules"), os.path.join(work, "node_modules"))
        os.chdir(work)
        print("| the team wrote | scenario | invariant | language | most schedules of %d seeds | seconds "
              "| of a processor |\n|---|---|---|---|---|---|---|" % args.seeds)
        languages = args.languages.split(",")
        for mutant in MUTANTS:
            for language in [l for l in languages if l not in ("lock", "once")]:
                if re.search(args.only, mutant[0]) and not (args.check and mutant[0] == NOT_DRAWN):
                    failed = check(args, language, mutant) or failed
        for kind, mutant in [("lock", m) for m in LOCK_MUTANTS] + [("once", m) for m in ONCE_MUTANTS]:
            if kind in languages and re.search(args.only, mutant[0]):
                failed = check_drawn(args, kind, *mutant) or failed
    sys.exit(failed)


if __name__ == "__main__":
    main()
