"""Tests by users of the plugin: kernels by themselves, and the driver by ctypes."""

import array
import ctypes
import os

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


class Cuda:
    """A kernel of saxpy.ptx through libcuda."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        context, module = ctypes.c_void_p(), ctypes.c_void_p()
        self.function = ctypes.c_void_p()
        self.check("cuInit", 0)
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.check("cuCtxSetCurrent", context)
        with open(os.path.join(HERE, "saxpy.ptx"), "rb") as file:
            self.check("cuModuleLoadData", ctypes.byref(module), file.read() + b"\0")
        self.check("cuModuleGetFunction", ctypes.byref(self.function), module, b"saxpy")

    def check(self, name, *arguments):
        """A call that must not fail."""
        status = getattr(self.driver, name)(*arguments)
        assert status == 0, "%s: %d" % (name, status)

    def copied(self, values):
        """Device memory with these floats."""
        out = ctypes.c_uint64()
        size = ctypes.c_size_t(4 * len(values))
        self.check("cuMemAlloc_v2", ctypes.byref(out), size)
        self.check("cuMemcpyHtoD_v2", out, (ctypes.c_float * len(values))(*values), size)
        return out

    def saxpy(self, n, a, x, y):
        """a * x + y, by n threads."""
        arguments = [ctypes.c_uint(n), ctypes.c_float(a), self.copied(x), self.copied(y)]
        pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(v) for v in arguments))
        back = (ctypes.c_float * len(y))()
        self.check("cuLaunchKernel", self.function, 1, 1, 1, 64, 1, 1, 0, None, pointers, None)
        self.check("cuMemcpyDtoH_v2", back, arguments[3], ctypes.c_size_t(4 * len(y)))
        return list(back)


@pytest.fixture(scope="module")
def cuda():
    """One for the tests of this file."""
    return Cuda()


def test_before(cuda):
    assert cuda.saxpy(4, 2.0, [1, 2, 3, 4], [1] * 4) == [3, 5, 7, 9]


@pytest.mark.skipif("FAULT" not in os.environ, reason="no fault is wanted")
def test_fault(cuda):
    cuda.saxpy(8, 2.0, [1, 2, 3, 4], [1] * 8)


def test_after(cuda):
    assert cuda.saxpy(4, 2.0, [1, 2, 3, 4], [1] * 4) == [3, 5, 7, 9]


@pytest.mark.ptxloom(device="t4,h100", seeds=range(2))
def test_mark(cuda, ptxloom_device):
    name = ctypes.create_string_buffer(100)
    cuda.check("cuDeviceGetName", name, 100, 0)
    assert ptxloom_device in ("t4", "h100")
    assert ptxloom_device.upper() in name.value.decode()


def test_kernel(ptxloom_kernel):
    x, y = array.array("f", [1, 2, 3, 4]), array.array("f", [1] * 4)
    ptxloom_kernel("saxpy.ptx", "saxpy").launch(1, 32, 4, 2.0, x, y)
    assert list(y) == [3, 5, 7, 9]


@pytest.mark.ptxloom(counters="caches")
def test_metrics(cuda, ptxloom_metrics):
    """Of CUDA's launches since the test began."""
    cuda.saxpy(4, 2.0, [1, 2, 3, 4], [1] * 4)
    assert ptxloom_metrics.metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 2
    assert ptxloom_metrics.metric("dram__sectors_read", "saxpy") > 2
    ptxloom_metrics.expect("bank_conflicts == 0")
    with pytest.raises(AssertionError, match="global_ld_sectors is 2, expected == 3"):
        ptxloom_metrics.expect("global_ld_sectors == 3")
    (kernel,) = ptxloom_metrics.counters()
    assert kernel.name == "saxpy" and [launch.block for launch in kernel.launches] == [(64, 1, 1)]


@pytest.mark.ptxloom(counters="exact")
def test_metrics_of_kernel(ptxloom_kernel, ptxloom_metrics):
    x, y = array.array("f", [1] * 64), array.array("f", [1] * 64)
    ptxloom_kernel("saxpy.ptx", "saxpy").launch(1, 64, 64, 2.0, x, y)
    assert ptxloom_metrics.metric("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 4
    ptxloom_metrics.expect("bank_conflicts == 0")


@pytest.mark.ptxloom(counters="exact")
def test_metrics_of_all_kernels(cuda, ptxloom_kernel, ptxloom_metrics):
    """Kernels of a test share its device; those of CUDA's calls are told apart by name."""
    x, y = array.array("f", [1] * 64), array.array("f", [1] * 64)
    for _ in range(2):
        ptxloom_kernel("saxpy.ptx", "saxpy").launch(1, 64, 64, 2.0, x, y)
    assert ptxloom_metrics.metric("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 8
    assert [len(k.launches) for k in ptxloom_metrics.counters()] == [2]
    with pytest.raises(Exception, match="no launch of saxpi was counted"):
        ptxloom_metrics.metric("barriers", "saxpi")
    cuda.saxpy(4, 2.0, [1, 2, 3, 4], [1] * 4)
    assert len(ptxloom_metrics.counters()) == 2
    with pytest.raises(ValueError, match="kernels of one, please"):
        ptxloom_metrics.metric("barriers")
    with pytest.raises(ValueError, match="both have kernels 'saxpy'"):
        ptxloom_metrics.expect("barriers == 0", "saxpy")
    with pytest.raises(Exception, match="no launch of saxpi was counted"):
        ptxloom_metrics.metric("barriers", "saxpi")
