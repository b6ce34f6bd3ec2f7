"""pytest --ptxloom[=DEVICES]: tests of CUDA programs and kernels on emulated GPUs.

pytest starts again below ``ptxloom run``, so that CUDA is there before anything is imported. Devices,
seeds, checks and limits make environments; the first is this process, and tests of others run in
processes of their own, which also take over when a fault has made a process's CUDA unusable.
"""

import json
import os
import subprocess
import sys

import pytest

from ._folders import command

_INSIDE = "_PTXLOOM_PYTEST"       # set below `ptxloom run`: the environment of this process, as JSON
_SERVE = "_PTXLOOM_PYTEST_SERVE"  # set in processes that run tests for another

# What a mark may say, and the variable that says it to ptxloom.
_VARIABLES = {
    "device": "PTXLOOM_DEVICE", "seed": "PTXLOOM_SEED", "check": "PTXLOOM_CHECK",
    "inject": "PTXLOOM_INJECT", "memory": "PTXLOOM_MEMORY", "timeout": "PTXLOOM_TIMEOUT",
    "counters": "PTXLOOM_COUNTERS",
}


def _words(value):
    if value is None:
        return []
    if isinstance(value, str):
        return [w for w in value.split(",") if w]
    return list(value)


def _seeds(text):
    """"0..4" or "1,7": numbers."""
    first, dots, last = text.partition("..")
    try:
        if dots:
            return list(range(int(first), int(last) + 1))
        return [int(w) for w in _words(text)]
    except ValueError:
        raise pytest.UsageError("--ptxloom-seeds: '%s' is not numbers, as 1,2 or 0..4" % text) \
            from None


def pytest_addoption(parser):
    group = parser.getgroup("ptxloom", "emulated GPUs")
    group.addoption("--ptxloom", nargs="?", const="default", metavar="DEVICES",
                    help="run on emulated GPUs; several, as t4,a100,h100: each test on each")
    group.addoption("--ptxloom-seeds", metavar="SEEDS",
                    help="run each test with these orders of threads, as 1,2 or 0..4")
    group.addoption("--ptxloom-check", metavar="CHECKS",
                    help="checks of `ptxloom run --check`; errors that they find fail the test")
    group.addoption("--ptxloom-memory", metavar="SIZE", help="memory of a device, as 2G")
    group.addoption("--ptxloom-timeout", metavar="TIME", help="how long a launch may take")
    group.addoption("--ptxloom-counters", metavar="WHAT",
                    help="exact or caches: what is counted for the fixture ptxloom_metrics")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "ptxloom(device, seeds, check, inject, memory, timeout, counters): the environment of a "
        "test; "
        "device and seeds may be several")
    if config.getoption("--ptxloom"):
        config.pluginmanager.register(_Plugin(config), "ptxloom-session")


def _default(config):
    """The environment of the command line: variables of _VARIABLES, without those that are unset."""
    devices = [d for d in _words(config.getoption("--ptxloom")) if d != "default"]
    seeds = _seeds(config.getoption("--ptxloom-seeds") or "")
    out = {
        "device": devices[0] if devices else os.environ.get("PTXLOOM_DEVICE"),
        "seed": seeds[0] if seeds else os.environ.get("PTXLOOM_SEED"),
        "check": config.getoption("--ptxloom-check") or os.environ.get("PTXLOOM_CHECK"),
        "inject": os.environ.get("PTXLOOM_INJECT"),
        "memory": config.getoption("--ptxloom-memory") or os.environ.get("PTXLOOM_MEMORY"),
        "timeout": config.getoption("--ptxloom-timeout") or os.environ.get("PTXLOOM_TIMEOUT"),
        "counters": config.getoption("--ptxloom-counters") or os.environ.get("PTXLOOM_COUNTERS"),
    }
    return {k: str(v) for k, v in out.items() if v not in (None, "")}


def _variables(environment):
    """The process environment of an environment of tests."""
    out = dict(os.environ)
    for key, name in _VARIABLES.items():
        out.pop(name, None)
        if key in environment:
            out[name] = environment[key]
    # What was found, and libraries of an emulation around this process, are set anew.
    out[_INSIDE] = json.dumps(environment, sort_keys=True)
    return out


