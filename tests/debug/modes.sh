# The sessions of checks.txt in every mode: answers depend neither on the device nor on the host's instruction set.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/debug/sessions.inc.sh"

build_programs
# A row: level of the host (-: the best), device, compiler.
while read -r level device compiler; do
	if [ "$level" != - ]; then
		if ! PTXLOOM_HOST_ISA=$level ptxloom exec "$top/samples/saxpy.ptx" --arg u32=0 --arg f32=2 \
			--buffer x:f32[1] --buffer y:f32[1] >"$scratch/out" 2>&1; then
			skip "$level, $device, $compiler" "$(head -n 1 "$scratch/out")"
			continue
		fi
		PTXLOOM_HOST_ISA=$level
		export PTXLOOM_HOST_ISA
	fi
	case $compiler in
	clang) set -- --programs "$scratch/programs" ;;
	nvcc) set -- --ptx "$top/tests/debug/nvcc" ;;
	esac
	sessions "$level, $device, $compiler" "$top/tests/debug/checks.txt" "$@" --device "$device"
	unset PTXLOOM_HOST_ISA
done <<'END'
base a100 clang
v2 h100 nvcc
v3 v100 clang
v4 gb202 nvcc
- v100 nvcc
- gb202 clang
- h200 clang
END
finish
