"""The kit of isr-sim for Python: import it before anything else.

It speaks the protocol of docs/NODES.md, and replaces the clock, the threads and the randomness of the process by
simulated ones.
"""

import datetime
import http.client
import json
import os
import random
import sys
import threading
import time
import urllib.parse
import uuid

from . import _threads

_real_random = random.Random
_threading_start = _threads._start
_now = 0  # the node's own time, in milliseconds since 1970
_began = 0
_random = _real_random(0)
_connections = []  # that are not in use
_here = ("127.0.0.1", 0)


def _learn(ms):
    global _now
    if ms is not None:
        _now = int(ms)


# Requests, whichever library sends them: each has a number, by which isr-sim knows those that are under way, and every
# answer brings the time. While one waits for its answer, the node's other threads run.

_begin = http.client.HTTPResponse.begin
_endheaders = http.client.HTTPConnection.endheaders
_sent = threading.local()  # number: of the thread's request
_numbers = 0


def _number_and_send(self, *args, **kwargs):
    global _numbers
    if _threads.mine() is None or (self.host, self.port) != _here:
        return _endheaders(self, *args, **kwargs)
    _numbers += 1
    number = _numbers
    self.putheader("X-Isr-Sim-Request", str(number))
    alone = _threads.alone()
    if alone:
        self.putheader("X-Isr-Sim-Quiet", "1")
    _threads.under_way.add(number)
    _sent.number, _sent.alone = number, alone
    try:
        return _endheaders(self, *args, **kwargs)
    except BaseException:
        _sent.number = None
        _threads.under_way.discard(number)
        raise


def _begin_and_learn(self):
    number = getattr(_sent, "number", None)
    if number is None:
        return _begin(self)
    _sent.number = None
    me = None if _sent.alone else _threads.mine()
    if me is not None:
        _threads.hand_over()
    try:
        _begin(self)
        _learn(self.headers.get("X-Isr-Sim-Time"))
    finally:
        _threads.under_way.discard(number)
        if me is not None:
            _threads.come_back(me)


http.client.HTTPResponse.begin = _begin_and_learn
http.client.HTTPConnection.endheaders = _number_and_send


def _ask(method, path, body=None):
    connection = _connections.pop() if _connections else http.client.HTTPConnection(*_here)
    connection.request(method, "/_isr-sim/" + path, body)
    answer = connection.getresponse()
    text = answer.read()
    _connections.append(connection)
    if answer.status >= 400 and answer.status != 404:
        raise RuntimeError(text.decode())
    return answer.status, text


# Time.


def _sleep(seconds):
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if _threads.mine() is None:
        _real_sleep(seconds)
    elif _threads.alone():
        _ask("POST", "sleep?ms=%f" % (seconds * 1000))
    else:
        _threads.sleep(seconds)


_real_sleep = time.sleep


time.time = lambda: _now / 1000
time.time_ns = lambda: _now * 1_000_000
time.monotonic = time.perf_counter = lambda: (_now - _began) / 1000
time.monotonic_ns = time.perf_counter_ns = lambda: (_now - _began) * 1_000_000
time.sleep = _sleep

_datetime = datetime.datetime
_date = datetime.date


class _Meta(type(_datetime)):
    def __instancecheck__(cls, it):
        return isinstance(it, _datetime)

    def __subclasscheck__(cls, it):
        return issubclass(it, _datetime)


class _SimulatedDatetime(_datetime, metaclass=_Meta):
    @classmethod
    def now(cls, tz=None):
        return _datetime.fromtimestamp(_now / 1000, tz)

    @classmethod
    def utcnow(cls):
        return _datetime.fromtimestamp(_now / 1000, datetime.timezone.utc).replace(tzinfo=None)

    @classmethod
    def today(cls):
        return _datetime.fromtimestamp(_now / 1000)


datetime.datetime = _SimulatedDatetime

# Randomness: from the seed of the life.

os.urandom = lambda n: _random.getrandbits(8 * n).to_bytes(n, "big") if n else b""
random.SystemRandom = lambda *_: _random
uuid.uuid4 = lambda: uuid.UUID(int=_random.getrandbits(128), version=4)


def _seed(seed):
    _random.seed(seed)
    random.seed(seed)


# What the simulator has besides DynamoDB.


def origin(key):
    """Reads the origin of a page, and takes the scenario's time to render it."""
    return _ask("GET", "origin?key=" + urllib.parse.quote(key, safe=""))[1].decode()


class bodies:
    """The store of bodies. get returns None for a body that is not there."""

    @staticmethod
    def put(name, body):
        _ask("PUT", "bodies/" + urllib.parse.quote(name, safe=""), body.encode() if isinstance(body, str) else body)

    @staticmethod
    def get(name):
        status, body = _ask("GET", "bodies/" + urllib.parse.quote(name, safe=""))
        return None if status == 404 else body.decode()

    @staticmethod
    def delete(name):
        _ask("DELETE", "bodies/" + urllib.parse.quote(name, safe=""))


def boto3_options(init):
    """The keyword arguments of boto3.client("dynamodb"), or "s3", for an init line."""
    return {
        "region_name": init["region"],
        "endpoint_url": init["endpoint"],
        "aws_access_key_id": init["credentials"]["accessKeyId"],
        "aws_secret_access_key": init["credentials"]["secretAccessKey"],
    }


def node(create, can=("get", "invalidate", "regenerate", "rollback")):
    """Runs the node until its simulator ends it.

    create(init) makes the cache of one life; init has what docs/NODES.md says. The cache has a method for each name in
    can: get(key) and regenerate(key, request, inputs) return (body, fresh); invalidate(key) and rollback(key) return
    nothing.
    """
    global _began, _connections, _here
    lines, sys.stdout = sys.stdout, sys.stderr  # what the cache prints is no line of the protocol

    def say(**line):
        lines.write(json.dumps(line) + "\n")
        lines.flush()

    def read():
        for text in sys.stdin:
            line = json.loads(text)
            if line["type"] == "wake":
                _learn(line["time"])
                _threads.wake(line["timer"])
                continue
            told.put(line)
            if line["type"] == "end":
                return
        told.put({"type": "end", "time": _now})

    def say_quiet(requests, timer, after):
        more = {} if timer is None else {"timer": timer, "after": after}
        say(type="quiet", requests=requests, **more)

    told = _threads.Lines()
    _threads.now, _threads.say_quiet = lambda: _now, say_quiet
    _threading_start(threading.Thread(target=read, daemon=True))
    me = _threads.adopt()
    say(type="hello", versions=[1], can=[*can, "timers", "quiet", "reset"])
    cache = None
    while True:
        _threads.busy = False
        _threads.hand_over()
        line = told.get()
        _learn(line["time"])
        _threads.come_back(me)
        _threads.busy = True
        if line["type"] == "end":
            lines.flush()
            os._exit(0)  # whatever threads the cache has left
        if line["type"] == "reset":
            cache = None
            say(type="ready")
        elif line["type"] == "init":
            at = urllib.parse.urlsplit(line["endpoint"])
            _began, _connections, _here = line["time"], [], (at.hostname, at.port)
            _seed(line["seed"])
            cache = create(line)
            say(type="ready")
        else:
            of = [line["key"]] + ([line["request"], line.get("inputs", "")] if line["verb"] == "regenerate" else [])
            try:
                body, fresh = getattr(cache, line["verb"])(*of) or ("", False)
                say(type="reply", id=line["id"], body=body, fresh=fresh)
            except Exception as e:  # the command failed: that is its reply
                say(type="reply", id=line["id"], error="%s: %s" % (type(e).__name__, e))
