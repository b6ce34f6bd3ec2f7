# What checks cost that are off: of the instructions of a run, valgrind counts those in their code.
. "${srcdir:-.}/tests/tap.sh"
command -v valgrind >/dev/null && command -v callgrind_annotate >/dev/null || skip_rest "no valgrind"
cd "$srcdir" || exit 1

# instructions OPTION...: of a run of 16 blocks: all of them, and those in code of checks, which go to `counts`.
instructions()
{
	env PTXLOOM_WORKERS=1 PTXLOOM_HOST_ISA=base valgrind --tool=callgrind \
		--callgrind-out-file="$scratch/profile" ptxloom exec "$@" tests/bench/kernels/fold.ptx --block 256 \
		--grid 16 --buffer "in:u32[4096]=iota" --buffer "out:u32[16]" --arg u32=20 \
		>"$scratch/out" 2>"$scratch/err"
	callgrind_annotate --threshold=100 --auto=no "$scratch/profile" 2>/dev/null | tr -d , >"$scratch/functions"
	awk '
	/PROGRAM TOTALS/ { all = $1 }
	/src\/check\/[a-z_\/]*\.c:|\/op_watch\.c:/ { checks += $1 }
	END { print all + 0, checks + 0 }' "$scratch/functions" >"$scratch/counts"
}

# share MOST LEAST: is the share of checks between these, in millionths?
share()
{
	awk -v most="$1" -v least="$2" '{ x = $1 ? 1e6 * $2 / $1 : -1; exit !(x >= least && x <= most) }' \
		"$scratch/counts"
}

skipping || instructions
# Code is told by its source files, which only debug information names.
skipping || grep -q 'src/[a-z/_]*\.c:' "$scratch/functions" || skip_rest "no debug information in this build"
skipping || share 100 0
verdict $? "at most one instruction in 10000 is one of checks that are off"
skipping || instructions --check=race
skipping || share 1000000 10000
verdict $? "those of a check are counted"
finish
