#!/bin/sh
# How much slower kernels run while errors are looked for. One worker; the median of three; what the
# process needs beside the kernel is taken off. The plain run has more CTAs, so that it takes a while,
# and is interpreted, as are those with checks.
#
# usage: check.sh PTXLOOM FOLDER-OF-KERNELS
LC_ALL=C
export LC_ALL
ptxloom=$1
kernels=$2
PTXLOOM_WORKERS=1
PTXLOOM_TIER=1
export PTXLOOM_WORKERS PTXLOOM_TIER
unset PTXLOOM_CHECK

# milliseconds COMMAND...: 86 is what a check has found
milliseconds()
{
	begin=$(date +%s%N)
	"$@" >/dev/null 2>&1 || [ $? -eq 86 ] || { echo "fails: $*" >&2; exit 1; }
	end=$(date +%s%N)
	echo $(((end - begin) / 1000000))
}

# ratio CHECKS GOAL PLAIN-GRID GRID MORE OPTIONS...: MORE: how many times more CTAs the plain run has
ratio()
{
	checks=$1
	goal=$2
	plain=$3
	grid=$4
	more=$5
	shift 5
	for _ in 1 2 3; do
		echo "$(milliseconds "$ptxloom" exec "$@" --grid "$plain")" \
			"$(milliseconds "$ptxloom" exec "$@" --grid 1)" \
			"$(milliseconds "$ptxloom" exec --check="$checks" "$@" --grid "$grid")" \
			"$(milliseconds "$ptxloom" exec --check="$checks" "$@" --grid 1)"
	done | awk -v more="$more" '{ plain = ($1 - $2) / more; print (plain > 0 ? ($3 - $4) / plain : 0) }' |
		sort -n | awk -v checks="$checks" -v goal="$goal" '
		{ x[NR] = $1 }
		END { printf "  %-24s %7.1f x (goal: %s)\n", checks, x[int((NR + 1) / 2)], goal }'
}

# rows NAME RACE-GOAL PLAIN-GRID GRID MORE OPTIONS...
rows()
{
	echo "$1"
	race_goal=$2
	shift 2
	ratio mem 1.1 "$@"
	ratio init 3 "$@"
	ratio race "$race_goal" "$@"
	ratio sync none "$@"
	ratio mem,init,race,sync 25 "$@"
}

echo "checks: the time of a kernel, over that of a plain run"
rows "stencil, global memory" 15 32,512,16 32,64 128 "$kernels/bench.ptx" --kernel stencil --block 64,4 \
	--buffer "a:f64[4194304]=ones" --buffer "b:f64[4194304]" --arg u32=2048
rows "sgemm, tiles in shared memory" 8 64,64 16,16 16 "$kernels/bench.ptx" --kernel sgemm --block 16,16 \
	--buffer "a:f32[1048576]=ones" --buffer "b:f32[1048576]=ones" --buffer "c:f32[1048576]" --arg u32=1024
rows "fold, a barrier every ten instructions" 8 4096 256 16 "$kernels/fold.ptx" --block 256 \
	--buffer "in:u32[1048576]=iota" --buffer "out:u32[4096]" --arg u32=100

# race_row KERNEL PLAIN-GRID GRID MORE OPTIONS...: of kernels/race.ptx
race_row()
{
	kernel=$1
	shift
	echo "$kernel"
	ratio race 15 "$@" -d h100 "$kernels/race.ptx" --kernel "$kernel" --block 256
}

ones="--buffer t:f32[65536]=ones"
out="--buffer o:f32[2097152]"
race_row table_f32 8192 64 128 $ones $out --arg u32=65535 --arg u32=64
race_row table_f64 4096 64 64 --buffer "t:f64[65536]=ones" --buffer "o:f64[1048576]" --arg u32=65535 --arg u32=64
race_row table_v4 2048 64 32 $ones $out --arg u32=16383 --arg u32=64
race_row sparse 4096 128 32 --buffer "c:u32[16777216]=random" --buffer "v:f32[16777216]=ones" \
	--buffer "x:f32[65536]=ones" --buffer "o:f32[1048576]" --arg u32=65535
race_row histogram_global 8192 128 64 --buffer "i:u32[2097152]=random" --buffer "c:u32[65536]" \
	--arg u32=65535 --arg u32=16
race_row permute 16384 512 32 --buffer "i:u32[4194304]=iota" --buffer "o:u32[4194304]" --arg u32=4194304
race_row radix_scatter 16384 512 32 --buffer "i:u32[4194304]=random" --buffer "n:u32[256]" \
	--buffer "o:u32[8388608]" --arg u32=32768
race_row search 4096 256 16 --buffer "e:u32[4194304]=random" --buffer "l:u32[1048576]" \
	--buffer "q:u32[1048576]" --buffer "n:u32[1]" --arg u32=1048575
race_row relax 4096 64 64 --buffer "i:u32[1048576]=random" --buffer "v:u32[65536]=iota" --arg u32=65535 --arg u32=16
race_row pipeline 2048 32 64 --buffer "i:f32[33554432]=ones" --buffer "o:f32[524288]" --arg u32=16
race_row bulk 1024 32 32 --buffer "i:f32[16777216]=ones" --buffer "o:f32[262144]" --arg u32=16
