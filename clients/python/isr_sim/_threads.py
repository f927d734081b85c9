"""The threads of a node: one of them runs at a time, until it waits.

A thread that waits for an answer, a lock, another thread or a time hands over to the next one, in the order in which
they became able to go on. So the code of a node with threads is deterministic; and when none can go on, the node is
quiet, and says which requests are under way and when its first timer fires. asyncio is one more thread that waits: for
its other threads, or for a time.
"""

import collections
import math
import queue
import selectors
import threading
import time
import _thread

_allocate = _thread.allocate_lock
_get_ident = _thread.get_ident
_start, _join = threading.Thread.start, threading.Thread.join
_select = selectors.DefaultSelector.select

_mutex = _allocate()
_runners = {}  # by thread; the threads of the node that live
_ready = collections.deque()
_holder = None  # the one that runs
_adopted = False  # whether the node has begun
_timers = []  # of those that wait
numbers = 0  # of timers, in this life
under_way = set()  # the numbers of the requests
busy = False
now = None  # set by the kit: the node's time, in milliseconds
say_quiet = None
read = None  # set by the kit: reads a line of isr-sim, and does what it says
uses_real = None  # set by the kit: says what is not simulated
_reads = False  # a thread reads lines, until one of the node's can go on
_more = _allocate()  # released when that is to be the thread that does nothing else
_more.acquire()
_life = 0
_draining = None  # the runner that waits until all others do, and no request is under way


class _Runner:
    def __init__(self):
        self.turn = _allocate()
        self.turn.acquire()
        self.life = _life  # in which it last went on
        self.over = False
        self.joining = []
        self.polls = None  # a selector, while its thread waits for it


class _Timer:
    def __init__(self, runner, seconds):
        global numbers
        numbers += 1
        self.number, self.runner, self.fired = numbers, runner, False
        self.at = now() + math.ceil(seconds * 1000)


def mine():
    """The runner of the calling thread; None if it is not one of the node's."""
    return _runners.get(_get_ident())


def alone():
    """Whether the life has one thread. Those that a life before has left count from when they go on, or could."""
    others = [r for r in list(_runners.values()) if r is not mine()]
    return not any(r.life == _life or (r.polls is not None and _select(r.polls, 0)) for r in others)


def new_life():
    """Begins another life: threads that wait for a time of the one before wait for ever."""
    global _life
    with _mutex:
        _timers.clear()
        _life += 1
        mine().life = _life


def left_over():
    """How many threads the lives before have left."""
    return len(_runners) - 1


def adopt():
    """Makes the calling thread one of the node's, and the one that runs."""
    global _adopted, _holder
    _adopted, _holder = True, _Runner()
    _runners[_get_ident()] = _holder
    return _holder


def forget():
    """A forked child is none of the node's: its threads are real."""
    _runners.clear()


def read_on():
    """Reads lines whenever all threads of the node wait."""
    global _reads
    while True:
        _more.acquire()
        reads = True
        while reads:  # _reads may already be about another thread
            read()
            with _mutex:
                _reads = reads = _holder is None


def pass_on(for_line=False):
    """Lets the next thread run, or a line be read. The caller holds the mutex, and its thread is about to wait. If that
    is for a line, it may have to read lines itself: then True is returned."""
    global _draining, _holder, _reads
    for runner in list(_runners.values()):
        if runner.polls is not None and _select(runner.polls, 0):
            runner.polls, runner.life = None, _life
            _ready.append(runner)
    if _ready:
        _holder = _ready.popleft()
        _holder.turn.release()
        return False
    if _draining is not None and not under_way:
        _holder, _draining = _draining, None
        _holder.turn.release()
        return False
    _holder = None
    first = min(_timers, key=lambda t: (t.at, t.number), default=None)
    if busy and (under_way or first):
        # Each is of a thread of its own.
        also = sorted(t.number for t in _timers if t.at == first.at and t is not first)
        say_quiet(sorted(under_way), first and first.number, first and max(0, first.at - now()), also)
    if _reads:
        return False
    _reads = True
    if for_line and alone():
        return True
    _more.release()
    return False


def later():
    """Whether something is left to do at a later time, for the line of type reply or ready."""
    return {"later": True} if _timers else {}


def make_ready(runner):
    """The caller holds the mutex."""
    global _holder
    runner.life = _life
    if _holder is None:
        _holder = runner
        runner.turn.release()
    else:
        _ready.append(runner)


def hand_over():
    """Has the calling thread wait for something real; come_back ends that."""
    with _mutex:
        pass_on()


def come_back(runner):
    with _mutex:
        make_ready(runner)
    runner.turn.acquire()


