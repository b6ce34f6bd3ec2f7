# Whole sessions of `ptxloom debug`: programs of `ptxloom cc -G` and PTX of nvcc -G, on the default device. Those of
# checks.txt with PTX of nvcc: brief.sh. Further devices and levels of the host: modes.sh.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/debug/sessions.inc.sh"

build_programs
sessions "clang" "$top/tests/debug/checks.txt" --programs "$scratch/programs"
sessions "looking" "$top/tests/debug/look.txt" --programs "$scratch/programs"
sessions "languages, clang" "$top/tests/debug/languages.txt" --programs "$scratch/programs"
sessions "languages, nvcc" "$top/tests/debug/languages.txt" --ptx "$top/tests/debug/nvcc"
sessions "mixed" "$top/tests/debug/mixed.txt" --programs "$scratch/programs"
[ -n "$no_programs" ] || succeeds "files are compiled apart" ptxloom cc -G "$top/tests/debug/apart/one.cu" \
	"$top/tests/debug/apart/two.cu" -o "$scratch/programs/apart"
sessions "apart" "$top/tests/debug/apart.txt" --programs "$scratch/programs"
sessions "groups" "$top/tests/debug/groups.txt" --programs "$scratch/programs"
sessions "clusters" "$top/tests/debug/clusters.txt" --ptx "$top/tests/debug/nvcc" --device h100
build_by_nvcc mixed inlined dynamic grid
sessions "groups, nvcc" "$top/tests/debug/groups.txt" --programs "$scratch/by_nvcc"
sessions "mixed, nvcc" "$top/tests/debug/mixed.txt" --programs "$scratch/by_nvcc"
[ -n "$no_programs" ] || succeeds "files are linked by nvcc" "$nvcc" -G -rdc=true -arch=sm_80 \
	"$top/tests/debug/apart/one.cu" "$top/tests/debug/apart/two.cu" -o "$scratch/by_nvcc/apart"
sessions "apart, linked by nvcc" "$top/tests/debug/apart.txt" --programs "$scratch/by_nvcc"
finish
