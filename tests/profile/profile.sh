# ptxloom profile on kernels of PTX: counts, pages, layouts of ncu, budgets, reports, refusals; and that numbers do
# not depend on workers, seeds or the host's instructions.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

exec="ptxloom exec tests/profile/counts.ptx -d h100"
strided="$exec --kernel strided --grid 1 --block 64 --buffer in:u32[4096]=iota --buffer out:u32[4096]"
ld=l1tex__t_sectors_pipe_lsu_mem_global_op_ld
st=l1tex__t_sectors_pipe_lsu_mem_global_op_st

# metric NAME VALUE: in the table that was printed last.
metric()
{
	says out "^    $1 .* $2\$" "$1 is $2"
}

# ---- counts ----

status 0 ptxloom profile --metrics "$ld.sum,$st.sum,smsp__inst_executed.sum,smsp__thread_inst_executed_pred_on.sum" \
	$strided --arg u32=1
metric $ld.sum 8
metric $st.sum 8
metric smsp__inst_executed.sum 32
metric smsp__thread_inst_executed_pred_on.sum 960
status 0 ptxloom profile --metrics "$ld,regex:^derived__memory_l2,smsp__sass_branch_targets_threads_divergent.sum" \
	$strided --arg u32=8
metric $ld.sum 64
metric derived__memory_l2_theoretical_sectors_global_excessive 56
metric smsp__sass_branch_targets_threads_divergent.sum 2
status 0 ptxloom profile --csv --section SourceCounters $strided --arg u32=8
says out 'total of 56 excessive sectors \(77% of the total 72'
says out 'Most of them: tests/profile/counts.ptx:18 \(56\)'
says out '2 of 2 branches of warps part their threads. Most of them: tests/profile/counts.ptx:21 \(2\)'
status 0 ptxloom profile --csv --section SourceCounters $exec --kernel column --block 32
says out 'total of 62 excessive wavefronts \(96% of the total 64'
status 0 ptxloom profile --section MemoryWorkloadAnalysis_Tables $exec --kernel column --block 32
says out '^    Shared Load  +1 +32 +31$'
says out '^    Shared Store  +1 +32 +31$'

# Memory: a second launch would find the caches as the first began; the model's numbers are those of exec --caches.
status 0 ptxloom profile --metrics "dram__sectors_read.sum,l1tex__m_xbar2l1tex_read_sectors.sum" $strided --arg u32=8
# 64 of data, 70 of the launch, 16 of code.
metric dram__sectors_read.sum 150
metric l1tex__m_xbar2l1tex_read_sectors.sum 64
status 0 ptxloom profile --cache-control off --metrics "dram__sectors_read.sum,$ld.sum" $strided --arg u32=8
metric dram__sectors_read.sum '\(!\) n/a'
metric $ld.sum 64

# With machine code beside the PTX its size and its registers are known: 384 bytes, fetched as 512.
fabric=lts__t_sectors_srcunit_ltcfabric_op_read_lookup_hit.sum
status 0 ptxloom profile --metrics "launch__registers_per_thread,idc__requests.sum,$fabric" \
	ptxloom exec tests/images/lineinfo.cubin -d a100 --kernel _Z5scaleifPf --block 32 --arg s32=32 --arg f32=1 \
	--buffer x:f32[32]
metric launch__registers_per_thread 16
metric idc__requests.sum 0
metric "$fabric" 104

# ---- occupancy ----

status 0 ptxloom profile --csv --section Occupancy $exec --kernel column --block 32 --shared 100000
says out '"Theoretical Active Warps per SM","warp","2",$'
says out 'limited by the required amount of shared memory'
says out 'With at most [0-9]+ bytes of shared memory in a block there would be 3 warps'

# ---- layouts ----

