"""The C interface, <ptxloom.h>, by ctypes."""

import ctypes as c
import functools
import os
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field

from ._folders import command, library

_MESSAGE = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)
_OUTPUT = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(c.c_char), c.c_size_t)


class _Options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t), ("device", c.c_char_p), ("workers", c.c_uint), ("seed", c.c_uint64),
        ("timeout_ms", c.c_uint64), ("message", _MESSAGE), ("output", _OUTPUT),
        ("user", c.c_void_p), ("host_functions", c.c_char_p), ("deterministic", c.c_int),
        ("checks", c.c_char_p), ("weak", c.c_uint64), ("counters", c.c_int),
    ]


class _Param(c.Structure):
    _fields_ = [
        ("name", c.c_char_p), ("type", c.c_char_p), ("offset", c.c_size_t), ("bytes", c.c_size_t),
        ("align", c.c_size_t), ("is_array", c.c_int),
    ]


class _Config(c.Structure):
    _fields_ = [
        ("grid", c.c_uint * 3), ("block", c.c_uint * 3), ("dynamic_shared", c.c_size_t),
        ("cooperative", c.c_int), ("cluster", c.c_uint * 3),
    ]


class _Fault(c.Structure):
    _fields_ = [
        ("status", c.c_int), ("kind", c.c_char * 32), ("kernel", c.c_char * 256),
        ("function", c.c_char * 256), ("cta", c.c_uint * 3), ("thread", c.c_uint * 3),
        ("ptx_file", c.c_char * 256), ("ptx_line", c.c_uint), ("source_file", c.c_char * 512),
        ("source_line", c.c_uint), ("has_address", c.c_int), ("is_write", c.c_int),
        ("address", c.c_uint64), ("bytes", c.c_uint64), ("message", c.c_char * 4096),
    ]


class _Place(c.Structure):
    _fields_ = [
        ("what", c.c_char_p), ("function", c.c_char_p), ("file", c.c_char_p), ("line", c.c_uint),
        ("has_thread", c.c_int), ("thread", c.c_uint * 3), ("block", c.c_uint * 3),
    ]


class _Finding(c.Structure):
    _fields_ = [
        ("check", c.c_char_p), ("kind", c.c_char_p), ("message", c.c_char_p), ("text", c.c_char_p),
        ("kernel", c.c_char_p), ("is_warning", c.c_int), ("has_address", c.c_int),
        ("address", c.c_uint64), ("count", c.c_uint64), ("place_count", c.c_uint),
        ("host_count", c.c_uint), ("places", c.POINTER(_Place)), ("hosts", c.POINTER(_Place)),
    ]


class _Findings(c.Structure):
    _fields_ = [
        ("checks", c.c_char_p), ("count", c.c_size_t),
        ("finding", c.POINTER(c.POINTER(_Finding))),
    ]


class _Launches(c.Structure):
    _fields_ = [("kernel", c.c_char_p), ("first", c.c_uint64), ("count", c.c_uint64)]


class _MetricInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("unit", c.c_char_p), ("kind", c.c_int)]


class _CountedLaunch(c.Structure):
    _fields_ = [
        ("number", c.c_uint64), ("grid", c.c_uint * 3), ("block", c.c_uint * 3),
        ("cluster", c.c_uint * 3), ("device", c.c_uint), ("device_name", c.c_char_p),
        ("stream", c.c_uint64), ("value", c.POINTER(c.c_double)),
    ]


class _CountedInsn(c.Structure):
    _fields_ = [
        ("function", c.c_char_p), ("text", c.c_char_p), ("file", c.c_char_p), ("line", c.c_uint),
        ("ptx_line", c.c_uint), ("count", c.POINTER(c.c_uint64)),
    ]


class _CountedKernel(c.Structure):
    _fields_ = [
        ("name", c.c_char_p), ("mangled", c.c_char_p), ("value", c.POINTER(c.c_double)),
        ("launch_count", c.c_size_t), ("insn_count", c.c_size_t),
        ("launch", c.POINTER(c.POINTER(_CountedLaunch))),
        ("insn", c.POINTER(c.POINTER(_CountedInsn))),
    ]


