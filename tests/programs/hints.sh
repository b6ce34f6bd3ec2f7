# Those who take a wrong way are shown the right one; programs of `ptxloom cc` find their libraries alone.
. "${srcdir:-.}/tests/tap.sh"
cp "$top/samples/vector_add.cu" "$top/samples/saxpy.ptx" "$scratch"
cd "$scratch" || exit 1
printf 'int main(void) { return 0; }\n' >program

# hints STATUS TEXT COMMAND...: exits so, and this is a line of what it says.
hints()
{
	want=$1
	text=$2
	shift 2
	capture "$@"
	[ $? -eq "$want" ] && cat out err | grep -qxF "$text"
	verdict $? "$*: $text"
}

hints 2 "ptxloom: error: there is no command 'vector_add.cu'" ptxloom vector_add.cu
hints 2 "ptxloom: note: vector_add.cu is a source: \`ptxloom cc -run vector_add.cu\` builds and runs it" \
	ptxloom vector_add.cu
cu="./vector_add.cu is a source: \`ptxloom cc -run ./vector_add.cu\` builds and runs it"
hints 126 "ptxloom: note: $cu" ptxloom run ./vector_add.cu
hints 126 "ptxloom: note: ./saxpy.ptx is PTX: \`ptxloom exec ./saxpy.ptx\` runs a kernel of it on data that you give" \
	ptxloom run ./saxpy.ptx
hints 2 "ptxloom: note: did you mean \`ptxloom devices\`?" ptxloom device
hints 2 "ptxloom: note: \`ptxloom run ./program\` runs a program" ptxloom program
hints 2 "ptxloom: note: \`ptxloom --help\` lists the commands" ptxloom zzzzzzzz
hints 2 "ptxloom cc: error: clang is not found: PTXLOOM_CLANG is '/nonexistent', which cannot be run" \
	env PTXLOOM_CLANG=/nonexistent ptxloom cc vector_add.cu
needs_clang

# Parts of NVIDIA's toolkit: one message instead of the compiler's.
note="ptxloom cc: note: build the program with nvcc and start it with \`ptxloom run\`; ptxloom-cc(1) says what there is"
# explains NAME PART: needs.cu is refused with one message.
explains()
{
	capture ptxloom cc needs.cu -o needs
	got=$?
	empty "$([ "$got" -ne 0 ] && [ "$(cat out err)" = "needs.cu:2:10: ptxloom cc: error: '$1' is of $2, \
a part of NVIDIA's toolkit that this compiler does not have
$note" ] || cat out err)" "$1: one message"
}

# No toolkit has these, should there be one where clang looks.
for header in "thrust/none.h Thrust" "cub/none.cuh CUB" "cuda/std/none libcu++" "cublas_none.h cuBLAS" \
	"curand_none.h cuRAND" "cufft_none.h cuFFT" "cusparse_none.h cuSPARSE"; do
	printf '\n#include <%s>\nint main() { return 0; }\n' "${header% *}" >needs.cu
	explains "${header% *}" "${header#* }"
done
# Headers of the user's with such names are the user's.
mkdir -p fake/thrust
printf 'unknown t;\n' >fake/thrust/fake.h
printf '\n#include <thrust/fake.h>\n' >needs.cu
hints 1 "fake/thrust/fake.h:1:1: error: unknown type name 'unknown'" ptxloom cc -Ifake needs.cu -o needs
# A toolkit where clang finds it is none for this compiler.
if [ -e /usr/local/include/curand_kernel.h ]; then
	printf '\n#include <curand_kernel.h>\n' >needs.cu
	capture ptxloom cc needs.cu -o needs
	[ "$(cat out err | wc -l)" -eq 2 ] &&
		grep -q "^needs.cu:2: ptxloom cc: error: 'curand.*' is of cuRAND, a part" err
	verdict $? "a toolkit's header that clang finds: one message"
else
	skip "a toolkit's header that clang finds" "no toolkit where clang looks"
fi
printf '#include <no_such_header.h>\n' >needs.cu
hints 1 "needs.cu:1:10: fatal error: 'no_such_header.h' file not found" ptxloom cc needs.cu -o needs
refused 1 "ptxloom cc: error: '-lcublas_none' is of cuBLAS" "-lcublas_none: it is said whose it is" \
	ptxloom cc vector_add.cu -lcublas_none -o needs
empty "$(cat out err | grep 'ld:')" "-lcublas_none: one message"
printf 'int a() { return b; }\\n' >wrong.cu
hints 1 "wrong.cu:1:18: error: use of undeclared identifier 'b'" ptxloom cc wrong.cu -o wrong

# Spellings of nvcc.
for arch in "-arch=sm_70" "-arch sm_70" "--gpu-architecture=sm_70" "-arch=compute_70" \
	"-gencode arch=compute_70,code=sm_70" "-gencode=arch=compute_70,code=[sm_70,compute_70]"; do
	# shellcheck disable=SC2086
	capture ptxloom cc $arch -ptx vector_add.cu -o arch.ptx && grep -q '^.target sm_70' arch.ptx
	verdict $? "$arch"
done

# Without `ptxloom run` the program finds the libraries, from wherever it is started.
succeeds "vector_add.cu builds" ptxloom cc vector_add.cu -o vector_add
works "it runs by itself" sh -c 'cd / && "$0"' "$scratch/vector_add"
works "-run runs it" ptxloom cc -run vector_add.cu -o vector_add
succeeds "--no-rpath is taken" ptxloom cc --no-rpath vector_add.cu -o vector_add
if command -v readelf >/dev/null; then
	empty "$(readelf -d vector_add | grep -E 'RUNPATH|RPATH')" "then there is none"
else
	skip "then there is none" "no readelf"
fi
works "it runs with ptxloom run" ptxloom run ./vector_add
finish
