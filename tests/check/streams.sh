# Races between launches, copies and fills: all that no order stands between are found, however they ran, and no others.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
has_clang || skip_rest "$tap_no_clang"

succeeds "the program is built" ptxloom cc -O1 -g -lineinfo tests/check/streams.cu -o "$scratch/streams"
cases=$("$scratch/streams" 2>"$scratch/err")
ok "$([ "$(echo "$cases" | wc -l)" -ge 93 ]; echo $?)" "there are cases"

# look CASE MODE: is the verdict what its name says?
look()
{
	# shellcheck disable=SC2086
	timeout 120 env $2 ptxloom run "$scratch/streams" "$1" >"$scratch/out" 2>"$scratch/err"
	code=$?
	case $1 in
	race_*) [ "$code" -eq 86 ] && grep -q '^=========     No order between the two: ' "$scratch/err" ;;
	*) [ "$code" -eq 0 ] && grep -q '^cudaSuccess$' "$scratch/out" && grep -q 'SUMMARY: 0 hazards' "$scratch/err" ;;
	esac
}

export PTXLOOM_CHECK=race
for case in $cases; do
	wrong=
	for mode in A= PTXLOOM_DETERMINISTIC=1 PTXLOOM_CHECK=mem,race,sync,init \
		"PTXLOOM_SEED=3 PTXLOOM_WORKERS=4 PTXLOOM_DEVICE=h100"; do
		look "$case" "$mode" || wrong="$wrong $mode"
	done
	empty "$wrong" "$case"
done

# line PATTERN: of the source.
line()
{
	grep -n "$1" tests/check/streams.cu | head -1 | cut -d: -f1
}

look race_write_read A=
says err "^========= Error: Race reported between Read access at get\(.*\) in .*streams.cu:$(line '// get')$"
says err "^=========     and Write access at put\(.*\) in .*streams.cu:$(line '// put')$"
says err '^=========     on global address 0x.*, which is 0 bytes inside a 2048-byte allocation'
says err '^=========     later launched by race_write_read()'
says err '^=========     earlier launched by race_write_read()'
says err '^=========     No order between the two: stream 3 does not wait for stream 2'
look race_copies A=
says err '^========= Error: Race reported between Write access at cudaMemcpyAsync in '
says err '^=========     later called by race_copies()'
look race_non_blocking A=
says err 'does not wait for the default stream \(cudaStreamNonBlocking\)'
look race_graph A=
says err 'no edges of the graph lead from one node to the other'
look race_host_writes A=
says err "^========= Error: Race reported between the host's Write access at race_host_writes\(\) in "
says err "^=========     and Write access at put\(.*\) in .*streams.cu:$(line '// put')$"
says err 'which is 28 bytes inside a 1024-byte managed allocation'
says err 'the host has not waited for stream 2'
status 0 env CUDA_LAUNCH_BLOCKING=1 ptxloom run "$scratch/streams" race_two_writes

succeeds "a program whose kernels wait is built" ptxloom cc tests/programs/streams.cu -o "$scratch/waits"
status 0 ptxloom run "$scratch/waits"
# Variables that are managed, in a program that has no other memory of the host's.
cat >"$scratch/variable.cu" <<'END'
#include <cstdio>

static const char text[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .attribute(.managed) .u32 shared_by_both[64] = {5};
.visible .entry k()
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd1, %r1, 4;
	mov.u64 %rd2, shared_by_both;
	add.s64 %rd3, %rd2, %rd1;
	st.global.u32 [%rd3], %r1;
	ret;
}
)";

int main(int argc, char **)
{
	cudaLibrary_t library;
	cudaKernel_t k;
	size_t bytes;
	int *p;

	cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0);
	cudaLibraryGetKernel(&k, library, "k");
	cudaLibraryGetManaged((void **)&p, &bytes, library, "shared_by_both");
	int before = p[0];
	cudaLaunchKernel((void *)k, 1, 64, NULL, 0, 0);
	if (argc < 2)
		cudaDeviceSynchronize();
	p[7] += before; // the host writes
	cudaDeviceSynchronize();
	printf("%d %s\n", p[7], cudaGetErrorName(cudaGetLastError()));
	cudaLibraryUnload(library);
	return 0;
}
END
succeeds "a program with a managed variable is built" \
	ptxloom cc -O1 -g -lineinfo "$scratch/variable.cu" -o "$scratch/variable"
status 0 ptxloom run "$scratch/variable"
says out '^12 cudaSuccess$'
says err 'SUMMARY: 0 hazards'
status 86 ptxloom run "$scratch/variable" early
says err "^========= Error: Race reported between the host's .* access at main in .*variable.cu:$(
	grep -n 'host writes' "$scratch/variable.cu" | cut -d: -f1)$"

finish