class _Counters(c.Structure):
    _fields_ = [
        ("metric_count", c.c_size_t), ("column_count", c.c_size_t), ("kernel_count", c.c_size_t),
        ("metric", c.POINTER(c.POINTER(_MetricInfo))), ("column", c.POINTER(c.c_char_p)),
        ("kernel", c.POINTER(c.POINTER(_CountedKernel))),
    ]


_HANDLE = c.c_void_p
_FUNCTIONS = {
    "ptxloom_status_text": (c.c_char_p, [c.c_int]),
    "ptxloom_status_name": (c.c_char_p, [c.c_int]),
    "ptxloom_device_open": (c.c_int, [c.POINTER(_Options), c.POINTER(_HANDLE)]),
    "ptxloom_device_close": (None, [_HANDLE]),
    "ptxloom_device_name": (c.c_char_p, [_HANDLE]),
    "ptxloom_device_number": (c.c_int, [_HANDLE, c.c_char_p, c.POINTER(c.c_int64)]),
    "ptxloom_device_sync": (c.c_int, [_HANDLE]),
    "ptxloom_module_load_file": (c.c_int, [_HANDLE, c.c_char_p, c.POINTER(_HANDLE)]),
    "ptxloom_module_load": (c.c_int, [_HANDLE, c.c_char_p, c.c_size_t, c.POINTER(_HANDLE)]),
    "ptxloom_module_unload": (None, [_HANDLE]),
    "ptxloom_module_kernel": (_HANDLE, [_HANDLE, c.c_char_p]),
    "ptxloom_module_kernel_nth": (_HANDLE, [_HANDLE, c.c_uint]),
    "ptxloom_kernel_name": (c.c_char_p, [_HANDLE]),
    "ptxloom_kernel_param_count": (c.c_uint, [_HANDLE]),
    "ptxloom_kernel_param": (c.c_int, [_HANDLE, c.c_uint, c.POINTER(_Param)]),
    "ptxloom_register": (c.c_int, [_HANDLE, c.c_void_p, c.c_size_t]),
    "ptxloom_unregister": (c.c_int, [_HANDLE, c.c_void_p]),
    "ptxloom_launch": (c.c_int, [_HANDLE, c.POINTER(_Config), c.POINTER(c.c_void_p)]),
    "ptxloom_last_fault": (c.c_int, [_HANDLE, c.POINTER(_Fault)]),
    "ptxloom_findings": (c.POINTER(_Findings), [_HANDLE]),
    "ptxloom_findings_free": (None, [c.POINTER(_Findings)]),
    "ptxloom_findings_clear": (None, [_HANDLE]),
    "ptxloom_device_reset": (c.c_int, [_HANDLE]),
    "ptxloom_metric": (c.c_int, [_HANDLE, c.POINTER(_Launches), c.c_char_p,
                                 c.POINTER(c.c_double)]),
    "ptxloom_metric_expect": (c.c_int, [_HANDLE, c.POINTER(_Launches), c.c_char_p, c.c_char_p,
                                        c.c_size_t]),
    "ptxloom_counters": (c.POINTER(_Counters), [_HANDLE]),
    "ptxloom_counters_free": (None, [c.POINTER(_Counters)]),
    "ptxloom_counters_clear": (None, [_HANDLE]),
}


@functools.lru_cache(None)
def _lib():
    lib = c.CDLL(library())
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def _text(b):
    return b.decode(errors="replace") if b is not None else None


@dataclass(frozen=True)
class Place:
    """A place in device code, or a call of the host. None: unknown."""

    what: str
    function: str
    file: str
    line: int
    thread: tuple
    block: tuple


@dataclass(frozen=True)
class Finding:
    """What a check has found: see ptxloom_findings(3)."""

    check: str
    kind: str
    message: str
    text: str
    kernel: str
    is_warning: bool
    address: int
    count: int
    places: tuple = field(repr=False)
    hosts: tuple = field(repr=False)


@dataclass(frozen=True)
class CountedLaunch:
    """A launch. metrics: by ncu's names; what is not known is not there."""

    number: int
    grid: tuple
    block: tuple
    cluster: tuple
    device: int
    device_name: str
    stream: int
    metrics: dict = field(repr=False)


@dataclass(frozen=True)
class CountedLine:
    """An instruction that was executed. counts: by column, "inst" or "global_sectors"."""

    function: str
    text: str
    file: str
    line: int
    ptx_line: int
    counts: dict = field(repr=False)


