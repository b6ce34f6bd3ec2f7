#!/bin/sh
# How much slower a kernel runs under the debugger until its first stop: with nothing to stop at, and
# with a breakpoint whose condition holds for no thread. One worker; pairs, since the machine may be
# busy; what the process needs beside the kernel is taken off. All is interpreted.
#
# usage: debug.sh PTXLOOM FOLDER-OF-KERNELS
LC_ALL=C
export LC_ALL
ptxloom=$1
kernels=$2
PTXLOOM_WORKERS=1
PTXLOOM_TIER=1
export PTXLOOM_WORKERS PTXLOOM_TIER

# milliseconds COMMAND...
milliseconds()
{
	begin=$(date +%s%N)
	"$@" >/dev/null 2>&1 || { echo "fails: $*" >&2; exit 1; }
	end=$(date +%s%N)
	echo $(((end - begin) / 1000000))
}

debugged()
{
	milliseconds "$ptxloom" debug --batch ${point:+-ex "$point"} -ex run "$@"
}

# row NAME POINT GOAL GRID OPTIONS...: five pairs; the same with one CTA is what is taken off
row()
{
	name=$1
	point=$2
	goal=$3
	grid=$4
	shift 4
	for _ in 1 2 3 4 5; do
		echo "$(milliseconds "$ptxloom" exec "$@" --grid "$grid") $(debugged "$@" --grid "$grid")" \
			"$(milliseconds "$ptxloom" exec "$@" --grid 1) $(debugged "$@" --grid 1)"
	done | awk -v name="$name" -v goal="$goal" '
		{
			plain[NR] = $1 - $3
			debugged[NR] = $2 - $4
			ratio[NR] = plain[NR] > 0 ? debugged[NR] / plain[NR] : 0
		}
		END {
			for (i = 1; i <= NR; i++)
				for (k = i + 1; k <= NR; k++)
					if (ratio[k] < ratio[i]) {
						t = ratio[i]; ratio[i] = ratio[k]; ratio[k] = t
						t = plain[i]; plain[i] = plain[k]; plain[k] = t
						t = debugged[i]; debugged[i] = debugged[k]; debugged[k] = t
					}
			i = int((NR + 1) / 2)
			printf "%-44s %6d ms %6d ms %6.1f x (goal: %s)\n", name, plain[i], debugged[i], ratio[i], goal
		}'
}

echo "debugger, until the first stop: plain, debugged"
row "fold, a barrier every ten instructions" "" 4 4096 "$kernels/fold.ptx" --block 256 \
	--buffer "in:u32[1048576]=iota" --buffer "out:u32[4096]" --arg u32=100
row "sgemm, shared tiles" "" 4 64,64 "$kernels/bench.ptx" --kernel sgemm --block 16,16 \
	--buffer "a:f32[1048576]=ones" --buffer "b:f32[1048576]=ones" --buffer "c:f32[1048576]" --arg u32=1024
row "scan in two buffers, predicated loads" "" 4 4096 "$kernels/scan.ptx" --block 256 \
	--buffer "in:u32[1048576]=iota" --buffer "out:u32[1048576]" --arg u32=60
row "radix pass by ballots" "" 4 4096 "$kernels/radix.ptx" --block 256 \
	--buffer "in:u32[1048576]=iota" --buffer "out:u32[1048576]" --arg u32=60
row "vadd, threadIdx.x == 5 && blockIdx.x == 10^9" \
	"break vadd if threadIdx.x == 5 && blockIdx.x == 1000000000" 10 65536 "$kernels/bench.ptx" \
	--kernel vadd --block 256 --buffer "a:f32[16777216]=ones" --buffer "b:f32[16777216]=ones" \
	--buffer "c:f32[16777216]" --arg u32=16777216
