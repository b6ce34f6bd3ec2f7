# Kernels that read what was never written, or do not, and whether a run says so: for the tests of that. Not a test
# itself.
registers=tests/check/registers.ptx
source=tests/check/init.cu

# kernels_of FILE: of a program or of PTX.
kernels_of()
{
	sed -n 's/^KERNEL \([a-z_]*\)(.*/\1/p; s/^\.visible \.entry \([a-z_]*\)(.*/\1/p' "$1"
}

# look_at COMMAND...: how it ends, what it says.
look_at()
{
	timeout 120 "$@" >"$scratch/out" 2>"$scratch/err"
	code=$?
}

# is_expected FILE KERNEL: is the verdict what the name says, and does it name the line that FILE marks?
is_expected()
{
	case $2 in
	init_*)
		line=$(awk -v k="$2" '$0 ~ "// " k " read" { print FNR }' "$1")
		[ "$code" -eq 86 ] && grep -q '^========= Uninitialized ' "$scratch/err" &&
			grep -q "${1##*/}:$line\([: ]\|\$\)" "$scratch/err"
		;;
	*) [ "$code" -eq 0 ] && ! grep -q '^========= \(Warning: \)\?Uninitialized' "$scratch/err" ;;
	esac
}

# build_program OPTION...: $scratch/init, which runs the kernel that it is given.
build_program()
{
	kernels_of $source | sed 's/.*/K(&)/' >"$scratch/init.inc"
	ptxloom cc -lineinfo -I"$scratch" "$@" $source -o "$scratch/init"
}