@dataclass(frozen=True)
class CountedKernel:
    """The launches of a kernel. metrics: of all of them together."""

    name: str
    mangled: str
    metrics: dict = field(repr=False)
    launches: tuple = field(repr=False)
    lines: tuple = field(repr=False)


class Error(RuntimeError):
    """A call that failed. status: CUDA's number; name: "cudaErrorInvalidValue"."""

    def __init__(self, status, message):
        self.status = status
        self.name = _text(_lib().ptxloom_status_name(status))
        super().__init__(message or _text(_lib().ptxloom_status_text(status)))


class Fault(Error):
    """A kernel that ended with an error.

    kind, kernel, function: words; source, ptx: (file, line) or None; thread, block: coordinates;
    address: of the access, or None.
    """

    def __init__(self, fault):
        super().__init__(fault.status, _text(fault.message))
        self.kind, self.kernel = _text(fault.kind), _text(fault.kernel)
        self.function = _text(fault.function)
        self.source = (_text(fault.source_file), fault.source_line) if fault.source_line else None
        self.ptx = (_text(fault.ptx_file), fault.ptx_line) if fault.ptx_line else None
        self.thread, self.block = tuple(fault.thread), tuple(fault.cta)
        self.address = fault.address if fault.has_address else None


def _place(p):
    return Place(
        _text(p.what), _text(p.function), _text(p.file), p.line or None,
        tuple(p.thread) if p.has_thread else None, tuple(p.block) if p.has_thread else None)


def _read_findings(lib, handle):
    all_of = lib.ptxloom_findings(handle)
    if not all_of:
        raise MemoryError
    try:
        out = []
        for i in range(all_of.contents.count):
            f = all_of.contents.finding[i].contents
            out.append(Finding(
                _text(f.check), _text(f.kind), _text(f.message), _text(f.text), _text(f.kernel),
                bool(f.is_warning), f.address if f.has_address else None, f.count,
                tuple(_place(f.places[k]) for k in range(f.place_count)),
                tuple(_place(f.hosts[k]) for k in range(f.host_count))))
        return out
    finally:
        lib.ptxloom_findings_free(all_of)


def _values(names, at):
    return {name: at[i] for i, name in enumerate(names) if at[i] == at[i]}


def _launch(x, names):
    return CountedLaunch(
        x.number, tuple(x.grid), tuple(x.block), tuple(x.cluster), x.device, _text(x.device_name),
        x.stream, _values(names, x.value))


def _line(x, columns):
    return CountedLine(
        _text(x.function), _text(x.text), _text(x.file), x.line or None, x.ptx_line,
        {name: x.count[i] for i, name in enumerate(columns) if x.count[i]})


def _read_counters(lib, handle):
    all_of = lib.ptxloom_counters(handle)
    if not all_of:
        raise MemoryError
    try:
        x = all_of.contents
        names = [_text(x.metric[i].contents.name) for i in range(x.metric_count)]
        columns = [_text(x.column[i]) for i in range(x.column_count)]
        out = []
        for i in range(x.kernel_count):
            k = x.kernel[i].contents
            out.append(CountedKernel(
                _text(k.name), _text(k.mangled), _values(names, k.value),
                tuple(_launch(k.launch[n].contents, names) for n in range(k.launch_count)),
                tuple(_line(k.insn[n].contents, columns) for n in range(k.insn_count))))
        return out
    finally:
        lib.ptxloom_counters_free(all_of)


def _read_metric(lib, handle, name, kernel, say):
    out = c.c_double()
    which = _Launches(kernel.encode() if kernel else None, 0, 0)
    status = lib.ptxloom_metric(handle, c.byref(which), name.encode(), c.byref(out))
    if not status:
        return out.value
    # Of a process there are no messages, but a claim says why it does not hold.
    why = c.create_string_buffer(4096)
    lib.ptxloom_metric_expect(handle, c.byref(which), (name + " == 0 +- 1%").encode(), why, len(why))
    say()
    raise Error(status, _text(why.value))


def _expect_metric(lib, handle, claim, kernel):
    why = c.create_string_buffer(4096)
    which = _Launches(kernel.encode() if kernel else None, 0, 0)
    status = lib.ptxloom_metric_expect(handle, c.byref(which), claim.encode(), why, len(why))
    if status == _ASSERT:
        raise AssertionError(_text(why.value))
    if status:
        raise Error(status, _text(why.value))


