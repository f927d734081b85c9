"""A simulator of one node: it tells the kit's process lines, and answers its requests one at a time when it is
quiet."""

import datetime
import http.server
import importlib.util
import json
import os
import socket
import subprocess
import sys
import textwrap
import threading
import unittest

START = 1_000_000_000_000
KIT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Simulator:
    def __init__(self, body, create="lambda init: Node()", commands=1, script=None, more="['get']", breaks=0, lives=1,
                 attempts=3):
        script = script or [{"verb": "get", "key": "/home"}] * commands
        self.lines, self.real, self.late = [], [], []
        self.requests = []  # that are lines; the first of them break
        self.replies, self.fresh, self.begun = [], [], 0
        self.parked, self.quiet, self.time, self.steps, self.mutex = {}, None, START, [], threading.RLock()
        self.besides = []  # how many timers may fire in the place of the first one, by step
        simulator = self

        class Door(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                come = threading.Event()
                number, alone = int(self.headers["X-Isr-Sim-Request"]), self.headers["X-Isr-Sim-Quiet"]
                simulator.arrives(number, alone, self.command + " " + self.path, lambda _: come.set())
                come.wait(10)
                text = ("of " + self.path).encode()
                self.send_response(200)
                self.send_header("X-Isr-Sim-Time", str(simulator.time))
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        source = "import isr_sim, asyncio, threading, time, datetime, random, uuid, queue, concurrent.futures\n"
        source += "class Node:\n    def get(self, key):\n" + textwrap.indent(textwrap.dedent(body) or "pass", " " * 8)
        source += "\nisr_sim.node(%s, %s)\n" % (create, more)
        environment = {**os.environ, "PYTHONPATH": KIT, "PYTHONDONTWRITEBYTECODE": "1"}
        self.child = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True, env=environment)
        resetting = False
        for text in self.child.stdout:
            line = json.loads(text)
            with self.mutex:
                if line["type"] == "hello":
                    self.lines.append(line)
                    endpoint = "http://127.0.0.1:%d" % server.server_port
                    credentials = {"accessKeyId": "a", "secretAccessKey": "s"}
                    init = dict(type="init", actor="carol.2", seed=5, endpoint=endpoint, region="r",
                                credentials=credentials, config={"attempts": attempts})
                    self.tell(**init)
                elif line["type"] == "ready" and resetting:
                    resetting = False
                    self.tell(**init)
                elif line["type"] == "ready":
                    self.begun = len(self.steps)
                    self.tell(type="command", id=1, **script[0])
                elif line["type"] == "real":
                    self.real.append(line["what"])
                elif line["type"] == "late":
                    self.late.append(line["number"])
                elif line["type"] == "request":
                    self.take_in(line, broken=len(self.requests) < breaks)
                elif line["type"] == "quiet":
                    self.quiet = line
                    self.step()
                else:
                    self.reply = line.get("error", line.get("body"))
                    self.replies.append(self.reply)
                    self.lines.append(line)
                    self.fresh.append(line.get("fresh"))
                    done = len(self.replies) % len(script)
                    if done > 0:
                        self.tell(type="command", id=1 + len(self.replies), **script[done])
                    elif len(self.replies) < lives * len(script):
                        resetting = True
                        self.time = START
                        self.tell(type="reset")
                    else:
                        self.tell(type="end")
        self.child.wait(10)
        self.child.stdin.close()
        self.child.stdout.close()
        server.shutdown()
        server.server_close()

    def tell(self, **line):
        self.child.stdin.write(json.dumps({"time": self.time, **line}) + "\n")
        self.child.stdin.flush()

    def take_in(self, line, broken):
        def reply(text):
            text = "" if line["headers"] and line["method"] != "GET" else text  # which no AWS SDK could read
            self.tell(type="answer", number=line["number"], status=0 if broken else 200, headers={}, text=text)
        self.requests.append(line)
        if "sleep" in line["target"]:
            self.time += int(float(line["target"].split("=")[1]))
        self.arrives(line["number"], line["quiet"], line["method"] + " " + line["target"], reply)

    def arrives(self, number, alone, what, reply):
        with self.mutex:
            self.parked[number] = what, reply
            if alone:
                self.quiet = {"requests": [number]}
            self.step()

    def step(self):
        if self.quiet is None or set(self.quiet["requests"]) != set(self.parked):
            return
        now, self.quiet = self.quiet, None
        if now["requests"]:
            asked, reply = self.parked.pop(max(now["requests"]))
            self.steps.append(asked)
            self.time += 1000
            reply("of " + asked.split(" ")[1])
        else:
            self.time += now["after"]
            self.besides.append(len(now.get("also", [])))
            self.steps.append("timer after %d" % now["after"])
            self.tell(type="wake", timer=now["timer"])


