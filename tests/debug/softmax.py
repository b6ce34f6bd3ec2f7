"""softmax.py FILE: writes the PTX that Triton makes of a kernel."""
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + cols, mask=cols < n, other=-1e30)
    m = tl.max(v, axis=0)
    e = tl.exp(v - m)
    s = tl.sum(e, axis=0)
    tl.store(out + row * n + cols, e / s, mask=cols < n)


source = triton.compiler.ASTSource(fn=softmax, signature={"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"},
                                   constexprs={"BLOCK": 128})
with open(sys.argv[1], "w") as f:
    f.write(triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["ptx"])