_ASSERT = 710


def counters():
    """What is counted below ``PTXLOOM_COUNTERS`` in this process: a list of CountedKernel."""
    return _read_counters(_lib(), None)


def clear_counters():
    """Forget what was counted in this process."""
    _lib().ptxloom_counters_clear(None)


def metric(name, kernel=None):
    """A metric of all launches (of ``kernel``) of this process: ncu's name, or a short one.

    Raises Error where there is none, or nothing is counted.
    """
    return _read_metric(_lib(), None, name, kernel, lambda: None)


def expect_metric(claim, kernel=None):
    """Raise AssertionError where "bank_conflicts == 0" does not hold for this process."""
    _expect_metric(_lib(), None, claim, kernel)


def findings():
    """What ``ptxloom run --check`` has found so far in this process."""
    return _read_findings(_lib(), None)


def clear_findings():
    """Forget what was found in this process: it changes no exit status."""
    _lib().ptxloom_findings_clear(None)


def _triple(value):
    values = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(values) <= 3 or any(not 0 < v <= 0xFFFFFFFF for v in values):
        raise ValueError("a size is one to three numbers from 1, not %r" % (value,))
    return values + (1,) * (3 - len(values))


# enum ptxloom_counting
_COUNTING = {None: 0, False: 1, True: 2, "nothing": 1, "exact": 2, "caches": 3}


# struct's letters of the PTX types of parameters.
_FORMATS = {
    "u8": "B", "s8": "b", "b8": "B", "u16": "H", "s16": "h", "b16": "H", "u32": "I", "s32": "i",
    "b32": "I", "u64": "Q", "s64": "q", "b64": "Q", "f32": "f", "f64": "d", "f16": "e",
}


class Device:
    """An emulated GPU.

    name: a device of ``ptxloom devices``, or a file; workers, seed, timeout_ms, checks: as the
    options of ptxloom_device_open(3). Output of kernels goes to ``output``, a function of bytes;
    without it, to standard output. counters: "exact" or "caches" is what is counted of launches.
    """

    def __init__(self, name=None, *, workers=0, seed=0, timeout_ms=0, checks=None, output=None,
                 deterministic=False, counters=None, weak=0):
        if counters not in _COUNTING:
            raise ValueError('counters are "exact" or "caches", not %r' % (counters,))
        self._lib = _lib()
        self._messages = []
        self._hear = _MESSAGE(lambda _, text: self._messages.append(_text(text)))
        self._output = _OUTPUT(lambda _, at, size: output(at[:size])) if output else _OUTPUT()
        options = _Options(
            c.sizeof(_Options), os.fsencode(name) if name else None, workers, seed, timeout_ms,
            self._hear, self._output, None, None, int(deterministic),
            checks.encode() if checks else None, weak, _COUNTING[counters])
        self._handle = _HANDLE()
        status = self._lib.ptxloom_device_open(c.byref(options), c.byref(self._handle))
        if status:
            self._handle = None
            raise Error(status, self._message())

    def close(self):
        """Free the device with its modules. Further use of them is an error."""
        if self._handle:
            self._lib.ptxloom_device_close(self._handle)
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def _open(self):
        if not self._handle:
            raise ValueError("the device is closed")
        return self._handle

    def _message(self):
        """The messages since the last call."""
        text = "".join(self._messages).strip()
        self._messages.clear()
        return text

    @property
    def name(self):
        """The product's name: "NVIDIA A100-SXM4-40GB"."""
        return _text(self._lib.ptxloom_device_name(self._open()))

    def number(self, name):
        """An integer of the profile: "sms", "warp_size". Raises KeyError."""
        out = c.c_int64()
        if self._lib.ptxloom_device_number(self._open(), name.encode(), c.byref(out)):
            raise KeyError(name)
        return out.value

    def load(self, file, options=()):
        """A module: PTX, a fat binary, a program; CUDA C++ (.cu) is compiled with ``options``."""
        path = os.fspath(file)
        if not path.endswith(".cu"):
            return self._load(path)
        with tempfile.TemporaryDirectory() as folder:
            ptx = os.path.join(folder, os.path.basename(path)[:-3] + ".ptx")
            built = subprocess.run(
                [command(), "cc", "-ptx", "-lineinfo", *options, path, "-o", ptx],
                stderr=subprocess.PIPE, text=True, check=False)
            if built.returncode:
                raise Error(218, built.stderr.strip())
            return self._load(ptx)

    def load_text(self, ptx):
        """A module of PTX in a string."""
        text = ptx.encode()
        handle = _HANDLE()
        status = self._lib.ptxloom_module_load(self._open(), text, len(text), c.byref(handle))
        return self._module(status, handle)

    def _load(self, path):
        handle = _HANDLE()
        status = self._lib.ptxloom_module_load_file(
            self._open(), os.fsencode(path), c.byref(handle))
        return self._module(status, handle)

    def _module(self, status, handle):
        message = self._message()
        if status:
            raise Error(status, message)
        return Module(self, handle)

    def findings(self):
        """What the checks of this device have found so far: a list of Finding."""
        return _read_findings(self._lib, self._open())

    def clear_findings(self):
        """Forget what was found."""
        self._lib.ptxloom_findings_clear(self._open())

    def counters(self):
        """What is counted of this device's launches: a list of CountedKernel."""
        return _read_counters(self._lib, self._open())

    def clear_counters(self):
        """Forget what was counted."""
        self._lib.ptxloom_counters_clear(self._open())

    def metric(self, name, kernel=None):
        """A metric of all launches (of ``kernel``) together: ncu's name, or a short one.

        Raises Error where there is none, or it is not counted.
        """
        self._message()
        return _read_metric(self._lib, self._open(), name, kernel, self._message)

    def expect_metric(self, claim, kernel=None):
        """Raise AssertionError where "bank_conflicts == 0" does not hold."""
        _expect_metric(self._lib, self._open(), claim, kernel)

    def reset(self):
        """As if it was opened now: modules and kernels of it must not be used any more."""
        status = self._lib.ptxloom_device_reset(self._open())
        if status:
            raise Error(status, self._message())


