"""Simulated time, threads and randomness, and the protocol of docs/NODES.md."""

import base64
import datetime
import functools
import gc
import http.client
import importlib
import io
import json
import os
import platform
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

try:
    import _posixsubprocess
except ImportError:  # Windows
    _posixsubprocess = None

from . import _threads

import concurrent.futures.thread as _of_threads  # after the locks of _threads

# The output of the node, its libraries and its child processes goes to stderr, so that stdout has only lines of the
# protocol. None of them reads the protocol's lines.
sys.stdout.flush()
_told, _lines = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")  # no child process inherits them
with open(os.devnull) as _nothing:
    os.dup2(_nothing.fileno(), 0)
os.dup2(2, 1)

_real_random = random.Random
_threading_start = _threads._start
_now = 0  # the node's own time, in milliseconds since 1970
_began = 0
_random = _real_random(0)
_here = ("127.0.0.1", 0)


def _learn(ms):
    global _now
    if ms is not None:
        _now = int(ms)


# Requests of botocore and of the kit are lines: no socket lies between. While a request waits for its answer, the
# node's other threads run.

_numbers = 0
_asked = {}  # by the numbers of the lines that are not answered: who waits, and then the answer


def _say(**line):
    _lines.write(json.dumps(line) + "\n")
    _lines.flush()


def _number():
    global _numbers
    _numbers += 1
    return _numbers


def _exchange(method, target, headers, **content):
    """The status, headers and body of the answer to a request. The status 0 is a broken connection."""
    number, alone = _number(), _threads.alone()
    _asked[number] = _threads.mine()
    if not alone:
        _threads.under_way.add(number)
    _say(type="request", number=number, quiet=alone, method=method, target=target, headers=headers, **content)
    _threads.wait_for_line(_threads.mine())
    answer = _asked.pop(number)
    body = base64.b64decode(answer["body"]) if "body" in answer else answer.get("text", "").encode()
    return answer["status"], answer["headers"], body


def _answered(line):
    runner, _asked[line["number"]] = _asked[line["number"]], line
    _learn(line["time"])
    _threads.go_on(runner, line["number"])


def _ask(method, path, body=b""):
    status, _, body = _exchange(method, "/_isr-sim/" + path, {}, body=base64.b64encode(body).decode())
    if status >= 400 and status != 404:
        raise RuntimeError(body.decode())
    return status, body


@functools.cache  # once
def _have_botocore_send_lines():
    from botocore import auth, awsrequest, exceptions, httpsession

    over_http = httpsession.URLLib3Session.send
    signs = auth.AUTH_TYPE_MAPS["v4"]
    signed = signs.add_auth

    class Body(io.BytesIO):
        def stream(self):  # as urllib3 has it
            yield self.read()

    def send(self, request):
        at = urllib.parse.urlsplit(request.url)
        if _threads.mine() is None or (at.hostname, at.port) != _here:
            return over_http(self, request)
        body = request.body or b""
        body = body.read() if hasattr(body, "read") else body
        body = body.encode() if isinstance(body, str) else bytes(body)
        of_table = "X-Amz-Target" in request.headers
        content = {"text": body.decode()} if of_table else {"body": base64.b64encode(body).decode()}
        headers = {name: v.decode() if isinstance(v, bytes) else v for name, v in request.headers.items()}
        target = (at.path or "/") + ("?" + at.query if at.query else "")
        status, headers, body = _exchange(request.method, target, headers, **content)
        if not status:
            raise exceptions.ConnectionClosedError(endpoint_url=request.url, request=request)
        return awsrequest.AWSResponse(request.url, status, headers, Body(body))

    # A signature takes half of the SDK's time, and no service of the simulator checks one. The header says whose it is.
    def add_auth(self, request):
        at = urllib.parse.urlsplit(request.url)
        simulated = (_threads.mine() is not None and (at.hostname, at.port) == _here
                     and "X-Amz-Target" in request.headers)
        if not simulated or type(self) is not signs or self.credentials is None:
            return signed(self, request)
        del request.headers["Authorization"]  # of the attempt before
        scope = "/".join(
            (self.credentials.access_key, "20000101", self._region_name, self._service_name, "aws4_request"))
        request.headers["Authorization"] = "AWS4-HMAC-SHA256 Credential=%s, SignedHeaders=host, Signature=0" % scope

    httpsession.URLLib3Session.send, signs.add_auth = send, add_auth
    _have_botocore_derive_once()


