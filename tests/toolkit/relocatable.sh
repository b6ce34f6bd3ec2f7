# Relocatable device code: several files by `ptxloom cc`, archives, libraries, CMake, objects of nvcc's;
# names that files have for themselves; what does not link.
. "${srcdir:-.}/tests/tap.sh"

cd "$scratch" || exit 1
needs_clang

# ---- a kernel in one file, functions and variables in the other; both have static ones of the same names ----

cat >a.cu <<'END'
#include <cstdio>
extern __device__ int count;
extern __constant__ int factor[2];
extern __device__ int times(int, int);
extern int other();
static __device__ int hidden = 5;
namespace { __constant__ int own[2]; __device__ int start = 1; }
static __global__ void work(int *o)
{
	o[0] = times(hidden, factor[1]) + 1000 * own[1] + start;
	atomicAdd(&count, 1);
}
int main()
{
	int *d, h = 0, c = 0, f[2] = {3, 7}, z = 6, w[2] = {0, 4}, bad = cudaMalloc(&d, 4);

	bad |= cudaMemcpyToSymbol(factor, f, 8) | cudaMemcpyToSymbol(hidden, &z, 4) | cudaMemcpyToSymbol(own, w, 8);
	bad |= cudaMemcpyToSymbol(start, &z, 4);
	work<<<1, 1>>>(d);
	bad |= cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost) | cudaMemcpyFromSymbol(&c, count, 4);
	printf("%d %d %d %d\n", h, c, other(), bad);
}
END
cat >b.cu <<'END'
__device__ int count = 10;
__constant__ int factor[2];
static __device__ int hidden = 100;
namespace { __constant__ int own[2]; __device__ int start = 2; }
__device__ int times(int a, int b) { return a * b + hidden; }
static __global__ void work(int *o) { *o = hidden + own[1] + start; }
int other()
{
	int *d, h = -1, z = 200, w[2] = {0, 50};

	cudaMalloc(&d, 4);
	cudaMemcpyToSymbol(hidden, &z, 4), cudaMemcpyToSymbol(own, w, 8);
	work<<<1, 1>>>(d);
	cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
	return h;
}
END
# 6 * 7 + 100, + 4000, + 6; 200 + 50 + 2
right='4148 11 252 0'

# right NAME COMMAND...
right()
{
	what=$1
	shift
	succeeds "$what: runs" timeout 120 "$@"
	is out "$right"
}
succeeds "at once" ptxloom cc -rdc=true a.cu b.cu -o program
right "at once" ./program
succeeds "at once, -G" ptxloom cc -G -rdc=true a.cu b.cu -o program
right "at once, -G" ./program
succeeds "the first object" ptxloom cc -dc a.cu
succeeds "the second" ptxloom cc -rdc=true -lineinfo -c b.cu -o b.o
succeeds "objects" ptxloom cc a.o b.o -o program
right "objects" ./program
succeeds "their device code alone" ptxloom cc -dlink a.o b.o -o linked.o
succeeds "the link by another linker" c++ a.o b.o linked.o -o program -L"$libraries" -l:libcudart.so.13
right "another linker" ptxloom run ./program
succeeds "a link after a link" ptxloom cc a.o b.o linked.o -o program
right "a link after a link" ./program
succeeds "an archive" ptxloom cc -lib b.o -o libpart.a
succeeds "an archive by its name" ptxloom cc a.o -L. -lpart -lpart -o program
right "an archive by its name" ./program
succeeds "an archive as a file, twice" ptxloom cc a.o libpart.a libpart.a -o program
right "an archive as a file" ./program
succeeds "one source, compiled twice" ptxloom cc -dc -DUNIT=1 "$top/tests/programs/linked.cu" -o 1.o
succeeds "the second time" ptxloom cc -dc -DUNIT=2 "$top/tests/programs/linked.cu" -o 2.o
succeeds "both" ptxloom cc 1.o 2.o -o program
succeeds "both run" timeout 120 ./program
is out 'all right'
mkdir one two
cat >one/same.cu <<'END'
static __device__ int own = 1;
static __global__ void k() { own++; }
int main()
{
	k<<<1, 1>>>();
	return cudaDeviceSynchronize();
}
END
sed 's/main/other/' one/same.cu >two/same.cu
succeeds "one source" sh -c 'cd one && ptxloom cc -dc same.cu'
succeeds "one of that name in another folder" sh -c 'cd two && ptxloom cc -dc same.cu'
succeeds "both" ptxloom cc one/same.o two/same.o -o program
succeeds "both run" timeout 120 ./program

