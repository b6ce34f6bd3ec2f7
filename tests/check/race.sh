# Races, by kernels that have one or none: every one is found, at its lines, none is invented.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
. tests/check/race.inc.sh

try_all()
{
	for kernel in $kernels; do
		look "$kernel"
		expected "$kernel"
		verdict $? "$kernel"
		at_lines "$kernel"
		verdict $? "$kernel: lines"
	done
	ok "$([ "$(echo "$kernels" | wc -l)" -ge "$1" ]; echo $?)" "there are kernels"
}
try_all 50
of copies
device=h100
try_all 18
of lockstep
device=p100
try_all 9
device=
of race

look race_no_barrier
says err '^========= Error: Race reported between Read access by thread \(0,0,0\) in block \(0,0,0\) at race_no_barrier'
says err '^=========     and Write access by thread \(63,0,0\) in block \(0,0,0\) at race_no_b.*\[192 hazards\]$'
says err "^=========     on byte 252 of the block's shared memory$"
says err '^=========     No barrier of the block stands between them\.$'
says err '^========= RACECHECK SUMMARY: 1 hazard displayed \(1 error, 0 warnings\)$'
# What a CTA has needed goes with it.
status 0 sh -c "ulimit -d 3000000; PTXLOOM_CHECK=race ptxloom exec $ptx \
	--kernel fine_one_block --grid 30000 --block 64 --buffer o:u32[64]"
says err 'SUMMARY: 0 hazards'
status 0 env PTXLOOM_CHECK=race timeout 60 ptxloom debug --batch -ex run $ptx \
	--kernel race_sum --block 64 --buffer o:u32[1]
says out '^Catchpoint 1 \(finding\): .*Race reported'
status 2 env PTXLOOM_CHECK=rase ptxloom exec $ptx --kernel fine_lock --buffer o:u32[8]
says err "PTXLOOM_CHECK"

# Lines of the compiler's own, and libraries that put what they drop in one place.
one_place()
{
	cat <<END
.version 7.8
.target sm_80
.address_size 64
.file 1 "$1"
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.shared .align 4 .b32 dropped[32];
	.loc 1 12 5
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, dropped;
	.loc 1 0 0
	st.shared.u32 [%r2], %r1;
	ret;
}
END
}
one_place user.cu >"$scratch/user.ptx"
status 86 env PTXLOOM_CHECK=race ptxloom exec "$scratch/user.ptx" --block 32 --arg u64=0
says err 'and Write access by thread .* at k in user\.cu:12 ' "what has line 0 has the last line before it"
one_place /usr/local/cuda/include/cub/warp/exchange.cuh >"$scratch/library.ptx"
status 0 env PTXLOOM_CHECK=race ptxloom exec "$scratch/library.ptx" --block 32 --arg u64=0
says err 'SUMMARY: 0 hazards displayed \(0 errors, 0 warnings\)' "lanes of a library's instruction write one place"
sed 's/mov.u32 %r2, dropped/ld.param.u64 %rd1, [p]/; s/st.shared.u32 \[%r2\]/st.global.u32 [%rd1]/
	s/\.reg .b32/.reg .b64 %rd<2>; .reg .b32/' "$scratch/library.ptx" >"$scratch/global.ptx"
status 86 env PTXLOOM_CHECK=race ptxloom exec "$scratch/global.ptx" --block 32 --buffer "o:u32[1]"

# Warps that run apart store the same: their registers have moved on when they are compared.
cat >"$scratch/apart.ptx" <<END
.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %p1;
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b32 tile[64];
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, tile;
	add.u32 %r3, %r3, %r2;
	ld.param.u64 %rd1, [p];
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	ld.global.u32 %r4, [%rd1];
	st.shared.u32 [%r3], %r4;
	ld.global.u32 %r4, [%rd1+128];
	st.shared.u32 [%r3+128], %r4;
	ret;
}
END
for seed in 0 1 2 3; do
	status 0 env PTXLOOM_SEED=$seed ptxloom exec "$scratch/apart.ptx" --check=race --block 32,8 \
		--buffer "o:u32[64]=iota"
	says err 'SUMMARY: 2 hazards displayed \(0 errors, 2 warnings\)' "seed $seed: the same value"
