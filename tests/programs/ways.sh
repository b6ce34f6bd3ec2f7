# The ways into a program: static and shared runtimes, libraries that are loaded, stripped programs,
# the run-time compiler, several processes and threads. What needs a compiler that is missing is skipped.
. "${srcdir:-.}/tests/tap.sh"

here=$srcdir/tests/programs

# runs DESCRIPTION PROGRAM [OPTION...]: the program runs and is satisfied.
runs()
{
	description=$1
	shift
	succeeds "$description" ptxloom run "$@"
	says any 'all right' "$description: results"
}

(eval "$(ptxloom env -d v100)" && [ "$PTXLOOM_DEVICE" = v100 ] && [ -f "${LD_PRELOAD%%:*}" ] &&
	[ "$NVCC_APPEND_FLAGS" = "-cudart shared" ])
ok $? "env prints commands for the shell"
ptxloom env -d v100 | tail -n 1 |
	grep -E "^# cmake -DCMAKE_TEST_LAUNCHER='(.*ptxloom;run;-d;v100;--)' -DCMAKE_CROSSCOMPILING_EMULATOR='\1' " |
	grep -q " -Dptxloom_DIR='.*/lib/cmake/ptxloom'$"
ok $? "env prints a line for CMake"
(NVCC_APPEND_FLAGS=-lineinfo && export NVCC_APPEND_FLAGS && eval "$(ptxloom env)" &&
	[ "$NVCC_APPEND_FLAGS" = "-lineinfo -cudart shared" ])
ok $? "env keeps the options nvcc gets already"

# What cannot be taken over, and what has no value.
for wrong in "run -d" "run --device" "env -d" "env --device"; do
	ptxloom $wrong 2>"$scratch/err"
	status=$?
	grep -q "there is no value for" "$scratch/err" && [ "$status" -eq 2 ]
	ok $? "$wrong wants a value"
done
[ "$(ptxloom run --device v100 sh -c 'echo $PTXLOOM_DEVICE')" = v100 ]
ok $? "--device is -d"
ptxloom run "$scratch/none" 2>/dev/null
ok "$([ $? -eq 127 ]; echo $?)" "a program that is not there: 127"
ptxloom run "$scratch" 2>"$scratch/err"
status=$?
grep -q "Is a directory" "$scratch/err" && [ "$status" -eq 126 ]
ok $? "a program that is a folder: 126"
# The first bytes of a 32-bit program, padded.
{ printf '\177ELF\001\001\001'; head -c 60 /dev/zero; } >"$scratch/narrow"
chmod +x "$scratch/narrow"
ptxloom run "$scratch/narrow" 2>"$scratch/err"
status=$?
grep -q "narrow: a 32-bit program cannot" "$scratch/err" && [ "$status" -eq 126 ]
ok $? "a 32-bit program is not started"
# The same of a 64-bit program for AArch64, whose number is 183: the shell is not to read it.
{ printf '\177ELF\002\001\001'; head -c 9 /dev/zero; printf '\002\000\267\000'; head -c 60 /dev/zero; } \
	>"$scratch/foreign"
chmod +x "$scratch/foreign"
for command in run debug; do
	ptxloom $command "$scratch/foreign" 2>"$scratch/err" </dev/null
	status=$?
	grep -q "foreign: a program for another processor (ELF machine 183)" "$scratch/err" &&
		[ "$status" -eq 126 ]
	ok $? "a program for another processor is not started by $command"
done
if echo 'int main(void) { return 7; }' >"$scratch/static.c" &&
	${CC:-cc} -static "$scratch/static.c" -o "$scratch/static" 2>/dev/null; then
	(PATH=$scratch:$PATH && ptxloom run static 2>"$scratch/err")
	status=$?
	grep -q "note: static is linked statically" "$scratch/err" && [ "$status" -eq 7 ]
	ok $? "a static program is started with a note"
else
	skip "a static program is started with a note" "no static C library"
fi
ptxloom run sh -c : 2>"$scratch/err"
ok "$([ ! -s "$scratch/err" ]; echo $?)" "a dynamic one is started without"

