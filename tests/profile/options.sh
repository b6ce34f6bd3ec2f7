# ptxloom profile and ncu's options: summaries, formats of numbers and names, groups, lists; each other option is noted
# as without effect, or refused with a reason.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

exec="ptxloom exec tests/profile/counts.ptx -d h100"
strided="$exec --kernel strided --grid 1 --block 64 --buffer in:u32[4096]=iota --buffer out:u32[4096]"
ld=l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
status 0 ptxloom profile -o "$scratch/one" $strided --arg u32=8
status 0 ptxloom profile -o "$scratch/two" $strided --arg u32=1
cat "$scratch/one" "$scratch/two" "$scratch/one" >"$scratch/all"

# ---- summaries ----

status 0 ptxloom profile -i "$scratch/all" --print-summary per-gpu --metrics $ld
says out 'Device 0, CC 9.0, Invocations 1$'
sed 's/"process": [0-9]*/"process": 1/' "$scratch/one" >"$scratch/a"
sed '1d; s/"launch": 0/"launch": 1/' "$scratch/two" | sed 's/"program": 1,/"program": 2,/' >"$scratch/b"
sed '$d' "$scratch/a" | cat - "$scratch/b" >"$scratch/both"
status 0 ptxloom profile -i "$scratch/both" --print-summary per-kernel --metrics $ld
says out '^  strided \(1, 1, 1\)x\(64, 1, 1\), Device 0, CC 9.0, Invocations 2$'
says out '^    Metric Name +Metric Unit Minimum Maximum Average$'
says out "^    $ld +sector +8\.00 +64\.00 +36\.00\$"
status 0 ptxloom profile -i "$scratch/both" --print-summary per-kernel --csv --section Occupancy
head='"Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size","Device","CC","Invocations"'
says out "^$head,\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\$"
says out '"strided","\(64, 1, 1\)","\(1, 1, 1\)","0","9.0","2","Occupancy","Theoretical Occupancy","%","100.00",'
status 0 ptxloom profile -i "$scratch/both" --print-summary per-nvtx --csv --metrics $ld
says out '"127.0.0.1","","","0","9.0","2","Command line profiler metrics"'
refused 2 "is not one of none, per-gpu" "a summary" ptxloom profile --print-summary per-day true

# ---- formats ----

status 0 ptxloom profile -i "$scratch/one" --print-fp --metrics $ld
says out "^    $ld +sector +64\.00\$"
sed 's/"global_ld_sectors": 64/"global_ld_sectors": 6400000/' "$scratch/one" >"$scratch/large"
status 0 ptxloom profile -i "$scratch/large" --metrics $ld
says out ' 6,400,000$'
status 0 ptxloom profile -i "$scratch/large" --print-raw-numbers --metrics $ld
says out ' 6400000$'
sed 's/"global_ld_sectors": 64/"global_ld_sectors": "18446744073709551615"/' "$scratch/one" >"$scratch/large"
status 0 ptxloom profile -i "$scratch/large" --metrics $ld
says out ' 18,446,744,073,709,551,615$'
status 0 ptxloom profile -i "$scratch/one" --print-details header --csv --section SourceCounters
empty "$(grep OPT "$scratch/out")" "the header has no rules"
status 0 ptxloom profile -i "$scratch/one" --print-details body --csv --section SourceCounters
empty "$(grep 'Branch Instructions' "$scratch/out")" "the body has no metrics"
says out '"UncoalescedGlobalAccess","OPT"'
sed 's/"kernel": "strided", "name": "strided"/"kernel": "_Z1fv", "name": "void n::f<int>(int)"/' "$scratch/one" \
	>"$scratch/named"
for base in "function f" "mangled _Z1fv" "demangled void n::f<int>(int)"; do
	status 0 ptxloom profile -i "$scratch/named" --print-kernel-base "${base%% *}" --csv --metrics $ld
	ok "$(grep -qF "\"${base#* }\"" "$scratch/out"; echo $?)" "kernels by $base"
done
status 0 ptxloom profile -i "$scratch/one" --page session
says out '^    Device Name +NVIDIA H100'
says out '^    Profiled Launches +1$'

# ---- metrics ----

status 0 ptxloom profile -i "$scratch/one" --metrics group:memory__dram_table
says out '^    dram__sectors_read.sum +sector +150$'
empty "$(grep l1tex "$scratch/out")" "nothing else"
refused 2 "is a matter of time" "a group of times" \
	ptxloom profile --metrics group:smsp__pcsamp_warp_stall_reasons true
refused 2 "there is no group of metrics 'x'; there are memory__" "a group" ptxloom profile --metrics group:x true
status 0 ptxloom profile --query-metrics --query-metrics-mode base
ok "$([ "$(grep -cx smsp__inst_executed "$scratch/out")" = 1 ]; echo $?)" "names without suffixes, each once"
empty "$(grep '\.' "$scratch/out")" "without suffixes"
status 0 ptxloom profile --list-metrics --section Occupancy
says out '^sm__maximum_warps_per_active_cycle_pct$'
status 0 ptxloom profile --version
says out '^ptxloom profile [0-9]'

# ---- sources elsewhere ----

mkdir "$scratch/moved"
cp tests/profile/counts.ptx "$scratch/moved/gone.ptx"
sed 's,tests/profile/counts.ptx,/none/gone.ptx,' "$scratch/one" >"$scratch/gone"
status 0 ptxloom profile -i "$scratch/gone" --page annotate
says out 'The file cannot be read: lines without their texts'
status 0 ptxloom profile -i "$scratch/gone" --page annotate --source-folder "$scratch/moved"
says out '	ld\.global\.u32'

# ---- the others ----

n=0
# shellcheck disable=SC2034
while IFS='"' read -r kind option rest; do
	value=$(echo "$rest" | sed 's/^, \(true\|false\),.*/\1/')
	[ "$value" = true ] && word="$option=1" || word=$option
	"$bin/ptxloom" profile "$word" -i "$scratch/one" --metrics $ld >"$scratch/out" 2>"$scratch/err"
	got=$?
	case $kind in
	NOTED*) [ $got = 0 ] && grep -q -e "^==WARNING== $option has no effect: " "$scratch/err" && n=$((n + 1)) ||
		echo "# $option" ;;
	*) [ $got = 2 ] && grep -q -e "$option is not supported: " "$scratch/err" && n=$((n + 1)) || echo "# $option" ;;
	esac
done <<END
$(grep -E '^(NOTED|REFUSED)\("' src/tools/profile/ncu_options.def)
END
ok "$([ $n -gt 50 ] && [ $n = "$(grep -cE '^(NOTED|REFUSED)\("' src/tools/profile/ncu_options.def)" ]; echo $?)" \
	"$n options of ncu say why they do nothing"
missing=
for option in $(sed -nE 's/^(NOTED|REFUSED)\("([^"]*)".*/\2/p' src/tools/profile/ncu_options.def); do
	grep -q -e "^|.*\`$option\`" docs/profile.md || missing="$missing $option"
done
empty "$missing" "docs/profile.md has a row for each of them"
refused 2 "there is no value for '--clock-control'" "no value" ptxloom profile --clock-control
refused 2 "unknown option '--clock'" "a part of an option" ptxloom profile --clock base true
finish
