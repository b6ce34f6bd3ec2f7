#!/bin/sh
# What it costs to begin: milliseconds of processor time, the mean of 50 runs, of a program without CUDA below
# `ptxloom run`, of one that launches a kernel, and of a kernel by `ptxloom exec`.
#
# usage: start.sh FOLDER-OF-SAMPLES FOLDER-OF-THE-COMMAND
samples=$1
PATH=$2:$PATH
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# row NAME COMMAND...: user and system time of its runs.
row()
{
	name=$1
	shift
	if ! "$@" >/dev/null 2>&1; then
		echo "SKIP: $name: $* fails"
		return
	fi
	(
		for _ in $(seq 50); do
			"$@" >/dev/null 2>&1
		done
		times
	) | awk -v name="$name" '
	function seconds(t,    part)
	{
		split(t, part, /[ms]/)
		return part[1] * 60 + part[2]
	}
	NR == 2 { printf "%-28s %6.2f ms\n", name, (seconds($1) + seconds($2)) * 1000 / 50 }'
}

row "a program alone" /bin/true
row "the same below ptxloom run" ptxloom run /bin/true
if ptxloom cc "$samples/testkit/race.cu" -o "$folder/race" 2>/dev/null; then
	row "a program with a launch" ptxloom run "$folder/race" 256 fixed
else
	echo "SKIP: no clang, so no program with a launch"
fi
row "ptxloom exec" ptxloom exec "$samples/saxpy.ptx" --block 4 --arg u32=4 --arg f32=2 \
	--buffer 'x:f32[4]' --buffer 'y:f32[4]'
