# The same results for any number of workers (--stable), limits of memory, what comes after a fault.
. "${srcdir:-.}/tests/tap.sh"
cp "$top"/tests/testkit/stable.cu "$top"/tests/testkit/after.cu "$top"/samples/testkit/*.cu "$scratch"
cd "$scratch" || exit 1

refused 2 "^ptxloom run: error: --memory takes a size in bytes, or with a unit: 64M, 2G, or auto, not '0'" \
	"no memory" ptxloom run --memory 0 true
refused 2 "takes a size" "a unit that there is not" ptxloom run --memory 5X true
refused 2 "takes a size" "too much" ptxloom run --memory 99999999T true
refused 2 "^ptxloom: error: PTXLOOM_MEMORY takes a size" "the variable" env PTXLOOM_MEMORY=much ptxloom run true
refused 2 "takes stick, reset, exit or continue" "no such policy" ptxloom run --after-fault=stop true
refused 2 "there is no value for '--memory'" "a value is missing" ptxloom run --memory
refused 2 "takes no value" "a value too much" ptxloom run --stable=1 true
ends 124 "--limit is --timeout" ptxloom run --limit 300ms sleep 60

# Half a gigabyte, by each way in.
saxpy="ptxloom exec $top/samples/saxpy.ptx --block 4 --arg u32=4 --arg f32=2"
ends 2 "exec: more than there is" env PTXLOOM_MEMORY=2M $saxpy --buffer 'x:f32[1000000]' --buffer 'y:f32[1000000]'
says err 'no memory for 4000000 bytes'
succeeds "exec: enough" env PTXLOOM_MEMORY=auto $saxpy --buffer 'x:f32[4]' --buffer 'y:f32[4]'
skip_rest "$(command -v python3 >/dev/null || echo no python3)"
cat >size.py <<'END'
import ctypes, sys
cuda = ctypes.CDLL("libcudart.so")
free, total, p = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_void_p()
assert cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)) == 0
status = [cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(int(n) << 20)) for n in sys.argv[1:]]
print(total.value, *status)
END
succeeds "64M" ptxloom run --memory 64M python3 size.py 100 60
is out '67108864 2 0'
PTXLOOM_MEMORY=1G succeeds "what a rule says is less" ptxloom run --inject memory=64M python3 size.py 100 60
is out '67108864 2 0'
PTXLOOM_MEMORY=64M succeeds "and more" ptxloom run --inject memory=1G python3 size.py 100 60
is out '67108864 2 0'
succeeds "two devices alike" ptxloom run -d 2xt4 --memory 64M python3 size.py 60
is out '67108864 0'
CTEST_PARALLEL_LEVEL=1000000 succeeds "a part of very little" ptxloom run --memory auto python3 size.py 1
[ "$(cut -d' ' -f1 out)" -lt 8000000000 ]
verdict $? "auto is divided by the tests at once"

needs_clang
for name in stable after fsum; do
	succeeds "$name: builds" ptxloom cc "$name.cu" -o "$name"
done
# workers SEED: what `stable` prints is the same for these numbers of workers.
same_for_all()
{
	for workers in 1 2 3 8; do
		env PTXLOOM_SEED="$1" PTXLOOM_WORKERS=$workers ptxloom run --stable ./stable >"stable.$1.$workers" 2>&1
		same "stable.$1.1" "stable.$1.$workers" "seed $1: 1 and $workers workers"
	done
	skipping || [ "$(wc -l <"stable.$1.1")" = 6 ]
	ok $? "six kernels"
}
same_for_all 0
same_for_all 5
! skipping && cmp -s stable.0.1 stable.5.1
ok $((! $?)) "another seed is another order"
for workers in 1 2 5 8; do
	PTXLOOM_STABLE=1 PTXLOOM_WORKERS=$workers ptxloom run ./fsum >"fsum.$workers" 2>&1
	same fsum.1 "fsum.$workers" "fsum: 1 and $workers workers"
done

# After a fault.
ends 1 "stick" ptxloom run ./after
says out '^2: 700$'
says out '^3: 700$' "the device does not come back"
ends 86 "exit" ptxloom run --after-fault=exit ./after
! skipping && grep -q '^[23]:' out
ok $((! $?)) "nothing is done after the fault"
says err 'the process ends after this fault \(PTXLOOM_AFTER_FAULT=exit\)'
says err 'Invalid address'
ends 1 "reset" ptxloom run --after-fault=reset ./after
says out '^2: 700$'
says out '^3: 0$' "a new device for the next test"
finish