def _once(make):
    """make, which returns the same for the same arguments, and for each client of a process. The arguments are kept,
    those of the last few clients: each session has its own."""
    made = {}

    def of(*args, **named):
        key = tuple(map(id, args)), tuple((name, id(named[name])) for name in sorted(named))
        got = made.get(key)
        if got is None:
            if len(made) >= 8:
                made.clear()
            got = made[key] = make(*args, **named), args, named
        return got[0]

    return of


def _have_botocore_derive_once():
    """What botocore derives from its own files is the same for each client. Each life of a node makes new clients, and
    half of their time went into that. None of it changes once it is derived. Each part is left alone in a botocore that
    does not have it."""
    from botocore import client, hooks, httpsession, regions

    if hasattr(client, "ServiceModel"):
        client.ServiceModel = _once(client.ServiceModel)
    if hasattr(regions, "EndpointProvider"):
        regions.EndpointProvider = _once(regions.EndpointProvider)
    if hasattr(httpsession, "create_urllib3_context"):  # for TLS to others
        httpsession.create_urllib3_context = _once(httpsession.create_urllib3_context)
    if hasattr(hooks, "NodeList"):  # three lists, copied some hundred times for each client
        hooks.NodeList.__copy__ = lambda self: type(self)(*[part[:] for part in self])
    if hasattr(hooks, "EventAliaser") and hasattr(hooks, "EVENT_ALIASES"):
        begins, names = hooks.EventAliaser.__init__, {}

        def init(self, *args, **named):
            begins(self, *args, **named)
            if getattr(self, "_event_aliases", None) == hooks.EVENT_ALIASES:
                self._alias_name_cache = names

        hooks.EventAliaser.__init__ = init


# A time limit of a future drops no request: its thread still hears the answer. But whoever waited for it no longer
# does, and may give up for that reason.

_Future, _Work = _of_threads._base.Future, _of_threads._WorkItem
_run, _cancel = _Work.run, _Future.cancel


def _run_and_note(self):
    self.future._isr_sim = _threads.mine()
    _run(self)


def _say_late(future):
    runner = getattr(future, "_isr_sim", None)
    for number, of in list(_asked.items()):
        if runner is not None and of is runner and future.running():
            _say(type="late", number=number)


def _in_time(plain):
    def of(self, timeout=None):
        try:
            return plain(self, timeout)
        except _of_threads._base.TimeoutError:
            _say_late(self)
            raise

    return of


def _cancel_or_note(self):  # asyncio cancels what it no longer waits for, and a thread goes on all the same
    _say_late(self)
    return _cancel(self)


_Work.run, _Future.cancel = _run_and_note, _cancel_or_note
_Future.result, _Future.exception = _in_time(_Future.result), _in_time(_Future.exception)


# Requests of other libraries go over HTTP. Each request has a number, and every answer brings the time.

_begin = http.client.HTTPResponse.begin
_endheaders = http.client.HTTPConnection.endheaders
_sent = threading.local()  # number: of the thread's request


def _number_and_send(self, *args, **kwargs):
    if _threads.mine() is None or (self.host, self.port) != _here:
        return _endheaders(self, *args, **kwargs)
    number = _number()
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


# Time.


def _sleep(seconds):
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if _threads.mine() is None:
        _real_sleep(seconds)
    elif _threads.alone():
        _ask("POST", "sleep?ms=%f" % (seconds * 1000))
    else:
        _threads.wait(seconds)


_real_sleep = time.sleep


def _monotonic():
    return (_now - _began) / 1000


def _at_now(plain):
    """A function of a time, which takes now if none is given."""
    return lambda t=None: plain(_now / 1000 if t is None else t)


def _clock_gettime_ns(clock):
    return time.time_ns() if clock == time.CLOCK_REALTIME else time.monotonic_ns()


time.time = lambda: _now / 1000
time.time_ns = lambda: _now * 1_000_000
# A node's work takes no time, so the clocks of processor time show the same as the other clocks.
time.monotonic = time.perf_counter = time.process_time = time.thread_time = _monotonic
time.monotonic_ns = time.perf_counter_ns = time.process_time_ns = time.thread_time_ns = (
    lambda: (_now - _began) * 1_000_000)
if hasattr(time, "clock_gettime"):
    time.clock_gettime_ns, time.clock_gettime = _clock_gettime_ns, lambda clock: _clock_gettime_ns(clock) / 1e9