needs_clang
for variant in 0 2; do
	succeeds "Jacobi solver, variant $variant: builds with ptxloom cc" \
		ptxloom cc -DVARIANT=$variant "$here/jacobi.cu" -o "$scratch/program"
	runs "Jacobi solver, variant $variant, ptxloom cc" "$scratch/program"
done
# From here on programs are built by nvcc.
needs_nvcc
toolkit=${nvcc%/bin/nvcc}

# ---- static runtimes ----

sample=$srcdir/samples/vector_add.cu
for how in "-Xcompiler -fPIE -Xlinker -pie" "-Xcompiler -fno-pie -Xlinker -no-pie" "-rdc=true" "-O0 -G"; do
	# shellcheck disable=SC2086 # options
	succeeds "nvcc $how: builds" "$nvcc" -arch=sm_80 $how "$sample" -o "$scratch/program"
	runs "nvcc $how: runs" "$scratch/program"
done
for how in "-O2" "-G" "-lineinfo" "-gencode arch=compute_80,code=sm_80 -G"; do
	case $how in *gencode*) arch= ;; *) arch=-arch=sm_80 ;; esac
	# shellcheck disable=SC2086 # options
	{
		succeeds "two units, nvcc $how: the first" \
			"$nvcc" $arch -dc $how -DUNIT=1 "$here/linked.cu" -o "$scratch/1.o"
		succeeds "two units, nvcc $how: the second" \
			"$nvcc" $arch -dc $how -DUNIT=2 "$here/linked.cu" -o "$scratch/2.o"
		succeeds "two units, nvcc $how: they link" \
			"$nvcc" $arch $how "$scratch/1.o" "$scratch/2.o" -o "$scratch/program"
	}
	runs "two units, nvcc $how: runs" "$scratch/program"
done
runs "a child of a child" sh -c "sh -c '$scratch/program'"

succeeds "nvcc -cudart shared: builds" "$nvcc" -cudart shared -arch=sm_80 "$sample" -o "$scratch/program"
capture strip "$scratch/program"
runs "a stripped program with the shared runtime" "$scratch/program"
ok "$([ ! -s "$scratch/err" ]; echo $?)" "and without a message"
succeeds "machine code only: builds" "$nvcc" -gencode arch=compute_80,code=sm_80 "$sample" -o "$scratch/program"
ends 1 "a program of machine code fails" ptxloom run "$scratch/program"
says any 'code=compute_80' "and is told what to do"

# ---- libraries ----

succeeds "a library with a static runtime: builds" \
	"$nvcc" -arch=sm_80 -shared -Xcompiler -fPIC "$here/plugin.cu" -o "$scratch/plugin.so"
succeeds "its host: builds" ${CC:-cc} "$here/plugin_host.c" -o "$scratch/host" -ldl
runs "a library that is loaded, three times" "$scratch/host" "$scratch/plugin.so"

# ---- the run-time compiler ----

skipping || [ -f "$toolkit/lib64/libnvrtc.so" ] || skip_rest "no NVRTC"
link="-L$toolkit/lib64 -Wl,-rpath,$toolkit/lib64 -L$toolkit/lib64/stubs"
# shellcheck disable=SC2086 # options
succeeds "NVRTC, linked: builds" ${CC:-cc} "$here/nvrtc.c" -o "$scratch/program" $link -lnvrtc -lcuda -ldl
runs "NVRTC, linked" "$scratch/program"
ok "$([ ! -s "$scratch/err" ]; echo $?)" "NVRTC, linked: without a message"
# shellcheck disable=SC2086
succeeds "NVRTC, found: builds" ${CC:-cc} -DFIND "$here/nvrtc.c" -o "$scratch/program" $link -lcuda -ldl
works "NVRTC, found with dlsym" env "LD_LIBRARY_PATH=$toolkit/lib64" ptxloom run "$scratch/program"

needs_nvcc
skipping || { [ -f "$toolkit/lib64/libnvJitLink.so" ] && [ -f "$toolkit/include/nvrtc.h" ]; } ||
	skip_rest "no nvJitLink"
# shellcheck disable=SC2086
succeeds "nvJitLink: builds" ${CC:-cc} "-I$toolkit/include" "$here/jitlink.c" -o "$scratch/program" \
	$link -lnvJitLink -lnvrtc -lcuda
