#!/bin/sh
# How much slower kernels run while they are profiled: counters alone, and with the caches. Processor
# time of one worker, the median of three, plain and profiled by turns; what the process needs beside
# the kernel is taken off.
#
# usage: profile.sh PTXLOOM FOLDER-OF-KERNELS
LC_ALL=C
export LC_ALL
ptxloom=$1
kernels=$2
PTXLOOM_WORKERS=1
export PTXLOOM_WORKERS
unset PTXLOOM_CHECK PTXLOOM_PROFILE
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

profiled()
{
	caches=$1
	shift
	seconds "$ptxloom" profile --quiet --cache-control "$caches" -f -o "$work/report" "$ptxloom" exec "$@"
}

# ratio CACHES GOAL GRID OPTIONS...
ratio()
{
	caches=$1
	goal=$2
	grid=$3
	shift 3
	for _ in 1 2 3; do
		echo "$(seconds "$ptxloom" exec "$@" --grid "$grid")" "$(seconds "$ptxloom" exec "$@" --grid 1)" \
			"$(profiled "$caches" "$@" --grid "$grid")" "$(profiled "$caches" "$@" --grid 1)"
	done | awk '{ plain = $1 - $2; print (plain > 0 ? ($3 - $4) / plain : 0) }' | sort -n |
		awk -v goal="$goal" -v name="$([ "$caches" = off ] && echo counters || echo "with caches")" '
		{ x[NR] = $1 }
		END { printf "  %-24s %7.1f x (goal: %s)\n", name, x[int((NR + 1) / 2)], goal }'
}

# rows NAME GRID OPTIONS...
rows()
{
	echo "$1"
	shift
	ratio off 3 "$@"
	ratio all 12 "$@"
}

echo "profiles: the processor time of a kernel, over that of a plain run"
rows "vadd, streaming" 65536 "$kernels/bench.ptx" --kernel vadd --block 256 --buffer "a:f32[16777216]" \
	--buffer "b:f32[16777216]" --buffer "c:f32[16777216]" --arg u32=16777216
rows "sgemm, tiles in shared memory" 32,32 "$kernels/bench.ptx" --kernel sgemm --block 16,16 \
	--buffer "a:f32[262144]=ones" --buffer "b:f32[262144]=ones" --buffer "c:f32[262144]" --arg u32=512
rows "stencil, f64" 64,256 "$kernels/bench.ptx" --kernel stencil --block 32,8 --buffer "a:f64[4194304]=ones" \
	--buffer "b:f64[4194304]" --arg u32=2048
rows "reduce, barriers" 4096 "$kernels/bench.ptx" --kernel reduce --block 256 --buffer "a:f32[16777216]=ones" \
	--buffer "b:f32[1]" --arg u32=16777216
rows "histogram, atomics" 2048 "$kernels/profile.ptx" --kernel histogram --block 256 \
	--buffer "a:u32[4194304]=random" --buffer "b:u32[256]" --arg u32=4194304
rows "gather" 8192 "$kernels/profile.ptx" --kernel gather --block 256 --buffer "a:u32[2097152]=random" \
	--buffer "b:f32[1048576]" --buffer "c:f32[2097152]" --arg u32=1048575