_localtime, _strftime, _asctime = time.localtime, time.strftime, time.asctime
time.localtime, time.gmtime, time.ctime = _at_now(_localtime), _at_now(time.gmtime), _at_now(time.ctime)
time.strftime = lambda form, t=None: _strftime(form, time.localtime() if t is None else t)
time.asctime = lambda t=None: _asctime(time.localtime() if t is None else t)
time.sleep = _sleep
threading._time = queue.time = _monotonic  # which have imported it already

_datetime = datetime.datetime
_date = datetime.date


class _Meta(type(_date)):
    def __instancecheck__(cls, it):
        return isinstance(it, cls._real)

    def __subclasscheck__(cls, it):
        return issubclass(it, cls._real)


class _SimulatedDatetime(_datetime, metaclass=_Meta):
    _real = _datetime

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


class _SimulatedDate(_date, metaclass=_Meta):
    _real = _date

    @classmethod
    def today(cls):
        return _date.fromtimestamp(_now / 1000)


datetime.date = _SimulatedDate

# Randomness: from the seed of the life.

_from = random.Random.seed  # random.Random() and random.seed() take the system's randomness by themselves
random.Random.seed = lambda self, a=None, version=2: _from(self, _random.getrandbits(256) if a is None else a, version)
random.seed = random._inst.seed
if hasattr(os, "getrandom"):
    os.getrandom = lambda n, flags=0: os.urandom(n)
os.urandom = lambda n: _random.getrandbits(8 * n).to_bytes(n, "big") if n else b""
random.SystemRandom = lambda *_: _random
uuid.uuid4 = lambda: uuid.UUID(int=_random.getrandbits(128), version=4)
uuid._generate_time_safe = uuid._UuidCreate = None  # uuid1 has the clock of time
uuid._node = 0x020000000001  # and no hardware's address


# Each actor is a machine of its own: owners of locks are often named by their hosts.

# How often an SDK sends a request is the scenario's to say, as an environment says it: a client that has its own number
# keeps it.
_own_attempts = os.environ.get("AWS_MAX_ATTEMPTS")

_actor = None  # of this life
_pid = None  # and the number of its process: owners are often named by that, too

_getpid, _gethostname, _getfqdn, _platform_node = os.getpid, socket.gethostname, socket.getfqdn, platform.node


def _fqdn(name=""):
    return _actor if _actor and name.strip() in ("", "0.0.0.0", "::", _actor) else _getfqdn(name)


def _of_host(look_up):
    """look_up, for which the actor's name is that of the host: no network knows the former."""

    def of(host, *args, **named):
        return look_up(_gethostname() if _actor and host == _actor else host, *args, **named)

    return of


os.getpid = lambda: _pid or _getpid()
socket.gethostname = lambda: _actor or _gethostname()
socket.getfqdn = _fqdn
for _name in ("gethostbyname", "gethostbyname_ex", "getaddrinfo"):
    setattr(socket, _name, _of_host(getattr(socket, _name)))
platform.node = lambda: _actor or _platform_node()
if hasattr(os, "uname"):
    _uname = os.uname
    os.uname = lambda: os.uname_result([*_uname()[:1], socket.gethostname(), *_uname()[2:]])


# Some modules draw when they are imported (secrets and multiprocessing do). Only the first life of a process imports
# them, so their numbers are not taken from those of the life.
_load = importlib._bootstrap._find_and_load


def _loaded(*of):
    states = _random.getstate(), random.getstate()
    _random.seed(0)
    random.seed(0)
    try:
        return _load(*of)
    finally:
        _random.setstate(states[0])
        random.setstate(states[1])


importlib._bootstrap._find_and_load = _loaded


def _seed(seed):
    _random.seed(seed)
    random.seed(seed)
    uuid._last_timestamp = None


# What is not simulated is said once a process, so that nobody takes it for judged.

_uses = set()


def _uses_real(what):
    if what not in _uses:
        _uses.add(what)
        _say(type="real", what=what)


_threads.uses_real = _uses_real


def _alarm(plain):
    def later(*args):
        if any(args[1:] or args):
            _uses_real("alarms of the system")
        return plain(*args)

    return later


for _name in ("alarm", "setitimer"):
    if hasattr(signal, _name):
        setattr(signal, _name, _alarm(getattr(signal, _name)))


