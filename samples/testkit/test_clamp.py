"""Tests of the kernels in clamp.cu by pytest: pytest --ptxloom=t4,h100 test_clamp.py"""

import array

import pytest


@pytest.mark.parametrize("n", [1, 33, 1000])
def test_tails(ptxloom_kernel, n):
    x = array.array("f", [i - n // 2 for i in range(n)])
    want = [min(max(v, -1), 1) for v in x]
    ptxloom_kernel("clamp.cu", "f<float>").launch((n + 127) // 128, 128, x, n)
    assert list(x) == want


@pytest.mark.ptxloom(seeds=range(2), check="race")
def test_any_order(ptxloom_kernel):
    x = array.array("i", [7] * 1000)
    ptxloom_kernel("clamp.cu", "f<int>").launch(8, 128, x, 1000)
    assert list(x) == [1] * 1000