def _demangled(name, _found=[]):
    """A C++ name as people write it, where there is a C++ library."""
    if not name.startswith("_Z"):
        return name
    if not _found:
        try:
            _found.append(c.CDLL("libstdc++.so.6").__cxa_demangle)
            _found[0].restype = c.c_void_p
        except (OSError, AttributeError):
            _found.append(None)
    status = c.c_int()
    text = _found[0] and _found[0](name.encode(), None, None, c.byref(status))
    if not text:
        return name
    try:
        return c.string_at(text).decode()
    finally:
        free = c.CDLL(None).free
        free.argtypes = [c.c_void_p]
        free(text)


def _without_last(text, opening, closing):
    """Without the last part in brackets."""
    depth = 0
    for i in range(len(text) - 1, -1, -1) if text.endswith(closing) else ():
        depth += (text[i] == closing) - (text[i] == opening)
        if not depth:
            return text[:i]
    return text


def _forms_of(name):
    """What a kernel may be called, without blanks: from the whole to the least."""
    full = _demangled(name)
    bare = full[5:] if full.startswith("void ") else full
    plain = _without_last(bare, "(", ")")
    least = _without_last(plain, "<", ">")
    # Without a C++ library.
    digits = name[2:].lstrip("0123456789") if name.startswith("_Z") else ""
    size = name[2:len(name) - len(digits)] if digits else ""
    short = digits[:int(size)] if size else ""
    return [form.replace(" ", "") for form in (full, bare, plain, least, short)]


class Module:
    """Kernels of one file on a device."""

    def __init__(self, device, handle):
        self._device, self._handle = device, handle

    def kernels(self):
        """The kernels' names, as in the PTX."""
        lib, out = self._device._lib, []
        self._device._open()
        while True:
            kernel = lib.ptxloom_module_kernel_nth(self._handle, len(out))
            if not kernel:
                return out
            out.append(_text(lib.ptxloom_kernel_name(kernel)))

    def kernel(self, name):
        """A kernel by its name in the PTX, or in C++ ("scale<float>") if only one has it.

        Raises KeyError.
        """
        names = self.kernels()
        if name not in names:
            wanted = name.replace(" ", "")
            forms = {n: _forms_of(n) for n in names}
            # With its parameters, without them, without arguments of a template, by what is there.
            fits = next((found for found in (
                [n for n in names if wanted in forms[n][i:i + 1]] for i in range(5)) if found), [])
            if len(fits) != 1:
                raise KeyError("%s; there are %s" % (
                    name, ", ".join(_demangled(n) for n in names) or "no kernels"))
            name = fits[0]
        return Kernel(self._device, self._device._lib.ptxloom_module_kernel(
            self._handle, name.encode()))