status 0 ptxloom profile --csv --metrics $ld.sum $strided --arg u32=1
identity='"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size"'
identity="$identity,\"Device\",\"CC\""
this='"0","[0-9]+","ptxloom","127.0.0.1","strided","0","0","\(64, 1, 1\)","\(1, 1, 1\)","0","9.0"'
says out "^$identity,\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\$"
says out "^$this,\"Command line profiler metrics\",\"$ld.sum\",\"sector\",\"8\"\$"
status 0 ptxloom profile --csv --section LaunchStats --section SourceCounters $strided --arg u32=8
says out '"Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"$'
says out ',"Launch Statistics","Driver Shared Memory Per Block","byte/block","1,024",$'
says out ',"SourceCounters","","","","UncoalescedGlobalAccess","OPT","This kernel .*","",""$'
status 0 ptxloom profile --csv --page raw --metrics $ld.sum $strided --arg u32=1
says out "^\"ID\",.*,\"CC\",\"device__attribute_compute_capability_major\",.*,\"$ld.sum\",.*\"launch__block_size\""
says out '^"","","","","","","","","","","","",.*"sector","block"'
ok "$([ "$(awk -F'","' '{ print NF }' "$scratch/out" | sort -u | wc -l)" = 1 ]; echo $?)" \
	"lines of the raw page have equally many fields"
status 0 ptxloom profile --csv --page source $strided --arg u32=8
says out '^"Kernel Name","strided",$'
says out '^"Address","Source","Instructions Executed","Thread Instructions Executed",'
says out '^"counts.ptx:18","ld.global.u32 %r4, \[%rd4\];","2","64","64","32","32","0","0","0","0","0","56","64","8",'
status 0 ptxloom profile --page source $strided --arg u32=8
says out '^ +2 +32 +\. .* 18  ld.global.u32'
status 0 ptxloom profile --section LaunchStats --print-units base --print-metric-name label-name $strided --arg u32=1
says out '^    Driver Shared Memory Per Block \(launch__shared_mem_per_block_driver\) +byte/block +1,024$'
status 0 ptxloom profile --section LaunchStats $strided --arg u32=1
says out '^    Driver Shared Memory Per Block +Kbyte/block +1.02$'
says out '^    Stack Size +1,024$'

# ---- budgets ----

status 0 ptxloom profile --quiet --assert "$ld.sum <= 8" --kernel strided $strided --arg u32=1
is err ""
status 1 ptxloom profile --quiet --assert "$ld <= 8" $strided --arg u32=8
says err "^ptxloom profile: budget: strided, launch 0: $ld.sum is 64, which is not <= 8; most at .*counts.ptx:18: "
status 1 ptxloom profile --quiet --assert 'global_ld_efficiency >= 0.9 +- 5%' $strided --arg u32=8
says err 'global_ld_efficiency is 0.13, which is not >= 0.9 \+- 5%; most at tests/profile/counts.ptx:18: '
status 1 ptxloom profile --quiet --assert "dram__sectors_read.max >= 0" $strided --arg u32=1
says err 'dram__sectors_read.max is \(!\) n/a, which is not >= 0'
status 1 ptxloom profile --quiet --assert "$ld.sum <= 8" --kernel other $strided --arg u32=1
is err "ptxloom profile: budget: $ld.sum <= 8: no launch of other was profiled"
# Of one line, of the source or of PTX.
status 0 ptxloom profile --quiet --assert "global_ld_sectors == 64 at counts.ptx:18" $strided --arg u32=8
status 1 ptxloom profile --quiet --assert "$ld <= 8 at tests/profile/counts.ptx:18" $strided --arg u32=8
is err "ptxloom profile: budget: strided, launch 0: $ld.sum at tests/profile/counts.ptx:18 is 64, which is not <= 8"
status 0 ptxloom profile --quiet --assert "global_ld_sectors == 0 at counts.ptx:17" $strided --arg u32=8
status 0 ptxloom profile --quiet --assert "instructions == 2 +- 1% at counts.ptx:18" $strided --arg u32=8
status 1 ptxloom profile --quiet --assert "global_ld_sectors == 0 at counts.ptx:1" $strided --arg u32=8
is err "ptxloom profile: budget: global_ld_sectors == 0 at counts.ptx:1: no launch with that line was profiled"
status 1 ptxloom profile --quiet --assert "global_ld_sectors == 64 at ounts.ptx:18" $strided --arg u32=8
says err 'no launch with that line was profiled'
cat >"$scratch/copies.ptx" <<'END'
.version 7.8
.target sm_80
.address_size 64
.visible .entry copies(.param .u64 p)
{
	.reg .u64 %d;
	.reg .b32 %r<2>;
	.shared .align 16 .b8 s[512];
	ld.param.u64 %d, [p];
	bar.warp.sync 0xffffffff;
	barrier.sync 0;
	mov.u32 %r0, s;
	cp.async.ca.shared.global [%r0], [%d], 4;
	ld.global.u32 %r1, [%d];
	st.global.u32 [%d], %r1;
	ret;
}
END
copies="ptxloom exec $scratch/copies.ptx -d h100 --block 64 --buffer p:u32[64]"
status 0 ptxloom profile --quiet --assert "barriers == 2 at copies.ptx:11" $copies
status 0 ptxloom profile --quiet --assert "barriers == 0 at copies.ptx:10" $copies
status 1 ptxloom profile --quiet --assert "global_ld_sectors >= 0 at copies.ptx:14" $copies
is err "ptxloom profile: budget: copies, launch 0: global_ld_sectors is not known by line here: \
instructions have 2 of 4"
for budget in "$ld.sum == 8" "$ld.sum >= 8" "$ld.sum < 9" "$ld.sum > 7" "$ld.sum != 9"; do
	status 0 ptxloom profile --quiet --assert "$budget" $strided --arg u32=1
