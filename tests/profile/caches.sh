# The model of the caches on launches that an H200 has counted: tests/counters/caches.tsv. Of each group of counters a
# share of the values has to be equal, and a share equal or nearly so. PTXLOOM_LONG=1: all launches, each column shown.
. "${srcdir:-.}/tests/tap.sh"
program=$PWD/tests/oracle/caches_cross
cd "$srcdir" || exit 1
table=tests/counters/caches.tsv
last=719
[ -n "${PTXLOOM_LONG:-}" ] && last=999999

metrics=$(sed -n 's/^@\t//p' $table | tr '\t' ',')
status 0 ptxloom profile -d h200 --csv --page raw --metrics "$metrics" --log-file "$scratch/raw" \
	"$program" libcuda.so.1 $table 0 $last
awk -f tests/counters/compare.awk $table "$scratch/raw" >"$scratch/columns"
[ -z "${PTXLOOM_LONG:-}" ] || sed 's/^/# /' "$scratch/columns"

# agree WHAT PATTERN EQUAL NEAR: percentages of the values of the columns that fit.
agree()
{
	got=$(awk -F'\t' -v pattern="$2" '$4 ~ pattern { any += $1; equal += $2; close_to += $3 }
		END { printf "%.1f %.1f %d", 100 * equal / any, 100 * close_to / any, any }' "$scratch/columns")
	set -- "$1" "$3" "$4" $got
	verdict "$(awk -v e="$4" -v n="$5" -v a="$2" -v b="$3" 'BEGIN { exit !(e >= a && n >= b) }'; echo $?)" \
		"$1: $4 % of $6 values equal ($2 are due), $5 % near ($3)"
}

agree "requests, sectors and lookups of the first cache" '^l1tex__t_(requests|sectors|set)' 92 95
agree "sectors between the caches" '^l1tex__m_' 95 96
agree "bank conflicts and wavefronts" 'shared_op_(ld|st)$' 92 94
agree "requests of SMs to the second cache" '^lts__t_(requests|sectors)_srcunit_tex' 85 91
agree "sectors between the partitions" '^lts__t_sectors_srcunit_ltcfabric.*(write|miss)$' 71 82
agree "theoretical sectors" '^memory_l2' 99 99
finish
