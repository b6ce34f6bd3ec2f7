#!/bin/sh
# How much slower kernels run while they are covered, and profiled: counters alone, and with the
# caches. Processor time of one worker, the median of three, plain and profiled by turns; what the
# process needs beside the kernel is taken off: the time of one CTA that has nothing to do. The
# shell tells time by hundredths, so plain runs are repeated until they have taken half a second in
# all. All of them are interpreted.
#
# usage: profile.sh PTXLOOM FOLDER-OF-KERNELS
LC_ALL=C
export LC_ALL
ptxloom=$1
kernels=$2
PTXLOOM_WORKERS=1
PTXLOOM_TIER=1
export PTXLOOM_WORKERS PTXLOOM_TIER
unset PTXLOOM_CHECK PTXLOOM_PROFILE PTXLOOM_COVERAGE
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# seconds COMMAND...: processor time
seconds()
{
	(
		"$@" >/dev/null 2>&1 || { echo "fails: $*" >&2; exit 1; }
		times
	) | awk 'NR == 2 { split($1, t, "[ms]"); split($2, s, "[ms]"); print t[1] * 60 + t[2] + s[1] * 60 + s[2] }'
}

# plain COMMAND...: the mean of as many runs as take half a second, 100 at most.
plain()
{
	sum=0 runs=0
	while [ "$runs" -lt 100 ]; do
		sum=$(seconds "$@" | awk -v sum="$sum" '{ print sum + $1 }')
		runs=$((runs + 1))
		case $sum in
		0 | 0.[0-4]*) ;;
		*) break ;;
		esac
	done
	awk -v sum="$sum" -v runs="$runs" 'BEGIN { print sum / runs }'
}

# counted HOW OPTIONS...: coverage, or what is done with the caches.
counted()
{
	how=$1
	shift
	if [ "$how" = coverage ]; then
		PTXLOOM_COVERAGE=$work/covered seconds "$ptxloom" exec "$@"
	else
		seconds "$ptxloom" profile --quiet --cache-control "$how" -f -o "$work/report" "$ptxloom" exec "$@"
	fi
}

# ratio HOW NAME GOAL GRID VALUE OPTIONS...
ratio()
{
	how=$1
	name=$2
	shift
	goal=$2
	grid=$3
	value=$4
	shift 4
	for _ in 1 2 3; do
		echo "$(plain "$ptxloom" exec "$@" --arg "u32=$value" --grid "$grid")" \
			"$(plain "$ptxloom" exec "$@" --arg u32=0 --grid 1)" \
			"$(counted "$how" "$@" --arg "u32=$value" --grid "$grid")" \
			"$(counted "$how" "$@" --arg u32=0 --grid 1)"
	done | awk '{ plain = $1 - $2; print (plain > 0 ? ($3 - $4) / plain : 0), plain }' | sort -n |
		awk -v goal="$goal" -v name="$name" '
		{ x[NR] = $1; plain[NR] = $2 }
		END {
			k = int((NR + 1) / 2)
			printf "  %-24s %7.1f x of %.2f s (goal: %s)\n", name, x[k], plain[k], goal
		}'
}

# rows NAME GRID VALUE OPTIONS...: VALUE is the kernel's last argument, with 0 it does nothing.
rows()
{
	echo "$1"
	shift
	ratio coverage coverage 2 "$@"
	ratio off counters 3 "$@"
	ratio all "with caches" 12 "$@"
}

echo "coverage and profiles: the processor time of a kernel, over that of a plain run"
rows "vadd, streaming" 65536 16777216 "$kernels/bench.ptx" --kernel vadd --block 256 --buffer "a:f32[16777216]" \
	--buffer "b:f32[16777216]" --buffer "c:f32[16777216]"
rows "sgemm, tiles in shared memory" 32,32 512 "$kernels/bench.ptx" --kernel sgemm --block 16,16 \
	--buffer "a:f32[262144]=ones" --buffer "b:f32[262144]=ones" --buffer "c:f32[262144]"
rows "stencil, f64" 64,256 2048 "$kernels/bench.ptx" --kernel stencil --block 32,8 --buffer "a:f64[4194304]=ones" \
	--buffer "b:f64[4194304]"
rows "reduce, barriers" 4096 67108864 "$kernels/bench.ptx" --kernel reduce --block 256 --buffer "a:f32[67108864]" \
	--buffer "b:f32[1]"
rows "histogram, atomics" 2048 8388608 "$kernels/profile.ptx" --kernel histogram --block 256 \
	--buffer "a:u32[8388608]=random" --buffer "b:u32[256]"
rows "gather" 16384 1048575 "$kernels/profile.ptx" --kernel gather --block 256 --buffer "a:u32[4194304]=random" \
	--buffer "b:f32[1048576]" --buffer "c:f32[4194304]"