done
for budget in "$ld.sum == 9" "$ld.sum >= 9" "$ld.sum < 8" "$ld.sum > 8" "$ld.sum != 8"; do
	status 1 ptxloom profile --quiet --assert "$budget" $strided --arg u32=1
done

# ---- reports ----

report=$scratch/report
status 0 ptxloom profile -o "$report" $strided --arg u32=8
says err "^==PROF== Report: $report\$"
status 2 ptxloom profile -o "$report" $strided --arg u32=8
says err 'exists; --force-overwrite \(-f\) writes it anew'
status 0 ptxloom profile -f -o "$report" $strided --arg u32=8
status 0 ptxloom profile --metrics $ld.sum -i "$report"
metric $ld.sum 64
ok "$([ "$(head -c 22 "$report")" = '{"ptxloom_profile": 1,' ]; echo $?)" "a report says what it is"
status 0 ptxloom profile -i "$report" -o "$scratch/again"
same "$report" "$scratch/again" "what is read is written again as it was"
cat "$report" "$report" >"$scratch/both"
status 0 ptxloom profile -i "$scratch/both" --csv --metrics $ld.sum
ok "$([ "$(grep -c '"64"$' "$scratch/out")" = 2 ]; echo $?)" "reports are put together by cat"
status 0 ptxloom profile -i "$report" --log-file "$scratch/log" --csv --metrics $ld.sum
is out ""
says log '^"ID"'

# Compared: what differs, and nothing else.
status 0 ptxloom profile -o "$scratch/near" $strided --arg u32=1
status 0 ptxloom profile --diff "$report" "$report"
is out "strided: launches 1 and 1
    no difference"
status 0 ptxloom profile --diff "$report" "$scratch/near"
says out "^    $ld.sum +64 +8 +-56 +-87.5%\$"
empty "$(grep smsp__inst "$scratch/out")" "instructions are the same"
status 0 ptxloom profile --metrics $st.sum --diff "$report" "$scratch/near"
empty "$(grep "$ld" "$scratch/out")" "a metric that was not asked for"
status 0 ptxloom profile -o "$scratch/other" $exec --kernel column --block 32
status 0 ptxloom profile --diff "$report" "$scratch/other"
ok "$([ "$(grep -c '^    only in one of the reports$' "$scratch/out")" = 2 ]; echo $?)" "kernels of one report"
status 0 ptxloom profile --exit-code --diff "$report" "$report"
status 1 ptxloom profile --exit-code --diff "$report" "$scratch/near"
status 1 ptxloom profile --exit-code --page html --log-file "$scratch/diff.html" --diff "$report" "$scratch/near"
# Of three kernels, the one that differs most comes first, and what does not differ last.
status 0 ptxloom profile -o "$scratch/less" $exec --kernel column --grid 2 --block 32
status 0 ptxloom profile -o "$scratch/same" ptxloom exec samples/saxpy.ptx -d h100 --grid 16 --block 256 \
	--arg u32=4096 --arg f32=2 --buffer "x:f32[4096]=iota" --buffer "y:f32[4096]=ones"