done

# Volatile: as PTX says, or as if it were plain; headers of the toolkit mean what they say.
volatile_stores()
{
	cat <<END
.version 7.8
.target sm_80
.address_size 64
.file 1 "$1"
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r1;
	.reg .b64 %rd1;
	.loc 1 12 5
	mov.u32 %r1, %tid.x;
	ld.param.u64 %rd1, [p];
	st.volatile.global.u32 [%rd1], %r1;
	ret;
}
END
}
volatile_stores user.cu >"$scratch/user.ptx"
volatile_stores /usr/local/cuda/include/cooperative_groups/details/sync.h >"$scratch/library.ptx"
run="--check=race --block 64 --buffer o:u32[1]"
status 0 ptxloom exec "$scratch/user.ptx" $run
says err 'SUMMARY: 0 hazards displayed \(0 errors, 0 warnings\)' "volatile stores do not race"
status 86 ptxloom exec "$scratch/user.ptx" $run --volatile=weak
says err 'and Write access by thread .* at k in user\.cu:12 ' "weak ones do"
status 0 ptxloom exec "$scratch/library.ptx" $run --volatile=weak
says err 'SUMMARY: 0 hazards displayed \(0 errors, 0 warnings\)' "those of libraries are never weak"
look fine_read_before_flag PTXLOOM_CHECK_VOLATILE=weak
ok "$([ "$code" -eq 86 ]; echo $?)" "a flag that is volatile races if that is weak"
status 2 ptxloom exec "$scratch/user.ptx" $run --volatile=plain
says err "^ptxloom.*--volatile"

# What the PTX ISA shows for mbarriers of a cluster: a fence behind their init, a relaxed arrival.
init_in_cluster()
{
	cat <<END
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.shared .align 8 .b64 bar;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra ARRIVE;
	mbarrier.init.shared.b64 [bar], 64;
	$1
ARRIVE:
	barrier.cluster.arrive.relaxed;
	barrier.cluster.wait.acquire;
	mbarrier.arrive.shared.b64 %rd1, [bar];
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
}
END
}
cluster="-d h100 --grid 2 --cluster 2 --block 64 --arg u64=0"
init_in_cluster "fence.mbarrier_init.release.cluster;" >"$scratch/fenced.ptx"
init_in_cluster "" >"$scratch/unfenced.ptx"
# shellcheck disable=SC2086
status 0 env PTXLOOM_CHECK=race ptxloom exec "$scratch/fenced.ptx" $cluster
# shellcheck disable=SC2086
status 86 env PTXLOOM_CHECK=race ptxloom exec "$scratch/unfenced.ptx" $cluster

if has_clang; then
	{
		sed 's/^#define KERNEL.*/#include <cstdio>\n#define KERNEL extern "C" __global__ void/' $source
		cat <<'END'
int main(int argc, char **)
{
	int *p;

	cudaMalloc(&p, 4096);
	cudaMemset(p, 0, 4096);
	if (argc > 1)
		race_sum<<<3, 64>>>(p);
	else
		fine_atomic_sum<<<3, 64>>>(p);
	cudaDeviceSynchronize();
	puts(cudaGetErrorName(cudaGetLastError()));
	cudaDeviceReset(); // what was found stays
	return 0;
}
END
	} >"$scratch/program.cu"
	succeeds "a program is built" ptxloom cc -lineinfo "$scratch/program.cu" -o "$scratch/program"
	status 0 ptxloom run --check=race "$scratch/program"
	says err 'SUMMARY: 0 hazards'
	says out '^cudaSuccess$'
	status 86 ptxloom run --check=race "$scratch/program" x
	says err '^========= Error: Race reported between .* at race_sum in '
	says out '^cudaSuccess$' "the program goes on"
else
	skip "programs" "$tap_no_clang"
fi
finish
