# ptxloom profile on programs: filters of launches, streams and contexts, lines of the source, inlined code, exit
# statuses, programs that are killed, several processes, warm caches.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
needs_clang
app=$scratch/launches
succeeds "the program is built" ptxloom cc -lineinfo tests/profile/launches.cu -o "$app"
inst=smsp__inst_executed.sum

# profiled NAMES OPTIONS...: the kernels of the launches that are shown, in their order.
profiled()
{
	names=$1
	shift
	capture ptxloom profile --csv --metrics $inst "$@" "$app"
	got=$(sed -n 's/^"[0-9]*",.*"127.0.0.1","\([^"]*\)",.*"(\([0-9]*\), 1, 1)","0","[0-9.]*".*/\1 \2/p' \
		"$scratch/out" | sed 's/(.*)//; s/^void //; s/<[^>]*>//' | tr '\n' ',')
	[ "$got" = "$names" ] || skipping || echo "# got: $got"
	verdict "$([ "$got" = "$names" ]; echo $?)" "$* profiles $names"
}

profiled "row 4,apart 4,row 8,apart 2,"
profiled "row 4,row 8," -k row
profiled "row 8," -k row -s 1
profiled "apart 4," -k regex:^ap -c 1
profiled "row 8,apart 2," --launch-skip-before-match 2
profiled "row 4," --kernel-name-base mangled -k regex:^_Z3row -c 1
profiled "row 4,row 8," --kernel-name-base demangled -k "regex:^row\\("
profiled "row 8," --kernel-id ::row:2
profiled "row 4,row 8," --kernel-id 1:7:regex:.:
profiled "apart 2," --kernel-id :8:apart:2
profiled "" --kernel-id :9:apart:1
profiled "row 4,apart 4,row 8,apart 2," --devices 0
profiled "" --devices 1

status 0 ptxloom profile --metrics $inst "$app"
says out '^done 0$'
says out '^\[[0-9]+\] launches@127.0.0.1$'
says out '^  row\(const float \*, float \*\) \(4, 1, 1\)x\(64, 1, 1\), Context 1, Stream 7, Device 0, CC [0-9.]+$'
says out 'apart<.*Stream 8, Device 0'
status 5 ptxloom profile --metrics $inst "$app" 5
says out '^    smsp__inst_executed.sum'

# What has ended is shown when the program is killed.
capture ptxloom profile --metrics $inst "$app" k
verdict "$([ $? -eq 137 ]; echo $?)" "it dies of the signal that the program died of"
says err '==WARNING== process [0-9]+ \(launches\) did not end by itself'
ok "$([ "$(grep -c '^    smsp__inst_executed.sum' "$scratch/out")" = 2 ] || skipping; echo $?)" "two launches had ended"

# Children are profiled, too, each under its own number.
# shellcheck disable=SC2016
status 0 ptxloom profile --metrics $inst sh -c '"$0"; "$0"' "$app"
ok "$([ "$(grep -c '@127.0.0.1' "$scratch/out")" = 2 ] || skipping; echo $?)" "two processes"

# Inlined code counts for the user's line.
status 0 ptxloom profile -k row -c 1 --page source --print-source cuda --csv "$app"
says out '^"File Path",".*launches.cu"$'
says out '^"17","out\[i\] = scaled\(in, i\) \+ __ldg\(in \+ i\); /\* of a header \*/","[1-9]'
says out '^"10","return p\[i\] \* 2;","[1-9]'
ok "$([ "$(grep -c '^"File Path"' "$scratch/out")" = 1 ] || skipping; echo $?)" "no line of a header of the toolkit"
status 0 ptxloom profile -k apart -c 1 --section SourceCounters "$app"
says out 'Most of them: .*launches.cu:24 \('