cat "$scratch/same" "$report" "$scratch/less" >"$scratch/before"
cat "$scratch/same" "$scratch/near" "$scratch/other" >"$scratch/after"
status 0 ptxloom profile --diff "$scratch/before" "$scratch/after"
order=$(grep ': launches' "$scratch/out" | sed 's/[:(].*//' | paste -sd' ')
ok "$([ "$order" = "strided column saxpy" ] || skipping; echo $?)" "kernels by how much they differ: $order"
status 0 ptxloom profile --diff-limit 1 --diff "$scratch/before" "$scratch/after"
says out '^2 of 3 kernels are left out, of which 1 differ: --diff-limit 0 shows all$'
ok "$([ "$(grep -c ': launches' "$scratch/out")" = 1 ] || skipping; echo $?)" "one of them"
status 0 ptxloom profile --diff-limit 3 --diff "$scratch/before" "$scratch/after"
empty "$(grep 'left out' "$scratch/out")" "none is left out"
refused 2 "--diff-limit" "a limit that is none" ptxloom profile --diff-limit x --diff "$report" "$report"
refused 2 "takes two reports" "one report" ptxloom profile --diff "$report"
refused 2 "No such file" "a report that there is not" ptxloom profile --diff "$report" "$scratch/none"
refused 2 "no program is started" "a program" ptxloom profile --diff "$report" "$report" true

# A document of JSON.
status 0 ptxloom profile --page json -i "$report"
says out "^    \"$ld.sum\": \{\"value\": 64, \"unit\": \"sector\", \"kind\": \"exact\"\}"
if command -v python3 >/dev/null; then
	says_json='import json, sys; d = json.load(sys.stdin); l = d["launches"][0]
print(l["kernel"], l["metrics"]["smsp__inst_executed.sum"]["value"], l["findings"][0]["rule"])'
	python3 -c "$says_json" <"$scratch/out" >"$scratch/got"
	is got "strided 32 UncoalescedGlobalAccess"
else
	skip "the document is JSON" "no python3"
fi

# Where nothing can be written is said before the program runs; a full disk afterwards.
for option in -o --log-file; do
	refused 2 "none/x: No such file" "$option into no folder" ptxloom profile $option "$scratch/none/x" \
		touch "$scratch/ran"
	ok "$([ ! -e "$scratch/ran" ]; echo $?)" "the program was not started"
done
if [ -c /dev/full ]; then
	for option in "-f -o" --log-file; do
		# shellcheck disable=SC2086
		refused 2 "/dev/full: No space left" "$option on a full disk" ptxloom profile $option /dev/full \
			$strided --arg u32=1
	done
else
	skip "a full disk" "no /dev/full"
fi

# Damaged ones: one line, whatever is missing.
size=$(wc -c <"$report")
for at in 1 30 200 $((size / 3)) $((size / 2)) $((size - 3)); do
	# Whole lines are a report of a process that was killed.
	[ "$(head -c "$at" "$report" | tail -c 2 | tr -d "}\n" | wc -c)" = 2 ] || at=$((at - 3))
	head -c "$at" "$report" >"$scratch/cut"
	refused 2 "cut:[0-9]*: " "a report of $at of its bytes" ptxloom profile -i "$scratch/cut"
	ok "$([ "$(wc -l <"$scratch/err")" = 1 ]; echo $?)" "one line about it"
done
sed 's/"rows": \[\[[0-9]*/"rows": [[99999/' "$report" >"$scratch/wrong"
refused 2 "the line is damaged" "a row of no instruction" ptxloom profile -i "$scratch/wrong"
: >"$scratch/empty"
refused 2 "the file is empty" "an empty report" ptxloom profile -i "$scratch/empty"
refused 2 "this is no report" "a file that is none" ptxloom profile -i tests/profile/counts.ptx
refused 2 "reports of Nsight Compute cannot be read" "a report of ncu" ptxloom profile -i a.ncu-rep
refused 2 "No such file" "no file" ptxloom profile -i "$scratch/none"

# ---- what there is not ----

