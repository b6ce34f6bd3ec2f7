# `ptxloom toolkit`: what build systems ask of nvcc, and a project that CMake configures, builds and
# tests with it, without NVIDIA's toolkit.
. "${srcdir:-.}/tests/tap.sh"

cd "$scratch" || exit 1

succeeds "the folder is named" ptxloom toolkit
kit=$(cat out)
nvcc=$kit/bin/nvcc
ok "$([ -x "$nvcc" ] && [ -r "$kit/include/cuda_runtime.h" ] && [ -r "$kit/lib64/libcudart.so" ]; echo $?)" \
	"it has a compiler, headers and libraries"
ends 2 "an unknown argument" ptxloom toolkit --cmke
says err "unknown argument '--cmke'" "and is named"

succeeds "nvcc --version" "$nvcc" --version
says out 'nvcc: NVIDIA \(R\) Cuda compiler driver' "is recognised"
says out 'V13.0.88' "has a version"
succeeds "nvcc --list-gpu-arch" "$nvcc" --list-gpu-arch
says out 'compute_80' "lists targets"

needs_clang

cp "$top"/tests/toolkit/project/* .
ends 2 "what CMake asks for folders" "$nvcc" -v __cmake_determine_cuda
says err "^#[$] TOP=$kit" "says where the toolkit is"

# A file of options, with quotes; options of nvcc that have no meaning here.
echo "-DFACTOR='2' \"-DNAME=a b\"" >options
cat >options.cu <<'END'
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
static_assert(FACTOR == 2 && sizeof(TEXT(NAME)) == 4);
END
succeeds "options in a file" "$nvcc" --options-file options -forward-unknown-to-host-compiler \
	--keep-dir x -diag-error 20 -c options.cu -o options.o
ends 2 "a file of options that is not there" "$nvcc" --options-file nowhere -c options.cu
says err "nowhere: No such file" "is named"
ends 2 "machine code" "$nvcc" -optix-ir options.cu
says err 'not supported' "is refused"
succeeds "device linking" "$nvcc" -dlink options.o -o linked.o
ok "$([ -s linked.o ]; echo $?)" "makes an object"

if ! command -v cmake >/dev/null 2>&1 || ! command -v c++ >/dev/null 2>&1; then
	skip_rest "cmake or c++ is not installed"
fi
# No other toolkit may help.
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v cuda | paste -sd: -)
unset CUDA_PATH CUDACXX CUDA_HOME CUDAHOSTCXX
succeeds "CMake configures" timeout 300 cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE="$(ptxloom toolkit --cmake)"
says out 'compiler NVIDIA 13.0.88, for 80' "and knows the compiler"
succeeds "it builds" timeout 300 cmake --build build
skipping || ptxloom devices --ctest-resources 2xh100,t4 >resources.json
succeeds "CTest runs" timeout 300 ctest --test-dir build --output-on-failure \
	--resource-spec-file "$scratch/resources.json"
says out '100% tests passed(, 0 tests failed)? out of 7' "a plain test, one of two devices and two orders, one of all"
says out 'kit.h100.seed1' "by their names"
says out 'all.explore ' "orders are searched"
says out '^slow +=.*\(2 tests\)' "labels are those that are given"
succeeds "one test" timeout 300 ctest --test-dir build -V -R '^all$'
says out 'all right, of 67108864 bytes' "has the memory that is given"
succeeds "coverage is reported" timeout 300 cmake --build build --target ptxloom-coverage
says out '^ +[0-9]+: +[0-9]+: .*x\[i\] \*= ' "by line"
says build/ptxloom-coverage.info '^SF:.*scale.cu$' "in lcov's format, too"
cp CMakeLists.txt keep
echo 'ptxloom_add_test(NAME odd COMMAND scale_test SEEDS many)' >>CMakeLists.txt
ends 1 "a word that is no number" timeout 300 cmake -S . -B build
says err "SEEDS is a number, not 'many'" "is named"

# ---- other build systems, as docs/build-systems.md has them ----

cat >Makefile <<'END'
CUDA_PATH = /usr/local/cuda
NVCC = $(CUDA_PATH)/bin/nvcc
scale_test: scale.cu scale_test.cpp
	$(NVCC) -I$(CUDA_PATH)/include -o $@ scale.cu scale_test.cpp -L$(CUDA_PATH)/lib64 -lcudart -lcuda
END
succeeds "Make builds" make CUDA_PATH="$kit" NVCC="$kit/bin/nvcc"
succeeds "a program" ptxloom run ./scale_test
succeeds "nvcc --run" "$nvcc" --run "\"$scratch/scale_test\""
says out 'all right' "runs a program that is there"
# Bazel's --run_under: a command in front of the test's.
succeeds "--run_under" sh -c 'ptxloom run -- "$@"' bazel ./scale_test 5
command -v meson >/dev/null && command -v ninja >/dev/null || skip_rest "meson is not installed"
cat >meson.build <<'END'
project('scale', 'cpp', 'cuda')
test('scale', executable('scale_test', 'scale.cu', 'scale_test.cpp', link_args: ['-lcuda']))
END
PATH=$kit/bin:$PATH
succeeds "Meson configures" timeout 300 meson setup meson
succeeds "it builds" timeout 300 meson compile -C meson
succeeds "it tests" timeout 300 meson test -C meson --wrapper 'ptxloom run --'
says out '^Ok: +1' "one test"
finish
