# The model of the caches on launches that an H200 and an H100 have counted: tests/counters/caches*.tsv. Of each group
# of counters a share of the values has to be equal, and a share equal or nearly so. TEST_LONG=1: all launches, each
# column shown.
. "${srcdir:-.}/tests/tap.sh"
program=$PWD/tests/oracle/caches_cross
cd "$srcdir" || exit 1
last=719
[ -n "${TEST_LONG:-}" ] && last=999999

# measure DEVICE TABLE LAST: launches of a table, into $scratch/columns.
measure()
{
	metrics=$(sed -n 's/^@\t//p' "$2" | tr '\t' ',')
	status 0 ptxloom profile -d "$1" --csv --page raw --metrics "$metrics" --log-file "$scratch/raw" \
		"$program" libcuda.so.1 "$2" 0 "$3"
	awk -f tests/counters/compare.awk "$2" "$scratch/raw" >"$scratch/columns"
	[ -z "${TEST_LONG:-}" ] || sed 's/^/# /' "$scratch/columns"
}

# agree WHAT PATTERN EQUAL NEAR: percentages of the values of the columns that fit.
agree()
{
	got=$(awk -F'\t' -v pattern="$2" '$4 ~ pattern { any += $1; equal += $2; close_to += $3 }
		END { printf "%.1f %.1f %d", 100 * equal / any, 100 * close_to / any, any }' "$scratch/columns")
	set -- "$1" "$3" "$4" $got
	verdict "$(awk -v e="$4" -v n="$5" -v a="$2" -v b="$3" 'BEGIN { exit !(e >= a && n >= b) }'; echo $?)" \
		"$1: $4 % of $6 values equal ($2 are due), $5 % near ($3)"
}

# What is counted is the same for every number of workers: of launches that fill the device, and of small ones.
for workers in 1 5; do
	PTXLOOM_WORKERS=$workers ptxloom profile -d h200 --csv --page raw --log-file "$scratch/raw.$workers" \
		ptxloom exec tests/bench/kernels/bench.ptx --kernel stencil --grid 16,64 --block 32,8 \
		--buffer "a:f64[262144]=ones" --buffer "b:f64[262144]" --arg u32=512 >"$scratch/out" 2>&1
	PTXLOOM_WORKERS=$workers ptxloom profile -d h200 --csv --page raw --log-file "$scratch/small" \
		"$program" libcuda.so.1 tests/counters/caches.tsv 300 340 >"$scratch/out" 2>&1
	sed -i -E 's/^("[0-9]+"),"[0-9]+"/\1/' "$scratch/raw.$workers" "$scratch/small"
	cat "$scratch/small" >>"$scratch/raw.$workers"
done
ok "$([ "$(grep -c '^"[0-9]' "$scratch/raw.1")" -gt 30 ]; echo $?)" "launches are profiled"
ok "$(cmp -s "$scratch/raw.1" "$scratch/raw.5"; echo $?)" "one worker and five count the same"

measure h200 tests/counters/caches.tsv $last
agree "requests, sectors and lookups of the first cache" '^l1tex__t_(requests|sectors|set)' 96.5 98
agree "sectors between the caches" '^l1tex__m_' 97 98
agree "bank conflicts and wavefronts" 'shared_op_(ld|st)$' 100 100
agree "all of shared memory" '(wavefronts|conflicts).*shared' 93 98
agree "requests of SMs to the second cache" '^lts__t_(requests|sectors)_srcunit_tex' 90 94.5
agree "sectors between the partitions" '^lts__t_sectors_srcunit_ltcfabric.*(write|miss)$' 78 88
agree "requests without data, too" '^l1tex__t_requests_pipe_lsu_mem_lg$' 98 99
agree "requests for constants" '^idc__requests$' 72 94
agree "requests that miss in the other partition" '^lts__t_requests_srcunit_ltcfabric_lookup_miss$' 72 87
agree "theoretical sectors" '^memory_l2' 99 99
agree "tags and wavefronts of instructions" '^memory_l1' 99 99
agree "storage that is shared memory" '^launch__shared_mem_config_size' 99 99

measure h200 tests/counters/caches_more.tsv 999999
agree "more: the first cache" '^l1tex__t_(requests|sectors|set)' 90 94
agree "more: shared memory" '(wavefronts|conflicts).*shared' 90 97
agree "more: sectors and wavefronts of instructions" '^memory_' 99 99

measure h200 tests/counters/prefetch.tsv 999999
agree "prefetches: the first cache" '^l1tex__t_(requests|sectors|set)' 98 99
agree "prefetches: requests of SMs to the second cache" '^lts__t_(requests|sectors)_srcunit_tex' 77 84

measure h100 tests/counters/caches_h100.tsv 999999
agree "H100: the first cache" '^l1tex__t_(requests|sectors|set)' 90 94
agree "H100: shared memory" '(wavefronts|conflicts).*shared' 92 97
agree "H100: requests of SMs to the second cache" '^lts__t_(requests|sectors)_srcunit_tex' 83 88
agree "H100: sectors and wavefronts of instructions" '^memory_' 99 99
finish