def _audit(event, of):
    if event == "socket.connect":
        by = sys._getframe(1).f_code.co_name
        if of[1][:2] != _here and "socketpair" not in by:  # on Windows, that of a loop is a connection
            _uses_real("connections to others than isr-sim")
    elif event == "os.system" or event == "os.posix_spawn":
        _note_child()


sys.addaudithook(_audit)

# Child processes end with the life that started them.

_children = []
_fork, _popen = getattr(os, "fork", None), subprocess.Popen.__init__
_exec = getattr(_posixsubprocess, "fork_exec", None)


def _note_child():
    if _threads.mine() is not None:
        _uses_real("what child processes do")


def _forget():
    global _pid
    _pid = None
    _threads.forget()


def _fork_and_note():
    _note_child()
    pid = _fork()
    if pid:
        _children.append(pid)
    return pid


def _popen_and_note(self, *args, **kwargs):
    _note_child()
    _popen(self, *args, **kwargs)
    _children.append(self.pid)


def _exec_and_note(*args):
    _note_child()
    return _exec(*args)


def _end_children():
    for pid in _children:
        try:
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        except OSError:  # it has been waited for
            pass
    _children.clear()


subprocess.Popen.__init__ = _popen_and_note
if hasattr(_posixsubprocess, "fork_exec"):
    _posixsubprocess.fork_exec = _exec_and_note  # of multiprocessing
if _fork:
    os.fork = _fork_and_note
    os.register_at_fork(after_in_child=_forget)

# The services of the simulator besides DynamoDB.


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
    _have_botocore_send_lines()
    return {
        "region_name": init["region"],
        "endpoint_url": init["endpoint"],
        "aws_access_key_id": init["credentials"]["accessKeyId"],
        "aws_secret_access_key": init["credentials"]["secretAccessKey"],
    }


class OtherPayload(Exception):
    """What once raises where the key is that of another payload, and the layer promises to refuse that."""


def _effect():
    """Has the effect of the call that is under way happen, and returns its result. It raises where the effect fails."""
    return _ask("POST", "effect")[1].decode()


def _token(held):
    token = getattr(held, "token", None)
    if token is None:
        return {}
    try:
        number = int(token)
        whole = isinstance(token, str) or number == token and not isinstance(token, bool)
    except (TypeError, ValueError, OverflowError):
        whole = False
    # What is no whole number is a mistake of the adapter: isr-sim refuses the text, and does not judge the lock by it.
    return {"token": number if whole else "%s, a %s" % (str(token)[:20], type(token).__name__)}


def _doing(lock, held, line):
    """A command that is no cache's; held are the locks that are held, by name."""
    verb, key = line["verb"], line["key"]
    if verb == "once":
        if not hasattr(lock, "once"):
            raise NotImplementedError("skipped: the layer has no method once, which can says that it has")
        return {"body": lock.once(key, line["payload"], _effect)}
    if verb == "hold":
        got = lock.hold(key)
        if not hasattr(got, "release"):
            raise NotImplementedError("skipped: what hold returned has no method release")
        held[key] = got
        return _token(got)
    if verb == "work":  # in which threads and timers run
        time.sleep(line["for"])
        return {}
    if verb == "release":
        held.pop(key).release()
        return {}
    if not hasattr(held[key], verb):
        raise NotImplementedError("skipped: what hold returned has no method %s, which can says that it has" % verb)
    said = getattr(held[key], verb)()
    return {"held": bool(said)} if verb == "held" else _token(held[key])


class _Mistake(Exception):
    """A mistake in the form of what the cache returns. It is the program's: no call has failed."""


def _page(verb, got):
    """The body of the page that the cache has returned, and whether it is fresh; nothing is an empty page."""
    if not got:
        return "", False
    if not isinstance(got, (tuple, list)) or len(got) != 2 or isinstance(got[1], str):
        raise _Mistake("%s returned a %s, expected (body, fresh): the text of the page, and whether the cache takes it "
                       "for fresh" % (verb, type(got).__name__))
    if not isinstance(got[0] or "", str):
        raise _Mistake("%s returned a body that is a %s, expected text" % (verb, type(got[0]).__name__))
    return got[0] or "", bool(got[1])


_many = 50  # threads, which lives that are over have left: a process that has more begins anew