# Lines in JSON, and compared.
status 0 ptxloom profile -k row -c 1 --page json "$app"
says out '^    \{"line": 17, "file": ".*launches.cu", "inst": [1-9]'
status 0 ptxloom profile -k row -c 1 -o "$scratch/one" "$app"
status 0 ptxloom profile -k row -o "$scratch/two" "$app"
status 0 ptxloom profile --diff "$scratch/one" "$scratch/two"
says out '^row\(const float \*, float \*\): launches 1 and 2$'
says out '^    launches.cu:17 Instructions Executed +[1-9]'

# Caches stay: the second launch finds what the first has read.
dram=dram__sectors_read.sum
status 0 ptxloom profile -k row --csv --metrics $dram --cache-control none "$app"
says out "\"\\(4, 1, 1\\)\",.*\"$dram\",\"sector\",\"[1-9]"
cold=$(ptxloom profile -k row -s 1 --csv --metrics $dram "$app" | sed -n 's/.*"sector","\([0-9]*\)"$/\1/p')
warm=$(ptxloom profile --cache-control none --csv --metrics $dram "$app" |
	sed -n 's/.*"row.*"(8, 1, 1)".*"sector","\([0-9]*\)"$/\1/p')
ok "$([ "${warm:-9}" -lt "${cold:-0}" ] || skipping; echo $?)" "$warm sectors of DRAM with warm caches, $cold without"

# A budget in a program.
sectors=l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
status 1 ptxloom profile --quiet --assert "$sectors <= 128" --kernel apart "$app"
ok "$([ "$(grep -c '^ptxloom profile: budget: ' "$scratch/err")" = 1 ] || skipping; echo $?)" "one of two breaks it"

# A trace: calls, launches and copies, and what belongs together; slices of one thread nest.
read_trace='import json, sys; e = json.load(sys.stdin)["traceEvents"]
x = [v for v in e if v["ph"] == "X"]
print([v["name"].split("(")[0].split("<")[0].split()[-1] for v in x if v["cat"] != "call"])
print(sum(v["name"] == "cudaMalloc" for v in x), sorted({v["tid"] for v in x if v["cat"] == "kernel"}))
starts = {v["id"] for v in e if v["ph"] == "s"}
print(len(starts), starts == {v["id"] for v in e if v["ph"] == "f"})
t = {(v["pid"], v["tid"]): [] for v in x}
for v in x: t[v["pid"], v["tid"]].append((v["ts"], v["ts"] + v["dur"]))
print(all(b[0] >= a[1] - 0.01 for l in t.values() for a, b in zip(sorted(l), sorted(l)[1:])))
# What the format wants of each phase.
wants = {"M": {"args"}, "X": {"cat", "ts", "dur", "args"}, "s": {"cat", "id", "ts"}, "f": {"cat", "id", "ts", "bp"},
	"C": {"ts", "args"}}
print(all({"name", "pid", "tid", *wants[v["ph"]]} <= v.keys() and
	all(type(v.get(k, 0)) in (int, float) and v.get(k, 0) >= 0 for k in ("ts", "dur", "pid", "tid")) for v in e))
c = [v for v in e if v["ph"] == "C"]
print(max(v["args"]["kernels"] for v in c) > 0, min(n for v in c for n in v["args"].values()), c[-1]["args"])'
if command -v python3 >/dev/null; then
	for clock in time order; do
		status 0 env PTXLOOM_DETERMINISTIC=1 ptxloom profile --page trace --trace-clock $clock --log-file \
			"$scratch/trace" "$app"
		skipping || python3 -c "$read_trace" <"$scratch/trace" >"$scratch/got"
		is got "['cudaMemset', 'row', 'apart', 'row', 'apart']
2 [7, 8]
5 True
True
True
True 0 {'kernels': 0, 'other work': 0}"
	done
	status 0 ptxloom profile --trace -o "$scratch/traced" "$app"
	status 0 ptxloom profile -i "$scratch/traced" -o "$scratch/again"
	same "$scratch/traced" "$scratch/again" "a report with a trace is written again as it was"
else
	skip "traces" "no python3"
fi
status 0 ptxloom profile -i "$scratch/one" --page trace
is err "==WARNING== There is no trace: programs that \`ptxloom profile --trace\` has run have one."
finish
