# Metrics by the names of Nsight Compute: all that GPUs were asked for have a value, each counter has a sum, and what it
# is by unit; others are columns without a value, and a line that says why.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

strided="ptxloom exec tests/profile/counts.ptx -d h200 --kernel strided --buffer in:u32[65536]=iota
	--buffer out:u32[65536] --arg u32=1"

# field NAME LINE: of the raw page that was written last.
field()
{
	awk -F'","' -v name="$1" -v line="$2" '{ gsub(/^"|"$/, "") }
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		NR == line { print $at }' "$scratch/raw"
}

# has NAME VALUE
has()
{
	got=$(field "$1" 3)
	capture printf '%s\n' "got '$got'"
	verdict "$([ "$got" = "$2" ]; echo $?)" "$1 is $2"
}

raw()
{
	status 0 ptxloom profile --csv --page raw --log-file "$scratch/raw" "$@"
}

for table in caches caches_more textures code; do
	names=$(sed -n 's/^@\t//p' "tests/counters/$table.tsv" | tr '\t' '\n' | sed 's/[.]sum$//' | sort -u)
	# shellcheck disable=SC2086
	raw --metrics "$(printf '%s,' $names)" $strided --grid 3 --block 64
	head -n 1 "$scratch/raw" | tr ',' '\n' | tr -d '"' | sed 's/[.]sum$//' | sort >"$scratch/columns"
	printf '%s\n' "$names" | sort | comm -23 - "$scratch/columns" >"$scratch/absent"
	capture cat "$scratch/absent"
	verdict "$([ ! -s "$scratch/absent" ]; echo $?)" "$table: each has a column"
	empty "$(sed -n '/WARNING/p' "$scratch/err")" "$table: none is unknown"
	tail -n +2 "$scratch/raw" | tail -n 1 | tr '"' '\n' | grep -c 'n/a' >"$scratch/unknown"
	sort "$scratch/columns" | grep -vE '^(launch|device)__' | grep -cE '[.](max|min)$' >"$scratch/parts"
	verdict "$([ "$(cat "$scratch/unknown")" -le "$(($(cat "$scratch/parts") * 2))" ]; echo $?)" \
		"$table: sums have values"
done

# What scripts that draw rooflines ask for, and counters of SMs by either unit.
raw --metrics "dram__bytes.sum,lts__t_bytes.sum,lts__t_sectors.sum,l1tex__t_bytes.sum,lts__t_sector_hit_rate.pct" \
	$strided --grid 3 --block 64
for column in $(head -n 1 "$scratch/raw" | tr -d '"' | tr ',' '\n' | grep -E '^(dram|lts|l1tex)__'); do
	ok "$([ "$(field "$column" 3)" != '(!) n/a' ]; echo $?)" "$column has a value"
done
ok "$([ "$(field lts__t_bytes.sum 3 | tr -d ,)" = "$(($(field lts__t_sectors.sum 3 | tr -d ,) * 32))" ]; echo $?)" \
	"bytes of the second cache are those of its sectors"
sass=$(ptxloom profile --query-metrics | sed -n 's/^smsp__\(sass_[a-z0-9_]*\)[.]sum .*/\1/p')
raw --metrics "$(printf 'sm__%s.sum,' $sass)" $strided --grid 3 --block 64
empty "$(sed -n '/WARNING/p' "$scratch/err")" "counters of instructions have the names of both units"
has sm__sass_inst_executed_op_global_ld.sum 6

# Three CTAs of two warps, on three of 132 SMs: a warp loads 128 bytes.
ld=l1tex__t_sectors_pipe_lsu_mem_global_op_ld
raw --metrics "$ld,dram__bytes_read,smsp__sass_thread_inst_executed_op_ffma_pred_on,gpu__time_duration.sum,$ld.pct" \
	$strided --grid 3 --block 64
says err "gpu__time_duration.sum is a matter of time"
says err "$ld.pct is not counted; did you mean $ld.sum"
has $ld.sum 24
has $ld.avg 0.18
has $ld.max 8
has $ld.min 0
has dram__bytes_read.max '(!) n/a'
has smsp__sass_thread_inst_executed_op_ffma_pred_on.avg 0
has gpu__time_duration.sum '(!) n/a'
has $ld.pct '(!) n/a'
capture field $ld.max 2
is out sector "its unit"
head -n 1 "$scratch/raw" | tr -d '"' | tr ',' '\n' | tail -n +12 >"$scratch/order"
LC_ALL=C sort "$scratch/order" >"$scratch/sorted"
capture diff "$scratch/order" "$scratch/sorted"
verdict $? "columns are in byte order"
first='"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream"'
first="$first,\"Block Size\",\"Grid Size\",\"Device\",\"CC\""
ok "$(head -n 1 "$scratch/raw" | grep -q "^$first,\"device__"; echo $?)" "what a launch is comes first"

# 264 CTAs of the same on 132 SMs are two for each; 200 are one or two.
raw --metrics "$ld" $strided --grid 264 --block 64
has $ld.max 16
has $ld.min 16
has $ld.avg 16
raw --metrics "$ld,l1tex__t_requests_pipe_lsu" $strided --grid 200 --block 64
has $ld.max 16
has $ld.min 8
has l1tex__t_requests_pipe_lsu.max 8
status 0 ptxloom profile -f -o "$scratch/report" $strided --grid 200 --block 64
raw -i "$scratch/report" --metrics "$ld"
has $ld.min 8
raw --cache-control off --metrics "$ld" $strided --grid 200 --block 64
has $ld.min '(!) n/a'
has $ld.sum 1,600
# Where there is one CTA, all of it is on its SM.
raw --cache-control off --metrics "$ld,smsp__inst_executed_op_global_ld" $strided --grid 1 --block 32
has $ld.max 4
has smsp__inst_executed_op_global_ld.max 1
finish
