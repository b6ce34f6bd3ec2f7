# Every function of both interfaces that takes a size, a count or a shape is tried with absurd ones in
# tests/oracle/api/sizes.api or counts.api: the list is made from the functions' declarations, so that a
# new one that is not tried fails here.
. "${srcdir:-.}/tests/tap.sh"

# Declarations from the tables of entry points, one a line, without the lists of nodes that go before others, which one
# reader takes for all functions.
awk '
	/^(RT|DRV)[A-Z_]*\(/ { if (row) print row; row = $0; next }
	/^\t/ && row { sub(/^\t/, " "); row = row $0; next }
	{ if (row) print row; row = "" }
	END { if (row) print row }' "$srcdir/runtime/cudart/runtime.def" "$srcdir/runtime/cuda/driver.def" \
	"$srcdir/runtime/cuda/driver_graph.def" |
	grep -v '^[A-Z]*_STUB' | sed -E 's/^RT_FOR\([A-Z0-9_]+, [A-Za-z0-9_]+, |^RT_TYPED\([^,]*, |^[A-Z_]+\(//
		s/^([A-Za-z0-9_]+), (\([^()]*\)).*/\1\2/
		s/struct graph_node \*const \*(deps|from)[^)]*size_t n//' | sort -u >"$scratch/all"
# What carries a size: numbers by value, and structures with some.
sizes='size_t [a-z_]+[,)]|unsigned (n|count|levels?|width|height|rank|x|y)[,)]|u32 (n|count|levels?|width|height)[,)]'
shapes='rt_extent|rt_pitched|rt_copy_3d|copy_3d_peer|plane|box|box_copy|memset_node_params'
shapes="$shapes|alloc_node_params|kernel_node_params|array_desc|array3d_desc|resource_desc"
shapes="struct ($shapes|rt_resource_desc|memory_pool_props)\\b"
# Left out: what only answers, what compilers alone call, and functions of ours. Texture references need a module
# with one: tests/api/texrefs.c.
grep -E "$sizes|$shapes" "$scratch/all" | sed -E 's/ *\(.*//' |
	grep -vE 'Get.*(Params|Descriptor|ResourceDesc|Info)(_v2)?$|^cudaGraphInstantiate_11$' |
	grep -vE '^__cudaRegister|^[a-z]+_|^cuda?BindTexture|^cuTexRef' |
	grep -vE '^cu(da)?(SurfObjectCreate|CreateSurfaceObject)$' >"$scratch/sized"

# Other names of the same function, and forms for the thread's own stream.
base()
{
	sed -E 's/_(ptds|ptsz)$//; s/_(v[23]|1[12])$//' | sort -u
}
base <"$scratch/sized" >"$scratch/wanted"
sed -nE 's/^sizes ([A-Za-z0-9_]+).*/\1/p' "$srcdir/tests/oracle/api/sizes.api" \
	"$srcdir/tests/oracle/api/counts.api" | base >"$scratch/tried"

comm -23 "$scratch/wanted" "$scratch/tried" >"$scratch/missing"
sed 's/^/# not tried: /' "$scratch/missing"
ok "$([ ! -s "$scratch/missing" ]; echo $?)" \
	"$(wc -l <"$scratch/wanted") functions that take sizes are tried with absurd ones"

# None of them ends the process or writes beside what it was given. What an H200 answers is compared by
# api_cross.sh.
PTXLOOM_DEVICE=h200
LD_LIBRARY_PATH=$libraries
export PTXLOOM_DEVICE LD_LIBRARY_PATH
for script in sizes counts; do
	timeout 300 "$builddir/tests/oracle/api_cross" -j 2 "$LD_LIBRARY_PATH/libcudart.so.13" \
		"$LD_LIBRARY_PATH/libcuda.so.1" "$srcdir/tests/oracle/api/$script.api" >"$scratch/got"
	grep -E '=> (crashes|hangs|no such function)$|beyond its end$|^ends early' "$scratch/got" \
		>"$scratch/bad"
	head -n 20 "$scratch/bad" | sed 's/^/# /'
	ok "$([ ! -s "$scratch/bad" ]; echo $?)" \
		"$script: $(grep -c ' => ' "$scratch/got") calls, none crashes or writes beyond its end"
done
finish