def node(create, can=("get", "invalidate", "regenerate", "rollback"), terms=None, new_process=False):
    """Runs the node until its simulator ends it.

    create(init) makes the cache, lock or layer of one life; init has what docs/NODES.md says. The cache has a method
    for each name in can: get(key) and regenerate(key, request, inputs) return (body, fresh); invalidate(key) and
    rollback(key) return nothing. hold(key) takes a lock, or raises, and returns what is held: an object with release(),
    and, where can names them, held() and extend(). It may have a fencing token. once(key, payload, effect) returns what
    effect() does, in this call or in an earlier one. terms are a dict of what is promised: of a lock heartbeats and
    margin, of calls payload, and of both wait and takeover. With new_process, each life is a process of its own, as it
    is for a cache that keeps something in variables of its modules; that takes some tenths of a second for each.
    """
    global _actor, _began, _here, _numbers, _pid

    def read():
        text = _told.readline()
        line = json.loads(text) if text else {"type": "end"}
        if line["type"] == "end":
            _end_children()
            os._exit(0)  # whatever threads the cache has left
        if line["type"] == "wake":
            _learn(line["time"])
            _threads.wake(line["timer"])
        elif line["type"] == "answer":
            _answered(line)
        else:
            told.append(line)
            _threads.go_on(me, None)

    def say_quiet(requests, timer, after, also):
        more = {} if timer is None else {"timer": timer, "after": after}
        if also:
            more["also"] = also
        _say(type="quiet", requests=requests, **more)

    told = []  # the line that is the next to be obeyed
    _threads.now, _threads.say_quiet, _threads.read = lambda: _now, say_quiet, read
    _threading_start(threading.Thread(target=_threads.read_on, daemon=True))
    me = _threads.adopt()
    promised = {} if terms is None else {"once" if "once" in can else "lock": terms}
    can_too = ["work", "timers", "quiet", "queue", *([] if new_process else ["reset"])]
    _say(type="hello", versions=[1], can=[*can, *can_too], **promised)
    cache, held = None, {}
    while True:
        _threads.busy = False
        _threads.wait_for_line(me)
        line = told.pop()
        _learn(line["time"])
        _threads.busy = True
        if line["type"] == "reset":
            _end_children()
            cache, held = None, {}
            if _threads.left_over():
                gc.collect()  # the threads of pools that nobody has end now, and not within a later life
                _threads.drain()
            if _threads.left_over() > _many:
                os._exit(0)
            _threads.new_life()
            _say(type="ready")
        elif line["type"] == "init":
            at = urllib.parse.urlsplit(line["endpoint"])
            _began, _here = line["time"], (at.hostname, at.port)
            _numbers = _threads.numbers = 0
            _actor = line.get("actor", "").partition(".")[0]  # alice.2 is alice after a restart
            # No process of any system has such a high number, and none is sent a signal.
            _pid = 2**22 + 1 + line["seed"] % 2**22
            platform._uname_cache = None  # it has the host's name
            os.environ["AWS_MAX_ATTEMPTS"] = _own_attempts or str(line.get("config", {}).get("attempts", 3))
            _seed(line["seed"])
            cache, held = create(line), {}
            _threads.drain()
            _say(type="ready", **_threads.later())
        else:
            of = [line["key"]] + ([line["request"], line.get("inputs", "")] if line["verb"] == "regenerate" else [])
            try:
                if line["verb"] in ("hold", "held", "extend", "release", "work", "once"):
                    told_back = _doing(cache, held, line)
                    _threads.drain()
                    _say(type="reply", id=line["id"], **told_back, **_threads.later())
                    continue
                if not hasattr(cache, line["verb"]):
                    raise NotImplementedError(
                        "skipped: the cache has no method %s, which can says that it has" % line["verb"])
                got = getattr(cache, line["verb"])(*of)
                body, fresh = _page(line["verb"], got if line["verb"] in ("get", "regenerate") else None)
                then = _now
                _threads.drain()
                # If time has moved since the cache called the page fresh, the page does not count as claimed fresh.
                _say(type="reply", id=line["id"], body=body, fresh=fresh and _now == then, **_threads.later())
            except _Mistake as e:
                sys.stderr.write("isr-sim: %s\n" % e)
                sys.stderr.flush()
                os._exit(1)
            except Exception as e:  # the command failed: that is its reply
                _threads.drain()
                other = {"other": True} if isinstance(e, OtherPayload) else {}
                _say(type="reply", id=line["id"], error="%s: %s" % (type(e).__name__, e), **other, **_threads.later())
