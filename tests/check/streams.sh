# Races between launches, copies and fills: all that no order stands between are found, however they ran, and no others.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
has_clang || skip_rest "$tap_no_clang"

succeeds "the program is built" ptxloom cc -O1 -g -lineinfo tests/check/streams.cu -o "$scratch/streams"
succeeds "the other one is built" ptxloom cc -O1 -g -lineinfo tests/check/reach.cu -o "$scratch/reach"

# look CASE MODE: is the verdict what its name says?
program=streams
look()
{
	# shellcheck disable=SC2086
	timeout 120 env $2 ptxloom run "$scratch/$program" "$1" tests/debug/family.ptx >"$scratch/out" 2>"$scratch/err"
	code=$?
	case $1 in
	race_*) [ "$code" -eq 86 ] && grep -q '^=========     No order between the two: ' "$scratch/err" ;;
	*) [ "$code" -eq 0 ] && grep -q '^cudaSuccess$' "$scratch/out" && grep -q 'SUMMARY: 0 hazards' "$scratch/err" ;;
	esac
}

# look_at_all PROGRAM LEAST: its cases, in several modes.
look_at_all()
{
	program=$1
	cases=$("$scratch/$program" 2>"$scratch/err")
	ok "$([ "$(echo "$cases" | wc -l)" -ge "$2" ]; echo $?)" "there are cases of $program"
	for case in $cases; do
		wrong=
		for mode in A= PTXLOOM_DETERMINISTIC=1 PTXLOOM_CHECK=mem,race,sync,init \
			"PTXLOOM_SEED=3 PTXLOOM_WORKERS=4 PTXLOOM_DEVICE=h100"; do
			look "$case" "$mode" || wrong="$wrong $mode"
		done
		empty "$wrong" "$case"
	done
}

export PTXLOOM_CHECK=race
look_at_all streams 93
look_at_all reach 27

# line_of PROGRAM PATTERN: of the source.
line_of()
{
	grep -n "$2" "tests/check/$1.cu" | head -1 | cut -d: -f1
}

look race_image A=
fetch=$(line_of reach '// fetch_2d') put=$(line_of reach '// surface_put')
says err "^========= Error: Race reported between Read access at fetch_2d\(.*\) in .*reach.cu:$fetch$"
says err "^=========     and Write access at surface_put\(.*\) in .*reach.cu:$put$"
says err '^=========     on global address 0x.*, which is 0 bytes inside a 4096-byte array'
look race_array_copy A=
says err '^=========     and Write access at cudaMemcpy2DToArrayAsync in '
look race_child A=
says err '^=========     and Write access at child in PTX line 15: red.global.add.u32 \[p\], v;$'
look race_registered_written A=
says err 'bytes inside a 16384-byte registered range of host memory'
program=streams
look race_write_read A=
says err "^========= Error: Race reported between Read access at get\(.*\) in .*streams.cu:$(line_of streams '// get')$"
says err "^=========     and Write access at put\(.*\) in .*streams.cu:$(line_of streams '// put')$"
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
says err "^=========     and Write access at put\(.*\) in .*streams.cu:$(line_of streams '// put')$"
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
