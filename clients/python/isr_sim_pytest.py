"""Checks of isr-sim as tests of pytest.

    import isr_sim  # before anything else
    from isr_sim_pytest import check
    from cache import Cache

    @check(can=["get"], worlds=50)
    def test_cache(init):
        return Cache(isr_sim.boto3_options(init), init["table"], isr_sim.bodies, isr_sim.origin)

The function makes the cache of one life of a node, as the one that isr_sim.node takes. The test passes if isr-sim finds
no schedule in which the cache breaks an invariant, and fails with the story of the first one.
"""

import functools
import importlib
import importlib.util
import inspect
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig


def binary():
    """Where the command is: in ISR_SIM_BINARY, or among the scripts that this package came with."""
    said = os.environ.get("ISR_SIM_BINARY")
    if said:
        found = shutil.which(said)
        if found is None:
            raise FileNotFoundError(f"isr-sim: ISR_SIM_BINARY is {said}, expected a command, seen from {os.getcwd()}")
        return os.path.abspath(found)  # tests run in other folders
    name = "isr-sim.exe" if os.name == "nt" else "isr-sim"
    beside = pathlib.Path(sysconfig.get_path("scripts")) / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise FileNotFoundError(
            f"isr-sim: found no command {beside}, and none in PATH\n"
            "hint: install the wheel for this machine, or say in ISR_SIM_BINARY where the command is"
        )
    return found


def _flags(options):
    """The flags of isr-sim check for options: max_age is --max-age, True is a flag alone, and a list is a flag for
    each."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")  # for_ is --for
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                flags += [flag, str(one)]
    return flags


def check(can=("get",), terms=None, exec=None, keep=None, new_process=False, **options):
    """A test that is a check. can names what the cache does (get, invalidate, regenerate, rollback), a lock (hold,
    held, extend) or a layer of calls (once). terms are what a lock or a layer promises, and with new_process each life
    is a process of its own: isr_sim.node takes all three. options are the flags of isr-sim check: worlds, schedules,
    seed, rows, without, reach, max_age, for_ and others. exec is the command of a node in any language, in the place of
    what the function makes. keep is the folder for the run that fails: by default it is beside the test, below
    __isr_sim__.
    """

    if callable(can):
        raise TypeError("isr_sim_pytest: found @check, expected options, such as @check(can=[\"get\"])")

    def decorate(create):
        if exec is None:
            _accepts(create)

        def test(request):
            import pytest

            if not hasattr(request, "node"):
                pytest.fail(f"{create.__qualname__} is a method, expected a function or a staticmethod", pytrace=False)
            file = pathlib.Path(str(request.node.fspath))
            said = {**options, "lock": "hold" in can, "once": "once" in can}
            for name in ("seed", "worlds"):
                given = request.config.getoption("--isr-sim-" + name, None)
                if given is not None:
                    said[name] = given
            # The name by which pytest has found the test: a function that makes tests gives all of them one __name__.
            classes = request.cls.__qualname__.split(".") if request.cls else []
            folder = keep or pathlib.Path("__isr_sim__") / file.stem / _plain(".".join([*classes, request.node.name]))
            found = ".".join([*classes, request.node.originalname])
            command = exec or shlex.join([sys.executable, "-m", "isr_sim_pytest", str(file), found])
            try:
                args = [binary(), "check", "--exec", command, "--keep", str(folder), *_flags(said)]
                env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
                done = subprocess.run(
                    args, cwd=file.parent, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            except OSError as failure:
                pytest.fail(str(failure), pytrace=False)
            request.node.user_properties += [
                ("isr-sim " + name, str(value)) for name, value in said.items() if value is not False]
            if done.returncode == 0 and done.stdout:
                request.node.add_report_section("call", _judged, done.stdout)
            else:
                # The nodes' output is left out if there is a violation, which it would hide. Without a verdict, it may
                # say why.
                said = done.stdout if done.returncode == 1 else done.stdout + done.stderr
                said = said or f"{args[0]} said nothing, expected what it has judged\n"
                pytest.fail(f"isr-sim check, exit code {done.returncode}, in {file.parent}:\n{said}", pytrace=False)

        test.__name__, test.__qualname__ = create.__name__, create.__qualname__
        test.__module__, test.__doc__ = create.__module__, create.__doc__
        test.pytestmark = list(getattr(create, "pytestmark", []))  # pytest refuses those that need arguments
        test.isr_sim = create, tuple(can), terms, new_process
        return test

    return decorate


def _accepts(create):
    """Refuses a function that cannot make a cache in another process, where there is no test."""
    takes = inspect.signature(create)
    try:
        takes.bind({})
    except TypeError:
        raise TypeError(
            f"isr_sim_pytest: {create.__qualname__} takes {takes}, expected (init)\n"
            "hint: nodes are other processes, without fixtures, parameters and instances; make a check of each variant"
        ) from None
    if inspect.iscoroutinefunction(create):
        raise TypeError(f"isr_sim_pytest: {create.__qualname__} is async, expected a function that returns the cache")


def _plain(name):
    """The name of a folder: the parameters of a fixture may have anything in them."""
    return re.sub(r"[^\w.\[\]-]+", "-", name)


_judged = "by isr-sim"  # names what a report of a check that passed has in it: what was judged, and what nothing tested


def pytest_terminal_summary(terminalreporter):
    for outcome in ("passed", "xpassed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, said in getattr(report, "sections", []):
                if _judged in name:
                    terminalreporter.section(report.nodeid, sep="-")
                    terminalreporter.write(said)


def pytest_addoption(parser):
    group = parser.getgroup("isr-sim")
    group.addoption("--isr-sim-seed", help="the seed of checks, in the place of their own")
    group.addoption("--isr-sim-worlds", help="how many worlds checks draw, in the place of their own number")


def pytest_report_header(config):
    try:
        version = subprocess.run([binary(), "version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as failure:
        return f"isr-sim: {failure}"
    return version


def _node(path, name):
    """Is the node of a test. The file is read after the kit, so that what it imports is simulated."""
    import isr_sim

    file = pathlib.Path(path)
    names, folder = [file.stem], file.parent
    while (folder / "__init__.py").exists():  # the test is a module of a package
        names.insert(0, folder.name)
        folder = folder.parent
    if len(names) > 1 and not getattr(sys.flags, "safe_path", False):
        sys.path.pop(0)  # the folder of the test, whose modules have longer names
    sys.path.insert(0, str(folder))
    if len(names) > 1:
        importlib.import_module(".".join(names[:-1]))
    spec = importlib.util.spec_from_file_location(".".join(names), file)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    isr_sim.node(*functools.reduce(getattr, name.split("."), module).isr_sim)


if __name__ == "__main__":
    _node(*sys.argv[1:])
