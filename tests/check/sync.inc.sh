# Kernels that misuse synchronisation or do not, and whether a run says so: for the tests of that. Not a test itself.
# suite NAME: the kernels of that source.
suite()
{
	ptx=tests/check/$1.ptx
	source=tests/check/$1.cu
	kernels=$(sed -n 's/^KERNEL[A-Z_]* \([a-z_]*\)(.*/\1/p' "$source")
}
suite sync

# shape_of KERNEL: the launch.
shape_of()
{
	case $ptx:$1 in
	*/wgmma.ptx:*) echo --block 256 ;;
	*partial_block | *absent_lanes) echo --grid 2 --block 40 ;;
	*cluster*) echo --grid 2 --block 64 --cluster 2 ;;
	*) echo --grid 2 --block 64 ;;
	esac
}

# look KERNEL OPTION...: runs it.
look()
{
	kernel=$1
	shift
	# shellcheck disable=SC2046 # words
	timeout 120 env PTXLOOM_DEVICE=h100 PTXLOOM_CHECK=sync "$@" ptxloom exec $ptx --kernel "$kernel" \
		$(shape_of "$kernel") --buffer o:u32[512] >"$scratch/out" 2>"$scratch/err"
	code=$?
}

# expected KERNEL: is the verdict what its name says?
expected()
{
	case $1 in
	bad_*) [ "$code" -eq 86 ] ;;
	warning_*) [ "$code" -eq 0 ] && grep -q '^========= Warning: ' "$scratch/err" ;;
	*) [ "$code" -eq 0 ] && [ "$(cat "$scratch/err")" = "========= ERROR SUMMARY: 0 errors" ] ;;
	esac
}

# at_lines KERNEL: a report names the lines that the source marks.
at_lines()
{
	for side in first second; do
		line=$(awk -v k="$1" -v s="$side" '$0 ~ "// " k " " s { print FNR }' $source)
		[ -z "$line" ] || grep -q "${source##*/}:$line\( \|$\|,\)" "$scratch/err" || return 1
	done
}

# fits KERNEL MODE: can it be run so?
fits()
{
	case $1:$2 in
	*reduce* | *subset* | *copy* | *mbar* | *cluster* | *livelock*) [ "$2" != PTXLOOM_DEVICE=v100 ] ;;
	*) : ;;
	esac
}