status 0 ptxloom profile --metrics gpu__time_duration.sum,nonsense.sum,smsp__inst_executed.sum $strided --arg u32=1
says err '^==WARNING== gpu__time_duration.sum is a matter of time, which is not emulated$'
says err '^==WARNING== nonsense.sum is not counted; --query-metrics lists what is$'
metric gpu__time_duration.sum '\(!\) n/a'
metric smsp__inst_executed.sum 32
refused 2 "unknown option '--nonsense'" "an option that there is not" ptxloom profile --nonsense true
refused 2 "is a matter of time or of links" "a section of times" ptxloom profile --section SchedulerStats true
refused 2 "there is no section Nonsense" "a section that there is not" ptxloom profile --section Nonsense true
refused 2 "there is no machine code" "machine code" ptxloom profile --print-source sass true
refused 2 "is not METRIC OP NUMBER" "a budget that is none" ptxloom profile --assert 'a b' true
refused 2 "is not METRIC OP NUMBER" "a budget without a number" ptxloom profile --assert "$ld.sum == nan" true
refused 2 "is not METRIC OP NUMBER" "a budget at no line" ptxloom profile --assert 'barriers == 0 at k.cu' true
refused 2 "is not METRIC OP NUMBER" "a budget at line 0" ptxloom profile --assert 'barriers == 0 at k.cu:0' true
refused 2 "is not METRIC OP NUMBER" "a budget at a line that is none" \
	ptxloom profile --assert 'barriers == 0 at k.cu:99999999999999999999' true
refused 2 "dram__sectors_read.sum is not counted by line; these are: bank_conflicts, " "a budget of DRAM at a line" \
	ptxloom profile --assert 'dram__sectors_read.sum == 0 at k.cu:3' true
refused 2 "is a matter of time" "a budget of time" ptxloom profile --assert 'sm__cycles_active.avg < 3' true
refused 2 "is no regular expression" "an expression that is none" ptxloom profile -k 'regex:(' true
refused 2 "there is no value for '-k'" "no value" ptxloom profile -k
refused 2 "no program given" "no program" ptxloom profile --csv
refused 2 "is not CONTEXT:STREAM:KERNEL:INVOCATION" "an id that is none" ptxloom profile --kernel-id 1:2 true
status 127 ptxloom profile "$scratch/missing"
status 0 ptxloom profile true
is err "==WARNING== No kernels were profiled."
status 0 ptxloom profile --metrics $ld.max,smsp__inst_executde.sum $strided --arg u32=1
says err '^==WARNING== smsp__inst_executde.sum is not counted; did you mean smsp__inst_executed.sum\?$'
refused 2 "--replay-mode 'twice' is not one of kernel" "a way to replay" ptxloom profile --replay-mode twice true
for mode in range app-range; do
	refused 2 "--replay-mode $mode: launches are counted" "$mode" ptxloom profile --replay-mode $mode true
done
status 0 ptxloom profile --replay-mode application --import-source no true
is err "==WARNING== No kernels were profiled."
status 0 ptxloom profile --import-source yes true
says err "^==WARNING== --import-source has no effect: sources are read when they are shown"
succeeds "metrics are listed" ptxloom profile --query-metrics
for name in $ld.sum dram__sectors_read.sum smsp__inst_executed.sum; do
	says out "^$name +(sector|inst) +(exact|model)"
done
ok "$(awk 'NR > 1 { print $1 }' "$scratch/out" | LC_ALL=C sort -c; echo $?)" "in byte order"

# ---- the same, whatever runs ----

grid="$exec --kernel strided --grid 700 --block 64 --buffer in:u32[4096]=iota --buffer out:u32[4096] --arg u32=3"
same_way="ptxloom profile --csv --page raw --metrics regex:. $grid"
number='s/^"0","[0-9]*"/"0","N"/'
capture $same_way
sed "$number" "$scratch/out" >"$scratch/first"
ok "$([ -s "$scratch/first" ]; echo $?)" "there is a first"
for setting in PTXLOOM_WORKERS=1 PTXLOOM_WORKERS=2 PTXLOOM_WORKERS=4 PTXLOOM_SEED=5 PTXLOOM_HOST_ISA=base \
	PTXLOOM_DETERMINISTIC=1 "PTXLOOM_WORKERS=4 PTXLOOM_SEED=9"; do
	# shellcheck disable=SC2086
	env $setting $same_way 2>/dev/null | sed "$number" >"$scratch/then"
	same "$scratch/first" "$scratch/then" "the same with $setting"
done
finish