# ---- what does not link ----

echo '__device__ int times(int a, int b) { return a + b; }' >double.cu
echo 'extern __device__ float times(int, int, int); __global__ void k(float *x) { *x = times(1, 2, 3); }' >odd.cu
skipping || ptxloom cc -dc double.cu odd.cu
ends 1 "a function and two variables that are missing" ptxloom cc a.o -o wrong
says err "^a.o:.*error: unresolved extern function '_Z5timesii'" "the function is named"
says err 'hint: this is times\(int, int\)' "as people write it"
says err "unresolved extern variable 'count'" "and a variable"
ok "$([ "$(grep -c error: err)" -eq 3 ] && [ ! -e wrong ]; echo $?)" "each once, and nothing is made"
ends 1 "what is there twice" ptxloom cc a.o b.o double.o -o wrong
says err "^double.o:.*'_Z5timesii' is defined in two units" "is named"
says err "^b.o:.*is first defined here" "with its first place"
ends 1 "other parameters are another function" ptxloom cc b.o odd.o -o wrong
says err "^odd.o:.*unresolved extern function '_Z5timesiii'" "which is missing"
ends 1 "a file that is not there" ptxloom cc a.o nowhere.o -o wrong
says err '^ptxloom cc: error: nowhere.o: No such file' "is named"
skipping || ar rcsT libthin.a b.o
ends 1 "a thin archive" ptxloom cc a.o libthin.a -o wrong
says err 'libthin.a: this archive is thin' "is named"
ends 2 "-rdc with another word" ptxloom cc -rdc=perhaps a.cu
says err "is true or false, not 'perhaps'" "is refused"
succeeds "-nodlink" ptxloom cc -nodlink a.o b.o -o program -Xlinker --unresolved-symbols=ignore-all

# Damage anywhere in an object ends in a message or in a link, never in a crash.
at=60
while [ $at -lt 4000 ] && ! skipping; do
	cp b.o bad.o
	printf '\377\376\375' | dd of=bad.o bs=1 seek=$at conv=notrunc 2>/dev/null
	ptxloom cc -dlink a.o bad.o -o bad_linked.o >out 2>&1
	status=$?
	[ $status -le 2 ] || { echo "# at $at: status $status"; at=90000; }
	at=$((at + 701))
done
ok "$([ $at -lt 90000 ]; echo $?)" "damaged objects"

# ---- CMake ----

command -v cmake >/dev/null 2>&1 && command -v c++ >/dev/null 2>&1 || skip_rest "cmake or c++ is not installed"
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v cuda | paste -sd: -)
unset CUDA_PATH CUDACXX CUDA_HOME CUDAHOSTCXX
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(relocatable LANGUAGES CXX CUDA)
enable_testing()
set(CMAKE_CUDA_SEPARABLE_COMPILATION ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_library(part STATIC b.cu)
add_executable(archive a.cu)
target_link_libraries(archive part)
add_executable(files a.cu b.cu)
add_library(library SHARED a.cu b.cu)
add_executable(shared main.cpp)
target_link_libraries(shared library)
foreach(name archive files shared)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES PASS_REGULAR_EXPRESSION "4148 11 252 0")
endforeach()
END
echo 'int unused;' >main.cpp
succeeds "CMake configures" timeout 300 cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE="$(ptxloom toolkit --cmake)"
succeeds "it builds" timeout 300 cmake --build build
succeeds "CTest runs an archive, files and a library" timeout 300 ctest --test-dir build --output-on-failure
says out '100% tests passed(, 0 tests failed)? out of 3' "all of them"

# ---- nvcc's objects ----

skip_rest ""
needs_nvcc
succeeds "nvcc compiles the first" "$nvcc" -arch=compute_80 -dc a.cu -o na.o
succeeds "and the second" "$nvcc" -arch=sm_80 -dc b.cu -o nb.o
succeeds "objects of nvcc's" ptxloom cc na.o nb.o -o program
right "nvcc's" ./program
succeeds "one of nvcc's, one of ours" ptxloom cc na.o b.o -o program
right "one of nvcc's" ./program
succeeds "machine code alone" "$nvcc" -gencode arch=compute_80,code=sm_80 -dc b.cu -o nb.o
ends 1 "does not link" ptxloom cc a.o nb.o -o wrong
says err 'nb.o: error: no PTX, only machine code for sm_80' "and is named"
finish
