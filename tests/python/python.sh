# The Python package: kernels by ctypes, the plugin for pytest, the wheel.
. "${srcdir:-.}/tests/tap.sh"

cd "$scratch" || exit 1
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$top/python
export PYTHONDONTWRITEBYTECODE PYTHONPATH
: "${PYTHON:=python3}"
command -v "$PYTHON" >/dev/null 2>&1 || skip_rest "python3 is not installed"

succeeds "python -m ptxloom" "$PYTHON" -m ptxloom --version
says out '^ptxloom [0-9]' "is the command"
succeeds "kernels on buffers" "$PYTHON" "$top/tests/python/kernels.py" "$top/samples/saxpy.ptx" \
	"$top/tests/check/race.ptx"
says out '^NVIDIA H100 80GB HBM3 132$' "a device"
says out "^\[\('n', 'u32'\), \('a', 'f32'\), \('x', 'u64'\), \('y', 'u64'\)\]$" "parameters"
says out '^\[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0\]$' "results"
says out '^TypeError .*takes 4 arguments, not 3' "too few arguments"
says out '^ValueError .*y has 8 bytes, not 4' "bytes that do not fit"
says out '^Error cudaErrorInvalidValue.* 4096 threads' "a block that is too large"
says out '^ValueError .*a size is one to three numbers' "a grid of nothing"
says out '^ValueError .*n [(].u32[)]' "a number that is too large"
says out '^TypeError .*writable' "a buffer that is not writable"
says out '^KeyError .*saxpi; there are saxpy' "a kernel that is not there"
says out "_Z1fIfEvPT_i', '_Z1fIiEvPT_i', '_Z5scalePfi', '_Z5scalePfi'" "names of C++"
says out '^KeyError .*f; there are void f<int>' "of which several fit"
says out '^Error cudaErrorFileNotFound.*nowhere.ptx' "a file that is not there"
says out '^Error cudaErrorInvalidPtx' "PTX that is wrong"
says out '^Error cudaErrorInvalidDevice.*h1000' "a device that is not there"
says out '^fault cudaErrorIllegalAddress Invalid address 34 [(]8, 0, 0[)] [(]0, 0, 0[)]' "a fault"
says out "\('race', False, 13\)\]$" "findings"
says out '^\[\]$' "that can be cleared"
says out '^ValueError .*the device is closed' "a device that is closed"
says out 'global_ld_sectors at saxpy.ptx:34 is [0-9]+, expected == 3' "a metric of a line"
says out '^4\.0$' "a metric"
says out '^saxpy \[1.0, 1.0\]$' "of each launch"
says out '^\[[(]34, 2[)], [(]35, 2[)], [(]37, 2[)]\]$' "counts of lines"
says out '^AssertionError .*global_ld_sectors is [0-9]+, expected == 3$' "a claim that does not hold"
says out '^    most at .*saxpy.ptx:3[45]: ld.global.f32 .* [(][0-9]+[)]$' "and why"
says out "^Error cudaErrorInvalidValue 'nothing' is not METRIC OP NUMBER" "one that is none"
says out '^Error cudaErrorNotSupported .*caches are not played' "a metric of the caches"
says out '^Error cudaErrorSymbolNotFound .*no launch of saxpi was counted' "of no kernel"
says out '^Error .*did you mean l1tex__t_requests.sum' "a name with a mistake"
says out '^Error cudaErrorInvalidValue launches are not counted' "of a process that counts nothing"
says out "^ValueError .*not 'all'" "wrong counters"
says out '^\[\] \[\]$' "a device that is reset"

# ---- pytest ----

for python in "$PYTHON" /usr/bin/python3; do
	"$python" -c 'import pytest' 2>/dev/null && break
	python=
done
[ -n "$python" ] || skip_rest "pytest is not installed"
cp "$top/tests/python/test_saxpy.py" "$top/samples/saxpy.ptx" .

# tests OPTION...: pytest with the plugin, which an installed package names itself.
tests()
{
	timeout 300 "$python" -m pytest -p ptxloom.pytest_plugin -p no:cacheprovider "$@"
}

succeeds "pytest --ptxloom" tests --ptxloom -v
says out 'test_mark\[h100-seed1\] PASSED' "a mark makes environments"
says out '10 passed, 1 skipped' "all of them pass"
capture mkdir elsewhere
(cd elsewhere && tests --ptxloom=t4,h100 -q ../test_saxpy.py) >out 2>&1
says out '16 passed, 2 skipped' "from another folder, on two devices"
FAULT=1
export FAULT
ends 1 "a fault" tests --ptxloom=t4 --ptxloom-check=mem --junitxml=out.xml -v
unset FAULT
says out 'test_after PASSED' "harms no other test"
says out '1 failed, 10 passed' "and is one"
says out 'Invalid __global__ read of size 4 bytes' "it is explained"
grep -q 'name="ptxloom.fault" value="cudaErrorIllegalAddress"' out.xml &&
	grep -q 'name="ptxloom.device" value="t4"' out.xml
