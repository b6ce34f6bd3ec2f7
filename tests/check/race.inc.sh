# Kernels that have one race or none, and whether a run says so: for the tests of races. Not a test itself.
# of NAME: the kernels of tests/check/NAME.cu.
of()
{
	ptx=tests/check/$1.ptx
	source=tests/check/$1.cu
	kernels=$(sed -n 's/^KERNEL \([a-z_]*\)(.*/\1/p' "$source")
}
of race

# look KERNEL OPTION...: runs it in three CTAs of two warps.
look()
{
	kernel=$1
	shift
	timeout 120 env PTXLOOM_CHECK=race "$@" ptxloom exec $ptx ${device:+-d $device} --kernel "$kernel" \
		--grid 3 --block 64 --buffer o:u32[256] >"$scratch/out" 2>"$scratch/err"
	code=$?
}

# expected KERNEL: is the verdict what its name says?
expected()
{
	case $1 in
	race_*) [ "$code" -eq 86 ] && grep -q '^========= Error: Race' "$scratch/err" ;;
	warning_*) [ "$code" -eq 0 ] && grep -q '(0 errors, [1-9]' "$scratch/err" ;;
	*) [ "$code" -eq 0 ] && grep -q 'SUMMARY: 0 hazards displayed (0 errors, 0 warnings)' "$scratch/err" ;;
	esac
}

# at_lines KERNEL: a report names the lines that the source marks.
at_lines()
{
	for side in first second; do
		line=$(awk -v k="$1" -v s="$side" '$0 ~ "// " k " .*" s { print FNR }' $source)
		[ -z "$line" ] || grep -q "${source##*/}:$line\([: ]\|$\)" "$scratch/err" || return 1
	done
}

# fits KERNEL MODE: can it be run so?
fits()
{
	:
}