class Kernel:
    """A kernel. Its module's device must not be closed."""

    def __init__(self, device, handle):
        self._device, self._handle, self._lib = device, handle, device._lib
        self.name = _text(self._lib.ptxloom_kernel_name(handle))
        self.parameters = []
        for i in range(self._lib.ptxloom_kernel_param_count(handle)):
            p = _Param()
            self._lib.ptxloom_kernel_param(handle, i, c.byref(p))
            self.parameters.append((_text(p.name), _text(p.type), p.bytes))

    def launch(self, grid, block, *arguments, shared=0, cluster=None, cooperative=False):
        """Run the kernel and wait.

        grid, block, cluster: a number or up to three; shared: bytes of dynamic shared memory.
        Arguments are numbers, bytes (structures), and writable buffers such as NumPy arrays, whose
        memory the kernel uses in place. Raises Fault when the kernel ends with an error.
        """
        if len(arguments) != len(self.parameters):
            raise TypeError("%s takes %d arguments, not %d" % (
                self.name, len(self.parameters), len(arguments)))
        config = _Config(
            (c.c_uint * 3)(*_triple(grid)), (c.c_uint * 3)(*_triple(block)), shared,
            int(cooperative), (c.c_uint * 3)(*(_triple(cluster) if cluster else (0, 0, 0))))
        device = self._device._open()
        shared_memory, values = [], []
        try:
            for parameter, argument in zip(self.parameters, arguments):
                values.append(self._value(device, parameter, argument, shared_memory))
            pointers = (c.c_void_p * (len(values) or 1))(*(c.addressof(v) for v in values))
            status = self._lib.ptxloom_launch(self._handle, c.byref(config), pointers)
        finally:
            for address in shared_memory:
                self._lib.ptxloom_unregister(device, address)
        message = self._device._message()
        if status:
            raise self._error(device, status, message)

    def _error(self, device, status, message):
        fault = _Fault()
        self._lib.ptxloom_last_fault(device, c.byref(fault))
        if fault.status == status and fault.kernel:
            self._lib.ptxloom_device_sync(device)
            return Fault(fault)
        return Error(status, message)

    def _value(self, device, parameter, argument, shared_memory):
        name, kind, size = parameter
        if isinstance(argument, (bytes, bytearray)):
            if len(argument) != size:
                raise ValueError("%s has %d bytes, not %d" % (name, size, len(argument)))
            return c.create_string_buffer(bytes(argument), size)
        if isinstance(argument, (int, float)) or hasattr(argument, "__index__") \
                or (hasattr(argument, "__float__") and not hasattr(argument, "__len__")):
            return self._number(name, kind, size, argument)
        return self._buffer(device, name, argument, shared_memory)

    @staticmethod
    def _number(name, kind, size, argument):
        letter = _FORMATS.get(kind)
        if not letter or struct.calcsize(letter) != size:
            raise TypeError("%s has %d bytes: give it as bytes" % (name, size))
        value = float(argument) if letter in "fde" else argument.__index__()
        if letter in "BHIQ" and value < 0:
            value += 1 << (8 * size)
        try:
            return c.create_string_buffer(struct.pack("<" + letter, value), size)
        except (struct.error, OverflowError) as error:
            raise ValueError("%s (.%s): %s" % (name, kind, error)) from None

    def _buffer(self, device, name, argument, shared_memory):
        view = memoryview(argument)
        if view.readonly or not view.c_contiguous:
            raise TypeError("%s: the kernel needs a buffer that is writable and contiguous" % name)
        if not view.nbytes:
            return c.c_uint64(0)
        address = c.addressof(c.c_char.from_buffer(view.cast("B") if view.ndim != 1 or
                                                   view.format != "B" else view))
        if address not in shared_memory:
            status = self._lib.ptxloom_register(device, address, view.nbytes)
            if status:
                raise Error(status, self._device._message())
            shared_memory.append(address)
        return c.c_uint64(address)