def drain():
    """Waits until no request of the node is under way, those that nobody waits for among them."""
    global _draining
    me = mine()
    with _mutex:
        _draining = me
        pass_on()
    me.turn.acquire()


def go_on(runner, number):
    """The runner's request is answered."""
    with _mutex:
        under_way.discard(number)
        make_ready(runner)


def wake(number):
    """A timer fires."""
    with _mutex:
        for t in _timers:
            if t.number == number:
                _timers.remove(t)
                t.fired, t.runner.polls = True, None
                make_ready(t.runner)
                return


def _wait(runner, seconds, waiters):
    """Waits until the runner is made ready, for so long at most. The caller holds the mutex, which is released."""
    timer = None if seconds is None else _Timer(runner, seconds)
    if timer:
        _timers.append(timer)
    if waiters is not None:
        waiters.append(runner)
    pass_on()
    _mutex.release()
    runner.turn.acquire()
    with _mutex:
        if timer in _timers:
            _timers.remove(timer)
        if waiters is not None and runner in waiters:
            waiters.remove(runner)
    return bool(timer and timer.fired)


def wait(seconds):
    """Has the calling thread wait for so long."""
    _mutex.acquire()
    _wait(mine(), seconds, None)


def wait_for_line(runner):
    """Has the calling thread wait until a line makes it ready. If it is the only one, it reads the lines: a change of
    threads takes as long as all else that the kit does for a request."""
    global _reads
    with _mutex:
        mine_to_read = pass_on(for_line=True)
    while mine_to_read:
        read()
        with _mutex:
            _reads = mine_to_read = _holder is None
    runner.turn.acquire()


class Lock:
    """threading.Lock, for threads of the node and for others."""

    def __init__(self):
        self._lock = _allocate()
        self._waiters = []

    def acquire(self, blocking=True, timeout=-1):
        runner = mine()
        if runner is None:
            return self._lock.acquire(blocking, timeout)
        late = False
        until = None if timeout is None or timeout < 0 else now() + timeout * 1000
        while True:
            _mutex.acquire()
            if self._lock.acquire(False):
                _mutex.release()
                return True
            if not blocking or late or (until is not None and until <= now()):
                _mutex.release()
                return False
            late = _wait(runner, None if until is None else (until - now()) / 1000, self._waiters)

    def release(self):
        self._lock.release()
        with _mutex:
            if self._waiters:
                make_ready(self._waiters.pop(0))

    def locked(self):
        return self._lock.locked()

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *_):
        self.release()

    def _at_fork_reinit(self):
        self._lock, self._waiters = _allocate(), []


def _start_thread(self):
    if mine() is None:
        if not _adopted:
            uses_real("threads that are started while modules are imported")
        return _start(self)
    uses_real("threads that are stopped elsewhere than where they wait")
    runner = self._isr_sim = _Runner()
    run = self.run

    def run_in_turn():
        _runners[_get_ident()] = runner
        runner.turn.acquire()
        try:
            run()
        finally:
            with _mutex:
                runner.over = True
                del _runners[_get_ident()]
                for waiting in runner.joining:
                    make_ready(waiting)
                runner.joining = []
                pass_on()

    self.run = run_in_turn
    me = _runners.pop(_get_ident())  # until it has started, a real wait
    try:
        _start(self)
    finally:
        _runners[_get_ident()] = me
    while True:  # it has begun, and waits for its turn
        if runner in _runners.values():
            break
        _real_sleep(0)
    with _mutex:
        _ready.append(runner)


def _join_thread(self, timeout=None):
    me, runner = mine(), getattr(self, "_isr_sim", None)
    if me is not None and runner is not None:
        _mutex.acquire()
        if runner.over:
            _mutex.release()
        elif _wait(me, None if timeout is None else max(timeout, 0), runner.joining) and not runner.over:
            return
    _join(self, timeout)


def _select_in_turn(self, timeout=None):
    runner = mine()
    if runner is None or (timeout is not None and timeout <= 0):
        return _select(self, timeout)
    events = _select(self, 0)
    if events:
        return events
    _mutex.acquire()
    runner.polls = self
    _wait(runner, timeout, None)
    return _select(self, 0)


def _start_unseen(*args):
    if mine() is not None:
        uses_real("threads that are started without threading")
    return _start_new(*args)


_start_new = _thread.start_new_thread
_thread.start_new_thread = _start_unseen
_real_sleep = time.sleep
threading._allocate_lock = threading.Lock = Lock
threading.RLock = threading._RLock
threading.Thread.start, threading.Thread.join = _start_thread, _join_thread
queue.SimpleQueue = queue._PySimpleQueue
selectors.DefaultSelector.select = _select_in_turn
