#!/usr/bin/env python3
"""Every documented result of the functions of the Tools API has a test that provokes it.

Runs the tests about them once more, with the recorder of API calls on, and looks in what it
recorded for each function and each result that the model, the checks that are generated from it,
or decided.yaml promise; for the checks, once for each parameter that they look at. What
decided.yaml says that nobody sees must not be there.

Each function that core/api/implemented.txt names succeeds on the virtual GPU, and none answers
UNSUPPORTED_FEATURE but where core/api/unsupported.yaml says so.

check_results.py --ctest PROGRAM --build FOLDER --source FOLDER --plugins FOLDER
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("skipped: package python3-yaml is absent")
    sys.exit(77)

# Each test gets this long; it has its own time limit where it is a test of its own.
SECONDS = 120
# Of the calls of one process. Every call is some 200 bytes, and no test here makes a million.
TRACE_LIMIT = "32M"
JOBS = 2

TESTS = re.compile(
    r"api\.(metric|metric_tracer|query|programmable|export|tracer|ip|debug|compat|trace)\.\w+"
    r"|api\.device\.kernel|api\.spirv\.modules")
# Random sequences, races and forks give no result that a test of one rule does not give too, and
# take longest; the test of the recorder records by itself.
LEFT_OUT = re.compile(r".*\.(sink|race|query_race|model|fork|threads|clients|beside|\w+_virtual|losses)")

# {"name":"zetFoo", ... "args":{ ... "result":"ZE_RESULT_BAR","error":"..."}}: a line of a trace.
# The sentence of a check begins with function and parameter.
CALL = re.compile(
    r'"name":"(zet\w+)".*"result":"ZE_RESULT_(\w+)"(?:,"error":"zet\w+: ([\w>-]+))?')
# Calls of the generated checks, and what they return.
CHECK = re.compile(
    r'zeta_(?:check_(null|enum|element)\(|object_explain\()[^;]*?"(zet\w+)",\s*"([^"]+)"')
RELATION = re.compile(r'zeta_check_relation\("(zet\w+)", ZE_RESULT_(\w+)')
UNSUPPORTED = "ERROR_UNSUPPORTED_FEATURE"
CHECK_RESULTS = {"null": "ERROR_INVALID_NULL_POINTER", "enum": "ERROR_INVALID_ENUMERATION",
                 "element": "ERROR_INVALID_NULL_HANDLE", "": "ERROR_INVALID_NULL_HANDLE"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def pairs(table):
    """The pairs of a table {function: [result, ...]}."""
    return [(name, result) for name, results in table.items() for result in results]


def limits(source):
    """Functions that are implemented and answer UNSUPPORTED_FEATURE all the same, somewhere."""
    groups = load(f"{source}/core/api/unsupported.yaml")
    return {name for group in groups if "where" in group for name in group["functions"]}


def stubs(found, source, virtual):
    """What is wrong with the functions that are marked as done, in sentences."""
    with open(f"{source}/core/api/implemented.txt", encoding="utf-8") as file:
        done = [line.strip() for line in file if line.startswith("zet")]
    for name in done:
        if not found[name, "SUCCESS", ""] & virtual:
            yield f"{name}: no test has it succeed on the virtual GPU"
        tests = sorted(found[name, UNSUPPORTED, ""])
        if tests and name not in limits(source):
            yield (f"{name}: {tests[0]} gets {UNSUPPORTED}, and core/api/unsupported.yaml does "
                   "not say where")


def expected(build, source):
    """What has to be: (function, result, parameter or "") with who promises it; and what never is."""
    wanted = {}
    for path in sorted(glob.glob(f"{source}/core/api/model/zet-*.yaml")):
        for name, function in load(path).get("functions", {}).items():
            wanted[name, "SUCCESS", ""] = "the model"
            for result in function.get("results", []):
                wanted[name, result, ""] = "the model"
    functions = {name for name, _, _ in wanted}
    with open(f"{build}/core/api/entries_zet.c", encoding="utf-8") as file:
        entries = file.read()
    checks = [(name, CHECK_RESULTS[kind], item) for kind, name, item in CHECK.findall(entries)]
    relations = [(name, result, "") for name, result in RELATION.findall(entries)]
    for check in checks + relations:
        if check[0] in functions:
            wanted[check] = "a generated check"
    table = load(f"{source}/tests/results/decided.yaml")
    for name, result in pairs(table["decided"]):
        if name not in functions:
            sys.exit(f"decided.yaml: {name} is no function of the Tools API")
        wanted.setdefault((name, result, ""), "decided.yaml")
    for name in limits(source) & functions:
        wanted.setdefault((name, UNSUPPORTED, ""), "unsupported.yaml")
    never = {(name, result, "") for name, result in pairs(table["never"])}
    for call in never:
        if wanted.pop(call, None) is None:
            sys.exit(f"decided.yaml: nothing else promises {call[1]} of {call[0]}")
    return wanted, never


def tests_of(ctest, build):
    """Name, command, folder and environment of each test to run."""
    listing = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"],
                             capture_output=True, check=True, text=True).stdout
    for test in json.loads(listing)["tests"]:
        name = test["name"]
        if not TESTS.fullmatch(name) or LEFT_OUT.fullmatch(name):
            continue
        if "command" not in test or not os.path.exists(test["command"][0]):
            print(f"{name}: not built")
            continue
        values = {p["name"]: p["value"] for p in test.get("properties", [])}
        environment = dict(pair.split("=", 1) for pair in values.get("ENVIRONMENT", []))
        yield name, test["command"], values.get("WORKING_DIRECTORY"), environment


def calls_in(folder):
    """(function, result, parameter or "") in the traces of a folder, which may be cut anywhere."""
    found = set()
    for path in glob.glob(f"{folder}/*"):
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                call = CALL.search(line)
                if call:
                    name, result, item = call.groups()
                    found |= {(name, result, ""), (name, result, item or "")}
        os.unlink(path)
    return found


def run(test, folder):
    """Runs a test; its name, how it ended, and the calls and results of all its processes."""
    name, command, directory, environment = test
    traces = os.path.join(folder, name)
    os.mkdir(traces)
    # The test may run at the same time by itself: the virtual GPU of this one is another.
    environment = {**os.environ, **environment, "ZETA_VGPU_INSTANCE": f"results-{os.getpid()}-{name}",
                   "ZETA_TRACE": f"{traces}/%p.json", "ZETA_TRACE_FILTER": "zet*",
                   "ZETA_TRACE_LIMIT": TRACE_LIMIT}
    try:
        status = subprocess.run(command, cwd=directory, env=environment, check=False,
                                timeout=SECONDS, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        status = f"no end within {SECONDS} s"
    return name, status, calls_in(traces)


def provoked(tests):
    """Runs the tests; which of them give a call and its result."""
    found = collections.defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for name, status, calls in pool.map(lambda test: run(test, folder), tests):
                if status not in (0, 77):
                    print(f"{name}, recorded, ended with {status}")
                for call in calls:
                    found[call].add(name)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctest", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--plugins", required=True, help="where only the virtual GPU has a manifest")
    options = parser.parse_args()
    wanted, never = expected(options.build, options.source)
    tests = list(tests_of(options.ctest, options.build))
    found = provoked(tests)
    missing = sorted(call for call in wanted if call not in found)
    for call in missing:
        name, result, item = call
        print(f"{name}: no test provokes {result}{' of ' + item if item else ''}, "
              f"which {wanted[call]} promises")
    wrong = sorted(never & found.keys())
    for call in wrong:
        print(f"{call[0]}: {call[1]} is not impossible, see {sorted(found[call])[0]}")
    virtual = {name for name, _, _, environment in tests
               if environment.get("ZETA_PLUGIN_PATH") == os.path.abspath(options.plugins)}
    not_done = list(stubs(found, options.source, virtual))
    for sentence in not_done:
        print(sentence)
    print(f"{len(wanted) - len(missing)} of {len(wanted)} results are provoked")
    return 1 if missing or wrong or not_done else 0


if __name__ == "__main__":
    sys.exit(main())