def _refuse_files(devices):
    """Without = the option takes the next word, whatever it is."""
    for word in _words(devices):
        if word.endswith(".py") or "::" in word or os.path.isdir(word):
            raise pytest.UsageError(
                "--ptxloom has taken '%s' for a device: write --ptxloom=DEVICES, or tests before "
                "the option" % word)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Start again below `ptxloom run`, before conftest files of tests import CUDA."""
    _refuse_files(config.getoption("--ptxloom"))
    if not config.getoption("--ptxloom") or _INSIDE in os.environ \
            or hasattr(config, "workerinput"):
        return
    try:
        words = [command(), "run", "--", sys.executable, "-m", "pytest",
                 *config.invocation_params.args]
    except FileNotFoundError as error:
        raise pytest.UsageError(str(error)) from None
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        capture.stop_global_capturing()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(words[0], words, _variables(_default(config)))


class _Child:
    """A process that runs tests in another environment. Tests go in by name, reports come back."""

    def __init__(self, config, environment):
        reports, to_parent = os.pipe()
        from_parent, names = os.pipe()
        environ = _variables(environment)
        environ[_SERVE] = "%d %d" % (from_parent, to_parent)
        # Names of tests are seen from there, wherever pytest was started.
        root = ["--rootdir=%s" % config.rootpath]
        if config.inipath:
            root += ["-c", str(config.inipath)]
        last = ["-n0"] if config.pluginmanager.hasplugin("xdist") else []
        if config.getoption("xmlpath", None):
            last.append("--junitxml=" + os.devnull)
        shown = config.getoption("capture") == "no"
        self._process = subprocess.Popen(
            [command(), "run", "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *root,
             *_without_files(config, config.invocation_params.args), *last],
            env=environ, stdin=subprocess.DEVNULL, pass_fds=[from_parent, to_parent],
            stdout=sys.stderr if shown else subprocess.DEVNULL,
            cwd=str(config.invocation_params.dir))
        os.close(from_parent)
        os.close(to_parent)
        self._names, self._lines = os.fdopen(names, "w"), os.fdopen(reports, "r")

    def run(self, nodeid):
        """Reports of a test, as they were serialised; the last is None if the process has ended."""
        try:
            self._names.write(json.dumps(nodeid) + "\n")
            self._names.flush()
        except BrokenPipeError:
            yield None
            return
        for line in self._lines:
            message = json.loads(line)
            if message.get("done"):
                return
            yield message["report"]
        yield None

    def status(self):
        """How the process ended, in words."""
        code = self._process.wait()
        return "by signal %d" % -code if code < 0 else "with exit status %d" % code

    def close(self):
        """End the process."""
        try:
            self._names.close()
        except BrokenPipeError:
            pass
        self._lines.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _without_files(config, arguments):
    """The options of the command line: files are collected test by test."""
    files = set(config.option.file_or_dir or ())
    return [a for a in arguments if a not in files]


class _Plugin:
    """What --ptxloom does in a session."""

    def __init__(self, config):
        self._config = config
        self._own = json.loads(os.environ.get(_INSIDE, "{}"))
        self._base = _default(config)
        self._children = {}
        self._spoilt = False

    # ---- ids ----

    @pytest.hookimpl(trylast=True)
    def pytest_generate_tests(self, metafunc):
        """Devices and seeds become part of the test's name when there are several."""
        mark = metafunc.definition.get_closest_marker("ptxloom")
        said = mark.kwargs if mark else {}
        unknown = set(said) - {
            "device", "seeds", "check", "inject", "memory", "timeout", "counters"}
        if unknown or (mark and mark.args):
            raise pytest.Collector.CollectError("%s: the mark ptxloom does not know %s" % (
                metafunc.definition.nodeid, ", ".join(sorted(unknown)) or "words without names"))
        option = self._config.getoption
        devices = _words(said.get("device")) or \
            [d for d in _words(option("--ptxloom")) if d != "default"]
        seeds = _words(said["seeds"]) if "seeds" in said else _seeds(option("--ptxloom-seeds") or "")
        rest = {k: str(said[k]) for k in (
            "check", "inject", "memory", "timeout", "counters") if k in said}
        if not (devices[1:] or seeds[1:] or said):
            return
        names, environments = [], []
        for device in devices or [None]:
            for seed in seeds or [None]:
                more = {k: str(v) for k, v in (("device", device), ("seed", seed)) if v is not None}
                environments.append({**self._base, **rest, **more})
                names.append("-".join(
                    ([device] if device and len(devices) > 1 else []) +
                    (["seed%s" % seed] if seed is not None and len(seeds) > 1 else [])))
        metafunc.fixturenames.insert(0, "_ptxloom_environment")
        metafunc.parametrize("_ptxloom_environment", environments, indirect=True,
                             ids=names if len(names) > 1 else ["ptxloom"])

    @staticmethod
    def _environment(item, base):
        callspec = getattr(item, "callspec", None)
        return callspec.params.get("_ptxloom_environment", base) if callspec else base

    def pytest_collection_modifyitems(self, items):
        """Tests of one environment follow each other; those of this process come first."""
        order = {}
        for item in items:
            key = json.dumps(self._environment(item, self._base), sort_keys=True)
            order.setdefault(key, len(order) + 1)
            if key == json.dumps(self._own, sort_keys=True):
                order[key] = 0
        items.sort(key=lambda i: order[json.dumps(self._environment(i, self._base),
                                                  sort_keys=True)])

    # ---- running ----

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Tests of other environments, and those after a fault, run in another process."""
        environment = self._environment(item, self._base)
        for key, value in environment.items():
            item.user_properties.append(("ptxloom." + key, value))
        if _SERVE in os.environ or (environment == self._own and not self._spoilt):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        self._run_elsewhere(item, environment)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _run_elsewhere(self, item, environment):
        key = json.dumps(environment, sort_keys=True)
        child = self._children.get(key)
        if not child:
            child = self._children[key] = _Child(self._config, environment)
        spoilt = False
        for data in child.run(item.nodeid):
            if data is None:
                del self._children[key]
                self._report_end(item, child)
                return
            report = self._config.hook.pytest_report_from_serializable(
                config=self._config, data=data)
            if isinstance(report.longrepr, list):  # JSON has no tuples: where and why it was skipped
                report.longrepr = tuple(report.longrepr)
            spoilt |= any(name == "ptxloom.fault" for name, _ in report.user_properties)
            item.ihook.pytest_runtest_logreport(report=report)
        if spoilt:
            child.close()
            del self._children[key]

    @staticmethod
    def _report_end(item, child):
        text = "the process of the test ended %s" % child.status()
        report = pytest.TestReport(
            item.nodeid, item.location, {}, "failed", text, "call",
            user_properties=list(item.user_properties))
        item.ihook.pytest_runtest_logreport(report=report)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """A fault that CUDA keeps, and errors that checks have found, belong to the test."""
        outcome = yield
        report = outcome.get_result()
        if call.when != "call":
            return
        fault = _sticky_fault()
        if fault and not self._spoilt:
            self._spoilt = True
            self._note(item, report, "fault", fault)
            if report.passed:
                report.outcome = "failed"
                report.longrepr = "a kernel has failed: %s" % fault
        elif _is_fault_of_kernel(call.excinfo):
            self._note(item, report, "fault", call.excinfo.value.name)
        found = self._new_findings()
        if found:
            self._note(item, report, "findings", len(found))
            if report.passed:
                report.outcome = "failed"
                report.longrepr = "\n".join(found)
            else:
                report.sections.append(("ptxloom checks", "\n".join(found)))

    @staticmethod
    def _note(item, report, name, value):
        """A property of the report, and of those that follow it."""
        item.user_properties.append(("ptxloom." + name, value))
        report.user_properties.append(("ptxloom." + name, value))

    @staticmethod
    def _new_findings():
        """Errors since the last test; warnings do not fail tests. pytest's exit status tells."""
        if "PTXLOOM_CHECK" not in os.environ:
            return []
        from ._library import clear_findings, findings
        found = findings()
        clear_findings()
        return [f.text for f in found if not f.is_warning]

    def pytest_sessionfinish(self):
        """End the other processes."""
        for child in self._children.values():
            child.close()
        self._children.clear()

    def pytest_report_header(self):
        """What is emulated."""
        return "ptxloom: %s" % (", ".join(
            "%s %s" % (k, v) for k, v in sorted(self._own.items())) or "default device")

    # ---- a process that runs tests for another ----

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session):
        """Nothing is collected until a test is asked for."""
        if _SERVE not in os.environ:
            return None
        session.items, session.testscollected = [], 0
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Run what is asked for, until the other end closes."""
        if _SERVE not in os.environ:
            return None
        names, reports = (int(w) for w in os.environ[_SERVE].split())
        with os.fdopen(names) as lines, os.fdopen(reports, "w") as out:
            self._out = out
            for line in lines:
                self._serve_one(session, json.loads(line))
                out.write(json.dumps({"done": True}) + "\n")
                out.flush()
        return True

    def _serve_one(self, session, nodeid):
        file, colons, rest = nodeid.partition("::")
        path = os.path.join(str(session.config.rootpath), file) + colons + rest.split("[", 1)[0]
        items = [i for i in session.perform_collect([path], genitems=True) if i.nodeid == nodeid]
        for item in items:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)

    def pytest_runtest_logreport(self, report):
        """Reports go to the process that asked."""
        if _SERVE not in os.environ:
            return
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._out.write(json.dumps({"report": data}) + "\n")
        self._out.flush()


def _is_fault_of_kernel(excinfo):
    """Has a launch through ptxloom_kernel ended the test? CUDA of the process is as before."""
    library = sys.modules.get(__package__ + "._library")
    return bool(excinfo and library) and isinstance(excinfo.value, library.Fault)


def _sticky_fault():
    """The name of an error that CUDA answers until the device is reset; None: there is none."""
    import ctypes
    try:
        runtime = ctypes.CDLL(None)
        synchronize, name = runtime.cudaDeviceSynchronize, runtime.cudaGetErrorName
    except AttributeError:
        return None
    if not _cuda_is_used(runtime):
        return None
    status = synchronize()
    if status not in _STICKY:
        return None
    name.restype = ctypes.c_char_p
    return name(status).decode()


# Errors after which a device is unusable. Source: the descriptions of cudaError in CUDA's reference.
_STICKY = {46, 214, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721}


def _cuda_is_used(runtime):
    """Has this process a context? Asking for one must not make it."""
    import ctypes
    active, flags = ctypes.c_int(0), ctypes.c_uint(0)
    try:
        state = runtime.cuDevicePrimaryCtxGetState
    except AttributeError:
        return False
    return state(0, ctypes.byref(flags), ctypes.byref(active)) == 0 and bool(active.value)


# ---- fixtures ----

@pytest.fixture
def _ptxloom_environment(request):
    return request.param


@pytest.fixture
def ptxloom_device(request):
    """The name of the emulated device; None: the default, or without --ptxloom."""
    return json.loads(os.environ.get(_INSIDE, "{}")).get("device")


class Metrics:
    """What the launches of a test did: of CUDA programs, and of the fixture ptxloom_kernel."""

    def __init__(self, item):
        self._item = item
        self._device = None  # of ptxloom_kernel; None: the test has not used it

    def _counted(self):
        """What has launched: the process (by its module), the device of ptxloom_kernel."""
        import ptxloom
        return [s for s in (ptxloom, self._device) if s and s.counters()]

    def _source(self, kernel):
        """Who has all launches that are meant; rates of two devices cannot be added."""
        import ptxloom
        sources = self._counted()
        if len(sources) == 2 and kernel is not None:
            sources = [s for s in sources if self._has(s, kernel)] or sources[:1]
        if len(sources) == 2:
            raise ValueError(
                "CUDA calls of this process have launched and ptxloom_kernel, too: %s" % (
                    "kernels of one, please: metric(NAME, KERNEL)" if kernel is None else
                    "both have kernels '%s'" % kernel))
        return sources[0] if sources else self._device or ptxloom

    @staticmethod
    def _has(source, kernel):
        """Has it launched such a kernel?"""
        import ptxloom
        try:
            source.metric("instructions", kernel)
        except ptxloom.Error as error:
            return error.name != "cudaErrorSymbolNotFound"
        return True

    def _note(self, source, name, kernel):
        """A property of the test, for --junitxml; the last value of each name stays."""
        key = "ptxloom.metric.%s%s" % (name, "" if kernel is None else "[%s]" % kernel)
        value = "%.15g" % source.metric(name, kernel)
        properties = self._item.user_properties
        properties[:] = [p for p in properties if p[0] != key] + [(key, value)]

    def metric(self, name, kernel=None):
        """A metric of all launches (of ``kernel``) together: see ptxloom.metric."""
        source = self._source(kernel)
        value = source.metric(name, kernel)
        self._note(source, name, kernel)
        return value

    def expect(self, claim, kernel=None):
        """Fail unless "bank_conflicts == 0" holds: see ptxloom.expect_metric."""
        source = self._source(kernel)
        try:
            source.expect_metric(claim, kernel)
        except AssertionError:
            self._note(source, claim.split()[0], kernel)
            raise
        self._note(source, claim.split()[0], kernel)

    def counters(self):
        """A list of ptxloom.CountedKernel, of CUDA programs first."""
        return [k for s in self._counted() for k in s.counters()]


@pytest.fixture
def ptxloom_metrics(request):
    """What the launches of this test do, from here on: see Metrics."""
    from . import clear_counters
    if os.environ.get("PTXLOOM_COUNTERS", "nothing") == "nothing":
        pytest.fail("nothing is counted: --ptxloom-counters=exact, or the mark's counters=",
                    pytrace=False)
    clear_counters()
    return Metrics(request.node)


@pytest.fixture
def ptxloom_kernel(request):
    """A function (file, name) of kernels of a file beside the test: see ptxloom.Kernel."""
    from . import Device
    environment = json.loads(os.environ.get(_INSIDE, "{}"))
    # One for all kernels of the test, as a program has it: what is counted of it is theirs together.
    device = Device(environment.get("device"), checks=environment.get("check"),
                    seed=int(environment.get("seed", 0)))
    if "ptxloom_metrics" in request.fixturenames:
        request.getfixturevalue("ptxloom_metrics")._device = device

    def kernel(file, name, **options):
        path = os.path.join(os.path.dirname(str(request.node.fspath)), file)
        return device.load(path, **options).kernel(name)

    yield kernel
    found = [f.text for f in device.findings() if not f.is_warning]
    device.close()
    if found:
        pytest.fail("\n".join(found), pytrace=False)
