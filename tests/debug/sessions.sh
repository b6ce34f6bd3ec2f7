# Whole sessions of `ptxloom debug`: programs of `ptxloom cc -G` and PTX of nvcc -G, on the default device. Those of
# checks.txt with PTX of nvcc: brief.sh. Further devices and levels of the host: modes.sh.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/debug/sessions.inc.sh"

build_programs
sessions "clang" "$top/tests/debug/checks.txt" --programs "$scratch/programs"
sessions "looking" "$top/tests/debug/look.txt" --programs "$scratch/programs"
sessions "languages, clang" "$top/tests/debug/languages.txt" --programs "$scratch/programs"
sessions "languages, nvcc" "$top/tests/debug/languages.txt" --ptx "$top/tests/debug/nvcc"
sessions "moving" "$top/tests/debug/moving.txt" --programs "$scratch/programs"
sessions "moving, nvcc" "$top/tests/debug/moving.txt" --ptx "$top/tests/debug/nvcc"
# Entries of a list become empty, and as many bytes longer its end, so that others stay where they are.
mkdir "$scratch/gaps"
awk '/^\.b64 \$L__tmp/ { labels++; if (labels % 2) gap = /tmp[245]$/ }
	left { left--; next }
	/^\.b8/ && labels && labels % 2 == 0 && gap { print ".b8 0\n.b8 0"; left = 6; gap = 0; cut += 5; next }
	{ print }
	/^\.b64 0$/ && ++ends == 2 { while (cut) { print ".b8 0"; cut-- } }' \
	"$top/tests/debug/nvcc/moving.ptx" >"$scratch/gaps/moving.ptx"
sessions "gaps" "$top/tests/debug/gaps.txt" --ptx "$scratch/gaps"
sessions "mixed" "$top/tests/debug/mixed.txt" --programs "$scratch/programs"
[ -n "$no_programs" ] || succeeds "files are compiled apart" ptxloom cc -G "$top/tests/debug/apart/one.cu" \
	"$top/tests/debug/apart/two.cu" -o "$scratch/programs/apart"
sessions "apart" "$top/tests/debug/apart.txt" --programs "$scratch/programs"
sessions "groups" "$top/tests/debug/groups.txt" --programs "$scratch/programs"
sessions "clusters" "$top/tests/debug/clusters.txt" --ptx "$top/tests/debug/nvcc" --device h100
[ -n "$no_programs" ] || succeeds "with lines alone" ptxloom cc -O3 -lineinfo "$top/tests/debug/lines.cu" \
	-o "$scratch/programs/lineinfo"
sessions "lines" "$top/tests/debug/lines.txt" --programs "$scratch/programs"
[ -n "$no_programs" ] || succeeds "fragments are built for Volta" ptxloom cc -G -arch=sm_70 \
	"$top/tests/debug/fragments.cu" -o "$scratch/programs/fragments_volta"
sessions "fragments" "$top/tests/debug/fragments.txt" --programs "$scratch/programs"
[ -n "$no_programs" ] || mv "$scratch/programs/fragments_volta" "$scratch/programs/fragments"
sessions "fragments, v100" "$top/tests/debug/fragments.txt" --programs "$scratch/programs" --device v100
# What gdb answers about the same source on the host, and that it does.
if [ -n "$no_programs" ] || ! command -v python3 >/dev/null 2>&1; then
	skip "values as in gdb" "${no_programs:-no python3}"
else
	answers "values" ptxloom debug --batch "$scratch/programs/values"
fi
if ! command -v gdb >/dev/null 2>&1 || ! command -v python3 >/dev/null 2>&1 ||
	! g++ -g -DHOST -x c++ "$top/tests/debug/values.cu" -o "$scratch/host" 2>/dev/null; then
	skip "gdb itself" "no gdb, g++ or python3"
elif ! gdb -q -nx -batch -ex 'break main' -ex run -ex 'print ((int (*)(int))abs)(-3)' "$scratch/host" 2>/dev/null |
	grep -q '= 3$'; then
	skip "gdb itself" "this gdb cannot call functions on this processor"
else
	answers "gdb itself" --stdin gdb -q -nx "$scratch/host"
fi
build_by_nvcc mixed inlined dynamic lines grid fragments
sessions "groups, nvcc" "$top/tests/debug/groups.txt" --programs "$scratch/by_nvcc"
sessions "fragments, nvcc" "$top/tests/debug/fragments.txt" --programs "$scratch/by_nvcc"
sessions "mixed, nvcc" "$top/tests/debug/mixed.txt" --programs "$scratch/by_nvcc"
[ -n "$no_programs" ] || succeeds "files are linked by nvcc" "$nvcc" -G -rdc=true -arch=sm_80 \
	"$top/tests/debug/apart/one.cu" "$top/tests/debug/apart/two.cu" -o "$scratch/by_nvcc/apart"
[ -n "$no_programs" ] || succeeds "with nvcc's lines alone" "$nvcc" -O3 -lineinfo -arch=sm_80 \
	"$top/tests/debug/lines.cu" -o "$scratch/by_nvcc/lineinfo"
sessions "lines, nvcc" "$top/tests/debug/lines.txt" --programs "$scratch/by_nvcc"
sessions "apart, linked by nvcc" "$top/tests/debug/apart.txt" --programs "$scratch/by_nvcc"
finish