def origins(keys):
    return ["GET /_isr-sim/origin?key=" + key for key in keys]


class KitTest(unittest.TestCase):
    def test_requests_of_threads_are_under_way_at_once(self):
        for body in [
            """
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                return ",".join(pool.map(isr_sim.origin, "abc")), False
            """, """
            async def all():
                return await asyncio.gather(*(asyncio.to_thread(isr_sim.origin, key) for key in "abc"))
            return ",".join(asyncio.run(all())), False
            """, """
            done = queue.Queue()
            threads = [threading.Thread(target=lambda key=key: done.put(isr_sim.origin(key))) for key in "abc"]
            for t in threads: t.start()
            for t in threads: t.join()
            return ",".join(sorted(done.get() for _ in threads)), False
            """,
        ]:
            s = Simulator(body)
            self.assertEqual(s.steps, origins("cba"))  # the last one first
            self.assertEqual(s.reply, ",".join("of /_isr-sim/origin?key=" + key for key in "abc"))

    def test_a_time_limit_of_a_future_is_said(self):
        for limited in "a.result(0)", "a.exception(0)", "asyncio.run(waits(pool))", "event.wait(0) or a.result()":
            s = Simulator("""
                async def waits(pool):
                    await asyncio.wait_for(asyncio.wrap_future(a), 0)
                event = threading.Event()
                pool = concurrent.futures.ThreadPoolExecutor(2)
                a, b = (pool.submit(isr_sim.origin, key) for key in "ab")
                b.result()
                try:
                    %s
                except (concurrent.futures.TimeoutError, asyncio.TimeoutError):
                    return "late", False
                return "in time", False
            """ % limited)
            self.assertEqual((s.late, s.reply), ([], "in time") if "event" in limited else ([1], "late"), limited)

    def test_each_life_is_a_process_with_a_number(self):
        s = Simulator("""
            import os
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.write(write, str(os.getpid()).encode())
                os._exit(0)
            return "%d %s" % (os.getpid(), int(os.read(read, 20)) == pid), False
        """)
        self.assertEqual(s.reply, "%d True" % (2**22 + 6))

    def test_each_actor_is_a_host(self):
        s = Simulator("""
            import os, platform, socket
            names = {socket.gethostname(), socket.getfqdn(), platform.node(), platform.uname().node}
            return str(names | {os.uname().nodename}), False
        """, create="(__import__('platform').uname(), lambda init: Node())[1]")
        self.assertEqual(s.reply, "{'carol'}")

    def test_each_life_may_be_a_process_of_its_own(self):
        for more, resets in [("['get']", True), ("['get'], new_process=True", False)]:
            s = Simulator("return '', False", more=more)
            self.assertEqual("reset" in s.lines[0]["can"], resets)

    def test_the_host_has_an_address(self):
        s = Simulator("""
            import socket
            at = [look_up(socket.gethostname()) for look_up in (socket.gethostbyname, socket.gethostbyname_ex)]
            return str((*at, socket.getaddrinfo(socket.gethostname(), 80))), False
        """)
        at = [look_up(socket.gethostname()) for look_up in (socket.gethostbyname, socket.gethostbyname_ex)]
        self.assertEqual(s.reply, str((*at, socket.getaddrinfo(socket.gethostname(), 80))))

    def test_one_thread_reads_at_a_time(self):
        s = Simulator("""
            import sys
            threads, mutex, read = isr_sim._threads, isr_sim._threads._mutex, isr_sim._threads.read
            class Slow:  # has the thread that has read for others pause, until the node's own reads
                acquire, release = mutex.acquire, mutex.release
                def __enter__(self): mutex.acquire()
                def __exit__(self, *_):
                    mutex.release()
                    for _ in range(1000):
                        if sys._getframe(1).f_code.co_name != "read_on" or threads._reads: break
                        threads._real_sleep(0.001)
            threads._mutex, threads.read = Slow(), lambda: threads._real_sleep(0.02) or read()
            threading.Event().wait(1)
            got = isr_sim.origin("a"), isr_sim.origin("b")
            threads._mutex, threads.read = mutex, read
            return str(got), False
        """, commands=2)
        self.assertEqual(s.replies, ["('of /_isr-sim/origin?key=a', 'of /_isr-sim/origin?key=b')"] * 2)

    def test_what_is_derived_once_is_not_kept_for_sessions_that_are_over(self):
        s = Simulator("""
            import weakref
            derived, session = isr_sim._kit._once(lambda of: {of}), object()
            kept = weakref.WeakSet(derived(Node()).copy().pop() for _ in range(100))
            return str((derived(session) is derived(session), len(kept) < 10)), False
        """)
        self.assertEqual(s.reply, "(True, True)")

    def test_threads_of_a_life_that_is_over_are_not_there(self):
        pool = "self.pool = concurrent.futures.ThreadPoolExecutor(1)\n"
        for begin in [
            pool,
            pool.replace("=", "= Node.of_all = getattr(Node, 'of_all', None) or"),  # of the process
            pool + """beat = lambda: time.sleep(2) or isr_sim.origin("beat") and beat()
threading.Thread(target=beat, daemon=True).start()""",
            pool + """loop = asyncio.new_event_loop()
loop.call_later(5, print)
threading.Thread(target=loop.run_forever, daemon=True).start()""",
            pool + """Node.loop = getattr(Node, "loop", None) or asyncio.new_event_loop()
if not Node.loop.is_running(): threading.Thread(target=Node.loop.run_forever, daemon=True).start()
async def beat(): isr_sim.origin("beat")
asyncio.run_coroutine_threadsafe(beat(), Node.loop)
isr_sim.origin("beside it")""",
        ]:
            body = "isr_sim.origin('a')\ntime.sleep(1)\nif not hasattr(self, 'pool'):\n"
            body += textwrap.indent(begin, "    ")
            body += "\ngot = self.pool.submit(isr_sim.origin, 'b').result()\ntime.sleep(1)\nreturn got, False"
            one, three = (Simulator(body, commands=3, lives=lives) for lives in (1, 3))
            self.assertEqual((three.steps, three.replies), (one.steps * 3, one.replies * 3))

    def test_a_process_with_many_threads_of_lives_that_are_over_ends(self):
        s = Simulator("""
            for _ in range(20): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            return "", False
        """, lives=5)
        self.assertEqual((len(s.replies), s.child.returncode), (3, 0))

    def test_other_libraries_send_theirs_over_http(self):
        s = Simulator("""
            import urllib.request
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                ask = lambda name: urllib.request.urlopen(self.endpoint + "/" + name).read().decode()
                return ",".join([ask("a"), *pool.map(ask, "bc"), str(time.monotonic())]), False
        """, create="lambda init: setattr(Node, 'endpoint', init['endpoint']) or Node()")
        self.assertEqual((s.steps, s.requests), (["GET /a", "GET /c", "GET /b"], []))
        self.assertEqual(s.reply, "of /a,of /b,of /c,3.0")

    @unittest.skipUnless(importlib.util.find_spec("boto3"), "needs boto3")
    def test_those_of_botocore_are_lines_and_a_broken_one_is_sent_again(self):
        s = Simulator("""
            import boto3, io
            db, s3 = (boto3.client(of, **isr_sim.boto3_options(self.init)) for of in ("dynamodb", "s3"))
            s3.put_object(Bucket="b", Key="k ü", Body=io.BytesIO(b"\\xff"))
            found = s3.get_object(Bucket="b", Key="k", VersionId="v w")["Body"]
            db.get_item(TableName="table", Key={"pk": {"S": "ü"}})
            return found.read().decode(), False
        """, create="lambda init: setattr(Node, 'init', init) or Node()", breaks=1)
        sleep, asked = s.steps.pop(1), [r for r in s.requests if "sleep" not in r["target"]]
        self.assertEqual(s.steps, ["PUT /b/k%20%C3%BC"] * 2 + ["GET /b/k?versionId=v%20w", "POST /"])
        self.assertRegex(sleep, "^POST /_isr-sim/sleep")
        row = '{"TableName": "table", "Key": {"pk": {"S": "\\u00fc"}}}'
        self.assertEqual([r.get("body", r.get("text")) for r in asked], ["/w==", "/w==", "", row])
        self.assertEqual(s.reply, "of /b/k?versionId=v%20w")

    @unittest.skipUnless(importlib.util.find_spec("boto3"), "needs boto3")
    def test_a_scenario_says_how_often_botocore_sends_a_request(self):
        for of, want in ("", 1), (", config=boto3.session.Config(retries={'total_max_attempts': 2})", 2):
            s = Simulator("""
                import boto3
                boto3.client("dynamodb", **isr_sim.boto3_options(self.init)%s).list_tables()
            """ % of, create="lambda init: setattr(Node, 'init', init) or Node()", breaks=5, attempts=1)
            self.assertEqual((s.steps.count("POST /"), s.reply[:21]), (want, "ConnectionClosedError"))

    def test_time_moves_by_answers_and_timers_alone(self):
        s = Simulator("""
            began = time.time()
            isr_sim.origin("a")
            time.sleep(1.5)
            now = datetime.datetime.now().timestamp()
            return "%s %s %s" % (time.time() - began, time.monotonic(), now - began), False
        """)
        self.assertEqual(s.steps, origins("a") + ["POST /_isr-sim/sleep?ms=1500.000000"])
        self.assertEqual(s.reply, "3.5 3.5 3.5")

    def test_no_clock_is_real(self):
        """Every clock of docs/NODES.md that the kit replaces, when an answer has taken a second."""
        s = Simulator("""
            import email.utils, json
            isr_sim.origin("a")
            utc = datetime.timezone.utc
            return json.dumps([
                time.time(), time.time_ns() / 1e9, time.clock_gettime(time.CLOCK_REALTIME),
                time.mktime(time.localtime()), time.mktime(time.strptime(time.ctime())),
                time.mktime(time.strptime(time.asctime())), int(time.strftime("%s")),
                __import__("calendar").timegm(time.gmtime()), datetime.datetime.now().timestamp(),
                datetime.datetime.now(utc).timestamp(), datetime.datetime.today().timestamp(),
                datetime.datetime.utcnow().replace(tzinfo=utc).timestamp(), email.utils.localtime().timestamp(),
                email.utils.parsedate_to_datetime(email.utils.formatdate()).timestamp(),
                (uuid.uuid1().time - 0x01b21dd213814000) / 1e7,
            ]) + "|" + json.dumps([
                time.monotonic(), time.perf_counter(), time.process_time(), time.thread_time(),
                time.monotonic_ns() / 1e9, time.perf_counter_ns() / 1e9, time.process_time_ns() / 1e9,
                time.thread_time_ns() / 1e9, time.clock_gettime(time.CLOCK_MONOTONIC),
                asyncio.new_event_loop().time(), threading._time(), queue.time(),
            ]) + "|" + str([
                datetime.date.today(), isinstance(datetime.datetime.now(), datetime.date),
                isinstance(datetime.date.today(), datetime.date),
            ]), False
        """)
        now, since, days = s.reply.split("|")
        self.assertEqual(set(json.loads(now)), {START / 1000 + 1}, now)
        self.assertEqual(set(json.loads(since)), {1.0}, since)
        self.assertEqual(days, str([datetime.date.fromtimestamp(START / 1000), True, True]))

    def test_every_wait_is_simulated(self):
        s = Simulator("""
            late, empty, woken = [], queue.Queue(), threading.Condition()
            threading.Timer(0.5, late.append, ["timer"]).start()
            try: empty.get(timeout=1)
            except queue.Empty: late.append("queue")
            with woken: late.append(woken.wait_for(lambda: False, timeout=1))
            try: asyncio.run(asyncio.wait_for(asyncio.sleep(9), 1))
            except asyncio.TimeoutError: late.append("asyncio")
            done = concurrent.futures.wait([concurrent.futures.Future()], timeout=1).done
            return str([late, len(done), time.monotonic()]), False
        """)
        self.assertEqual(s.reply, str([["timer", "queue", False, "asyncio"], 0, 4.0]))

    def test_a_reply_waits_for_requests_that_nobody_awaits(self):
        s = Simulator("""
            threading.Thread(target=lambda: isr_sim.origin("heartbeat") and isr_sim.origin("more"), daemon=True).start()
            return "done", True
        """, commands=2)
        self.assertEqual(s.steps, origins(["heartbeat", "more"]) * 2)
        self.assertEqual((s.replies, s.fresh), (["done", "done"], [False, False]))  # time has passed since it was fresh

    def test_ready_waits_for_requests_that_nobody_awaits(self):
        s = Simulator("return 'done', True",
                      create="lambda init: threading.Thread(target=isr_sim.origin, args='a').start() or Node()")
        self.assertEqual((s.begun, s.steps, s.fresh), (1, origins("a"), [True]))

    def test_a_reply_says_that_something_is_left_to_do_later(self):
        s = Simulator("""
            if len(beats) == 1:
                beats.pop().cancel()
            else:
                beats.append(threading.Timer(60, print))
                beats[0].start()
            return "done", True
        """, create="lambda init: globals().update(beats=[]) or Node()", commands=2)
        self.assertEqual([line.get("later") for line in s.lines[1:]], [True, None])

    def test_what_the_cache_prints_is_no_line(self):
        s = Simulator("""
            import os, subprocess, sys
            print("a line")
            sys.stdout.write("half a line")
            os.write(1, b"of a library")
            subprocess.run(["cat"])  # it reads no lines of the protocol
            subprocess.run(["echo", "of a child"])
            return "done", False
        """)
        self.assertEqual(s.reply, "done")

    def test_a_method_that_the_cache_lacks_is_skipped(self):
        s = Simulator("", create="lambda init: object()")
        self.assertEqual(
            s.reply, "NotImplementedError: skipped: the cache has no method get, which can says that it has")

    def test_a_mistake_in_what_a_cache_returns_ends_its_process(self):
        for returned, want in {
            "{'html': 'a', 'fresh': True}": "get returned a dict, expected (body, fresh): ",
            "'a page'": "get returned a str, expected (body, fresh): ",
            "(7, True)": "get returned a body that is a int, expected text",
        }.items():
            source = "import isr_sim\nclass Node:\n    def get(self, key): return %s\n" % returned
            source += "isr_sim.node(lambda init: Node(), ['get'])"
            lines = [
                {"type": "init", "actor": "a", "seed": 1, "endpoint": "http://127.0.0.1:1", "config": {}},
                {"type": "command", "id": 1, "verb": "get", "key": "/home"},
            ]
            ended = subprocess.run(
                [sys.executable, "-c", source], input="".join(json.dumps({**x, "time": START}) + "\n" for x in lines),
                capture_output=True, text=True, env={**os.environ, "PYTHONPATH": KIT, "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual((ended.returncode, "isr-sim: " + want in ended.stderr), (1, True), ended.stderr)

    def test_a_child_does_not_outlive_its_life(self):
        s = Simulator("""
            import os, subprocess
            child = subprocess.Popen(["sleep", "600"], start_new_session=True)
            pid = os.fork()
            if pid == 0:
                time.sleep(600)
                os._exit(0)
            return "%d %d" % (child.pid, pid), False
        """)
        for pid in s.reply.split():
            self.assertRaises(ProcessLookupError, os.kill, int(pid), 0)

    def test_a_heartbeat_beats_until_it_is_stopped(self):
        s = Simulator("""
            beats, over = [], threading.Event()
            def beat():
                while not over.wait(0.3): beats.append(time.monotonic())
            heart = threading.Thread(target=beat)
            heart.start()
            time.sleep(1)
            over.set()
            heart.join()
            return str(beats), False
        """)
        self.assertEqual(s.reply, "[0.3, 0.6, 0.9]")

    def test_the_heart_of_a_lock_beats_while_it_is_held(self):
        def job(verb, **more):
            return {"verb": verb, "key": "job", **more}
        s = Simulator("""
            beats, over = [], threading.Event()
            def beat():
                while not over.wait(1): beats.append(key)
            class Held:
                token = 7
                def held(self):
                    return len(beats) == 2
                def release(self):
                    over.set()
                    raise ValueError("%d beats" % len(beats))
            threading.Thread(target=beat).start()
            return Held()
        """, create="lambda init: type('Lock', (), {'hold': Node().get})",
            more='["hold", "held"], {"heartbeats": True}',
            script=[job("hold"), job("held"), job("work", **{"for": 2.5}), job("held"), job("extend"), job("release")])
        hello, *replies = s.lines
        self.assertEqual((hello["can"][:3], hello["lock"]), (["hold", "held", "work"], {"heartbeats": True}))
        for r in replies:
            del r["type"], r["id"]
        self.assertEqual(replies, [
            {"token": 7, "later": True}, {"held": False, "later": True}, {"later": True}, {"held": True, "later": True},
            {"error": "NotImplementedError: skipped: what hold returned has no method extend, "
                      "which can says that it has", "later": True},
            {"error": "ValueError: 2 beats"},
        ])

    def test_a_token_that_is_no_whole_number_is_told_as_it_is_for_isr_sim_to_refuse(self):
        tokens = {"7": 7, "'8'": 8, "decimal.Decimal(9)": 9, "None": None, "'abc'": "abc, a str", "7.5": "7.5, a float",
                  "float('nan')": "nan, a float", "True": "True, a bool", "[]": "[], a list"}
        s = Simulator("""
            import decimal
            class Held:
                def __init__(self, token): self.token = token
                def release(self): pass
            return Held([%s][int(key)])
        """ % ", ".join(tokens), create="lambda init: type('Lock', (), {'hold': Node().get})", more='["hold"]',
            script=[{"verb": "hold", "key": str(i)} for i in range(len(tokens))])
        self.assertEqual([r.get("token") for r in s.lines[1:]], list(tokens.values()))

    def test_a_call_asks_for_its_effect_and_says_why_it_was_refused(self):
        once = "lambda self, key, payload, effect: key + effect() if payload == 'a' else self.get(key)"
        s = Simulator("raise isr_sim.OtherPayload('of a')", more='["once"], {"payload": True}',
                      create="lambda init: type('Calls', (Node,), {'once': %s})()" % once,
                      script=[{"verb": "once", "key": "order-7", "payload": p} for p in "ab"])
        hello, *replies = s.lines
        self.assertEqual((s.steps, hello["once"]), (["POST /_isr-sim/effect"], {"payload": True}))
        self.assertIn("work", hello["can"])  # between commands, its timers fire too
        for r in replies:
            del r["type"], r["id"]
        self.assertEqual(
            replies, [{"body": "order-7of /_isr-sim/effect"}, {"error": "OtherPayload: of a", "other": True}])

    def test_what_is_not_simulated_is_said_once(self):
        s = Simulator("""
            import multiprocessing, signal, subprocess, _thread
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            subprocess.run(["true"])
            multiprocessing.get_context("spawn").Process(target=print).start()
            signal.alarm(100)
            _thread.start_new_thread(int, ())
            threading.Thread(target=int).start()
            return "", False
        """, commands=2)
        self.assertEqual(s.real, [
            "what child processes do", "alarms of the system", "threads that are started without threading",
            "threads that are stopped elsewhere than where they wait"])
        self.assertEqual(Simulator("return isr_sim.origin('a'), False").real, [])
        for child in ("os.system('true')", "os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', ''], {}), 0)"):
            self.assertEqual(Simulator("import os; %s; return '', False" % child).real, ["what child processes do"])
        s = Simulator("return 'a', False", create="(threading.Thread(target=int).start(), lambda init: Node())[1]")
        self.assertEqual(s.real, ["threads that are started while modules are imported"])

    def test_a_connection_to_another_host_is_not_simulated_and_that_is_said(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            at = "socket.create_connection(('127.0.0.1', %d))" % other.getsockname()[1]
            for s in (Simulator("import socket; %s; return '', False" % at),
                      Simulator("return '', False",
                                create="(exec(%r), lambda init: Node())[1]" % ("import socket; " + at))):
                self.assertEqual(s.real, ["connections to others than isr-sim"])
        s = Simulator("import urllib.request; return urllib.request.urlopen(self.at + '/x').read().decode(), False",
                      create="lambda init: setattr(Node, 'at', init['endpoint']) or Node()")
        self.assertEqual((s.real, s.reply), ([], "of /x"))

    def test_asyncio_sleeps_by_the_simulated_clock(self):
        s = Simulator("""
            async def both():
                await asyncio.gather(asyncio.sleep(2), asyncio.sleep(1))
                return time.monotonic()
            return str(asyncio.run(both())), False
        """)
        self.assertEqual((s.steps, s.reply), (["timer after 1000", "timer after 1000"], "2.0"))

    def test_any_of_the_threads_whose_sleep_is_over_may_be_the_first(self):
        s = Simulator("""
            threads = [threading.Thread(target=time.sleep, args=[seconds]) for seconds in (1, 1, 1, 2)]
            for t in threads: t.start()
            for t in threads: t.join()
            return "", False
        """)
        steps = ["timer after 1000"] + 2 * ["timer after 0"] + ["timer after 1000"]
        self.assertEqual((s.steps, s.besides), (steps, [2, 1, 0, 0]))

    def test_locks_with_time_limits(self):
        s = Simulator("""
            lock = threading.Lock()
            lock.acquire()
            late = lock.acquire(timeout=2)
            threading.Timer(3, lock.release).start()
            return str([late, lock.acquire(timeout=9), time.monotonic()]), False
        """)
        self.assertEqual(s.reply, "[False, True, 5.0]")

    def test_randomness_comes_from_the_seed(self):
        body = """
            import os, secrets
            draws = [random.random(), random.Random().random(), random.SystemRandom().random(), uuid.uuid4()]
            draws += [uuid.uuid1(), os.urandom(4), os.getrandom(4), secrets.token_hex(4)]
            random.seed()
            return str(draws + [random.random()]), False
        """
        self.assertEqual(Simulator(body).reply, Simulator(body).reply)

    def test_a_module_that_draws_when_it_is_imported_takes_nothing_from_the_seed(self):
        draw = "return str([random.random(), uuid.uuid4()]), False"  # no later life of the process imports it again
        self.assertEqual(Simulator("import secrets, multiprocessing.process\n" + draw).reply, Simulator(draw).reply)

    def test_an_error_of_the_cache_is_its_reply(self):
        self.assertEqual(Simulator("raise TypeError('no')").reply, "TypeError: no")


if __name__ == "__main__":
    unittest.main()