runs "nvJitLink" "$scratch/program"
for kind in ptx code; do
	runs "nvJitLink, for link time: $kind" "$scratch/program" $kind
done
echo 'extern "C" __device__ int twice(int x) { return 2 * x; }' >"$scratch/callee.cu"
succeeds "a fat binary for link time: builds" "$nvcc" -rdc=true -fatbin -arch=sm_80 "$scratch/callee.cu" \
	-o "$scratch/callee.fatbin"
runs "nvJitLink, for link time: other inputs" "$scratch/program" binary "$scratch/callee.fatbin" \
	"$toolkit/lib64/libcudadevrt.a"
needs_nvcc

# ---- structures ----

sed 's/^PROP(\([^,]*\), \([^,]*\), \([^,]*\), \([A-Z0-9]*\), .*/IN_\4(\1 \2[\3];)/;/^IN_/!d' \
	"$srcdir/runtime/cudart/prop.def" >"$scratch/fields"
{
	echo '#include <cstddef>'
	echo '#include <driver_types.h>'
	echo '#define IN_ALL(x) x'
	echo '#define IN_NOT13(x)'
	echo '#define IN_FROM12(x) x'
	echo '#define IN_ONLY13(x) x'
	echo 'struct ours {'
	cat "$scratch/fields"
	echo '};'
	sed -n 's/^IN_\(ALL\|FROM12\|ONLY13\)([^ ]* \([A-Za-z0-9]*\)\[.*/\2/p' "$scratch/fields" |
		while read -r field; do
			echo "static_assert(offsetof(ours, $field) == offsetof(cudaDeviceProp, $field), \"$field\");"
		done
} >"$scratch/layout.cpp"
skipping || grep -q 'CUDART_VERSION *13' "$toolkit/include/cuda_runtime_api.h" || skip_rest "another toolkit"
ok "$([ "$(grep -c static_assert "$scratch/layout.cpp")" -gt 80 ]; echo $?)" "cudaDeviceProp: fields were found"
succeeds "cudaDeviceProp of 13 is laid out as in its header" \
	"$nvcc" -x cu -c "$scratch/layout.cpp" -o "$scratch/layout.o"
needs_nvcc

# ---- kernels that launch kernels ----

succeeds "nested kernels: build" \
	"$nvcc" -arch=sm_80 -rdc=true "$here/nested.cu" -o "$scratch/program" -lcudadevrt
runs "nested kernels" "$scratch/program"

# ---- how far shared memory reaches ----

succeeds "shared memory's reach: builds" "$nvcc" -arch=sm_90 "$here/shared_reach.cu" -o "$scratch/program"
runs "shared memory's reach" -d h200 "$scratch/program"
for beyond in "0 0" "1 128" "128 128" "132 256"; do
	# shellcheck disable=SC2086
	capture ptxloom run -d h200 "$scratch/program" $beyond
	says out cudaErrorIllegalAddress "shared memory's reach: $beyond is beyond"
done
capture ptxloom run -d h200 --check=mem "$scratch/program" 1 0
says out cudaErrorIllegalAddress "shared memory's reach: to the byte when memory is checked"

# ---- many devices, threads and processes ----

jacobi=$here/jacobi.cu
for variant in 0 1 2; do
	succeeds "Jacobi solver, variant $variant: builds" \
		"$nvcc" -arch=sm_80 -DVARIANT=$variant -Xcompiler -fopenmp "$jacobi" -o "$scratch/program"
	for devices in v100 4xv100; do
		runs "Jacobi solver, variant $variant, $devices" -d "$devices" "$scratch/program"
	done
done
skipping || { command -v mpicxx && command -v mpirun; } >/dev/null || skip_rest "no MPI"
succeeds "Jacobi solver, MPI: builds" \
	"$nvcc" -arch=sm_80 -DVARIANT=3 -ccbin mpicxx "$jacobi" -o "$scratch/program"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
succeeds "Jacobi solver, 4 MPI processes" \
	mpirun --oversubscribe -n 4 ptxloom run -d 4xv100 "$scratch/program"
says any 'all right' "Jacobi solver, 4 MPI processes: results"
finish
