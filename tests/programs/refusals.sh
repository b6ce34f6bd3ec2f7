# What is said of launches that are refused and of calls that fail, of kernels that run if asked for, and of
# accesses that pass though no allocation has them.
. "${srcdir:-.}/tests/tap.sh"
cp "$srcdir/tests/programs/refusals.cu" "$scratch/refusals.cu"
cd "$scratch" || exit 1
needs_clang
succeeds "refusals.cu builds" ptxloom cc -lineinfo refusals.cu -o refusals

# told HOW TEXT: all of standard error.
told()
{
	capture timeout 60 ptxloom run ./refusals "$1"
	empty "$([ "$(cat err)" = "$2" ] || cat err)" "$1: ${2:-nothing is said}"
}

note="ptxloom: note: the launch of scale(int*, int)"
unseen="the program never asked for the error (cudaGetLastError)"
told "" ""
told block "$note<<<(1,1,1), (4000,1,1), 0>>> failed: cudaErrorInvalidValue (1), the block has 4000 threads in \
dimension x, the device allows 1024; $unseen"
told grid "$note<<<(0,1,1), (32,1,1), 0>>> failed: cudaErrorInvalidValue (1), the grid has no CTAs in dimension x; \
$unseen"
told shared "$note<<<(1,1,1), (32,1,1), 1048576>>> failed: cudaErrorInvalidValue (1), 1048576 bytes of dynamic shared \
memory were requested, this kernel may have 49152; $unseen"
told thrice "$note<<<(1,1,1), (2000,1,1), 0>>> failed: cudaErrorInvalidValue (1), the block has 2000 threads in \
dimension x, the device allows 1024; 2 more failed; $unseen"
# Who looks is not told.
told checks ""
told peeks ""
told calls ""

PTXLOOM_LOG=api capture ptxloom run ./refusals checks
sed 's/0x[0-9a-f]*/0x/g' err >said
empty "$(diff said - <<END
ptxloom: api: the launch of scale(int*, int)<<<(1,1,1), (4000,1,1), 0>>> failed: cudaErrorInvalidValue (1), the \
block has 4000 threads in dimension x, the device allows 1024
ptxloom: api: cudaLaunchKernel(stub=0x, grid=(1,1,1), block=(4000,1,1), args=0x, shared=0, stream=NULL) failed: \
cudaErrorInvalidValue (1), invalid argument
END
)" "PTXLOOM_LOG=api: the launch and the call that failed"
# Calls of the driver interface, by address: name, arguments, result.
PTXLOOM_LOG=api capture ptxloom run ./refusals driver
sed 's/0x[0-9a-f]*/0x/g' err >said
empty "$(diff said - <<END
ptxloom: api: cuMemAlloc_v2(out=0x, size=0) failed: CUDA_ERROR_INVALID_VALUE (1), invalid argument
ptxloom: api: cuModuleGetFunction(out=0x, m=NULL, name="no\\x0a") failed: CUDA_ERROR_INVALID_HANDLE \
(400), invalid resource handle
END
)" "PTXLOOM_LOG=api: calls of the driver interface that failed"
PTXLOOM_LOG=calls capture ptxloom run ./refusals driver
sed 's/0x[0-9a-f]*/0x/g' err | grep ': cu[A-Z]\|cudaFree\|cudaGetLast' >said
empty "$(diff said - <<END
ptxloom: calls: cudaFree(p=NULL) = cudaSuccess
ptxloom: calls: cuInit(flags=0) = CUDA_SUCCESS
ptxloom: calls: cuMemAlloc_v2(out=0x, size=1000) = CUDA_SUCCESS
ptxloom: api: cuMemAlloc_v2(out=0x, size=0) failed: CUDA_ERROR_INVALID_VALUE (1), invalid argument
ptxloom: api: cuModuleGetFunction(out=0x, m=NULL, name="no\\x0a") failed: CUDA_ERROR_INVALID_HANDLE \
(400), invalid resource handle
ptxloom: calls: cudaGetLastError() = cudaSuccess
END
)" "PTXLOOM_LOG=calls: all calls of both"
PTXLOOM_LOG=launch capture ptxloom run ./refusals
grep -qxE 'ptxloom: launch: scale\(int\*, int\)<<<\(1,1,1\), \(32,1,1\), 0>>> on device 0: [0-9]+\.[0-9]{3} ms' err
ok $? "each kernel is told of"

# Two launches of a kernel with two lines that read past the end: two notes and a sum.
capture ptxloom run ./refusals slack
ok "$([ "$(cat out)" = cudaSuccess ]; echo $?)" "accesses outside allocations pass"
notes=$(grep -c '^ptxloom: note: .* read of 4 bytes outside allocations, which hardware does not detect$' err)
ok "$([ "$notes" -eq 2 ]; echo $?)" "each line is told of once"
for mark in peek again; do
	grep -qE "^    at .*refusals\.cu:$(grep -n "/\* $mark \*/" refusals.cu | cut -d: -f1):" err
	ok $? "the line: $mark"
done
grep -qE '^    by thread \(0,0,0\) of block \(0,0,0\)' err && grep -qE \
	'^    address 0x[0-9a-f]+ is [0-9]+ bytes after a 4000-byte allocation at 0x[0-9a-f]+$' err
ok $? "the thread and the allocation"
tail -n 1 err | grep -E '^ptxloom: note: [0-9]+ accesses outside allocations that hardware does not detect,' |
	grep -q ' on 2 lines of kernels; they are faults with '
ok $? "at the end their number"
status 86 ptxloom run --check=mem ./refusals slack
says err '^========= Invalid __global__ read of size 4 bytes$'
finish
