"""Tests of the plugin for pytest without the real command: which function is the node's, and what is refused."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

KIT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# A command that has the node do one get, and prints what it returns.
COMMAND = '''#!%s
import json, subprocess, sys
if sys.argv[1] == "version":
    sys.exit(print("isr-sim v0"))
node = subprocess.Popen(
    sys.argv[sys.argv.index("--exec") + 1], shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def told(**line):
    print(json.dumps({"time": 0, **line}), file=node.stdin, flush=True)
def says(kind):
    for text in node.stdout:
        if json.loads(text)["type"] == kind:
            return json.loads(text)
says("hello")
told(type="init", seed=1, endpoint="http://127.0.0.1:1")
says("ready")
told(type="command", id=1, verb="get", key="")
print("it got", says("reply").get("body"))
told(type="end")
''' % sys.executable

BEGIN = '''
import pytest
from isr_sim import OtherPayload, boto3_options, origin
from isr_sim_pytest import check

class Of:
    def __init__(self, body):
        self.body = body
    def get(self, key):
        return self.body, False
'''


def pytested(source, *flags, name="test_it.py", package=False, **environment):
    """What pytest says of a file, and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        command = at / "isr-sim"
        command.write_text(COMMAND)
        command.chmod(0o755)
        of = at / "tests"
        of.mkdir()
        if package:
            (of / "__init__.py").touch()
            (of / "beside.py").write_text("body = 'from the package'")
        (of / name).write_text(BEGIN + textwrap.dedent(source))
        env = {**os.environ, "PYTHONPATH": KIT, "PYTHONDONTWRITEBYTECODE": "1", "ISR_SIM_BINARY": str(command),
               **environment}
        args = [sys.executable, "-m", "pytest", "-p", "isr_sim_pytest", "-p", "no:cacheprovider", *flags, "tests"]
        done = subprocess.run(args, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
        return done.stdout, done.returncode


class PytestTest(unittest.TestCase):
    def test_each_test_has_its_own_node(self):
        said, code = pytested('''
            def of(body):
                @check()
                def test_made(init):
                    return Of(body)
                return test_made
            test_first = of("first")
            test_made = of("second")
            class TestThem:
                @staticmethod
                @check()
                def test_made(init):
                    return Of("third")
        ''')
        self.assertEqual(code, 0, said)
        tests = [line for line in said.splitlines() if line.startswith("-") and "::" in line]
        tests = [line.strip("- ").split("::", 1)[1] for line in tests]
        got = [line for line in said.splitlines() if line.startswith("it got")]
        self.assertEqual(dict(zip(tests, got)), {
            "test_first": "it got first", "test_made": "it got second", "TestThem::test_made": "it got third"})

    def test_a_test_in_a_package_imports_what_is_beside_it(self):
        said, code = pytested('''
            from . import beside
            @check()
            def test_it(init):
                return Of(beside.body)
        ''', package=True)
        self.assertEqual((code, "it got from the package" in said), (0, True), said)

    def test_marks_count(self):
        said, code = pytested('''
            @check()
            @pytest.mark.skip
            def test_skipped(init):
                return Of("")
        ''')
        self.assertEqual((code, "1 skipped" in said), (0, True), said)

    def test_what_a_node_cannot_be_given_is_refused(self):
        for source, complaint in {
            "@check\ndef test_it(init): pass": "found @check, expected options",
            "@check()\ndef test_it(init, mode): pass": "test_it takes (init, mode), expected (init)",
            "class TestIt:\n @check()\n def test_it(self, init): pass":
                "TestIt.test_it takes (self, init), expected (init)",
            "class TestIt:\n @check()\n def test_it(init): pass": "TestIt.test_it is a method",
            "@check()\nasync def test_it(init): pass": "test_it is async",
            "@check()\n@pytest.mark.parametrize('mode', [1, 2])\ndef test_it(init, mode=1): pass":
                "function uses no argument 'mode'",
        }.items():
            said, code = pytested(source)
            self.assertIn(complaint, said)
            self.assertNotEqual(code, 0, said)

    def test_a_command_that_says_nothing_is_no_check(self):
        source = "@check()\ndef test_it(init): return Of('')"
        said, code = pytested(source, ISR_SIM_BINARY="true")
        self.assertEqual((code, "said nothing, expected what it has judged" in said), (1, True), said)
        said, code = pytested(source, ISR_SIM_BINARY="nowhere")
        self.assertEqual((code, "ISR_SIM_BINARY is nowhere, expected a command" in said), (1, True), said)
        said, code = pytested(source, ISR_SIM_BINARY="./isr-sim")  # the test is in another folder
        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    unittest.main()