ok $? "JUnit has the device and the fault"
grep -q 'name="ptxloom.metric.bank_conflicts" value="0"' out.xml &&
	grep -q 'name="ptxloom.metric.dram__sectors_read\[saxpy\]" value="[1-9]' out.xml
ok $? "and the metrics that were asked for"
cat >test_kernel.py <<END
import array

def test_far(ptxloom_kernel):
    one = array.array("f", [1])
    ptxloom_kernel("saxpy.ptx", "saxpy").launch(1, 2, 2, 1.0, one, one)

def test_next(ptxloom_kernel):
    one = array.array("f", [1])
    ptxloom_kernel("saxpy.ptx", "saxpy").launch(1, 1, 1, 1.0, one, one)
END
ends 1 "a fault of a kernel without CUDA" tests --ptxloom --junitxml=kernel.xml test_kernel.py
says out '1 failed, 1 passed' "is the test's own"
ok "$([ "$(grep -c 'name="ptxloom.fault" value="cudaErrorIllegalAddress"' kernel.xml)" = 1 ]; echo $?)" \
	"and known to JUnit"
rm test_kernel.py
ends 4 "a word that is no seed" tests --ptxloom --ptxloom-seeds=many
says err "'many' is not numbers" "is named"
printf 'import pytest\n@pytest.mark.ptxloom(devise="t4")\ndef test_wrong():\n    pass\n' >test_wrong.py
ends 4 "a file behind --ptxloom" tests --ptxloom test_wrong.py
says err "--ptxloom has taken 'test_wrong.py' for a device: write --ptxloom=DEVICES" "is no device"
ends 2 "a word that no mark has" tests --ptxloom=t4 test_wrong.py
says out '^test_wrong.py::test_wrong: the mark ptxloom does not know devise$' "is named"
ok "$(grep -q _hookexec "$scratch/out"; echo $((!$?)))" "without pytest's own stack"
rm test_wrong.py
"$python" -c 'import xdist' 2>/dev/null || skip_rest "pytest-xdist is not installed"
succeeds "devices, in three processes" tests --ptxloom=t4,a100,h100 -n 3 -v
says out 'PASSED.*test_before\[a100\]' "are parts of names"
says out '22 passed, 3 skipped' "and each test runs on each"
skip_rest ""

# ---- the wheel ----

PYTHONPATH=
for python in "$PYTHON" /usr/bin/python3; do
	"$python" -c 'import setuptools, wheel, venv' 2>/dev/null && break
	python=
done
[ -n "$python" ] || skip_rest "$PYTHON has no setuptools and wheel"
command -v patchelf >/dev/null 2>&1 || skip_rest "patchelf is not installed"
PYTHON=$python capture sh "$top/python/build_wheel.sh" "$top" "$bin" "$scratch/wheel"
verdict $? "a wheel is built"
succeeds "an environment for it" "$python" -m venv --system-site-packages env
succeeds "it is installed" env/bin/pip install -q --no-index --no-deps wheel/*.whl
unset PYTHONPATH
PATH=$scratch/env/bin:/usr/local/bin:/usr/bin:/bin
succeeds "and has the command" ptxloom exec "$top/samples/saxpy.ptx" --block 4 --arg u32=4 --arg f32=2 \
	--buffer x:f32=1,2,3,4 --buffer y:f32[4]=ones --dump y
says out '3 5 7 9' "which runs kernels"
succeeds "it runs programs" ptxloom run env/bin/python -c 'import ctypes; print(ctypes.CDLL("libcuda.so.1").cuInit(0))'
says out '^0$' "that find CUDA"
succeeds "and nvidia-smi" ptxloom run -d t4 nvidia-smi -L
says out '^GPU 0: Tesla T4' "of the wheel"
if command -v auditwheel >/dev/null 2>&1; then
	succeeds "auditwheel reads the wheel" auditwheel show "$scratch"/wheel/*.whl
	says any "$(basename "$scratch"/wheel/*.whl .whl | sed 's/.*-none-//; s/_x86_64//')" "and finds its tag"
else
	skip "the tag of the wheel" "auditwheel is not installed"
fi
finish
