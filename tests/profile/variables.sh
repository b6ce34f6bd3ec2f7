# What launches ask of each variable and allocation.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
needs_clang
app=$scratch/variables
file=tests/profile/variables.cu
succeeds "the program is built" ptxloom cc -g $file -o "$app"
line_of() { grep -n "cudaMalloc(&$1," $file | cut -d: -f1; }

# The table: 1024 threads read a word each, of `table` twice: 128 sectors, of which the second reads hit.
status 0 ptxloom profile -d h200 --variables --section LaunchStats -o "$scratch/report" "$app"
status 0 ptxloom profile -i "$scratch/report" --section LaunchStats
says out '^    Section: Variables$'
says out "^    allocation [0-9], main in .*$file:$(line_of in) +4096 +128 +0 +128 +128 +128 +128\$"
says out "^    allocation [0-9], main in .*$file:$(line_of out) +8192 +128 +0 +128 +128 +0 +0\$"
says out '^    table +4096 +256 +128 +128 +128 +128 +128$'
says out '^    local memory +0 +'
# Of each variable in shared memory: 32 warps store a row, and read a column.
says out '^    turn.*::padded +4224 +64 +64 +0$'
says out '^    turn.*::tile +4096 +64 +1,?056 +992$'
says out '^    dynamic shared memory +4096 +64 +64 +0$'
empty "$(grep ":$(line_of unused) " "$scratch/out")" "what was not accessed is left out"

if command -v python3 >/dev/null; then
	status 0 ptxloom profile -i "$scratch/report" --page json
	cp "$scratch/out" "$scratch/document"
	python3 tests/profile/schema.py --closed docs/profile.schema.json "$scratch/document" >"$scratch/wrong" 2>&1
	empty "$(cat "$scratch/wrong")" "the document follows the schema"
	python3 - "$scratch/document" >"$scratch/sums" <<'END'
import json, sys
launch = json.load(open(sys.argv[1]))["launches"][0]
kinds = ("global_op_ld", "global_op_st", "local_op_ld", "local_op_st")
total = sum(launch["metrics"][f"l1tex__t_sectors_pipe_lsu_mem_{k}.sum"]["value"] for k in kinds)
print(total == sum(v["sectors"] for v in launch["variables"]))
shared = json.load(open(sys.argv[1]))["launches"][1]
name = "memory_l1_wavefronts_shared"
print(shared["metrics"][name]["value"] == sum(v["wavefronts"] for v in shared["shared_variables"]))
print(all(v["sectors"] == v["l1_hit"] + v["l1_miss"] for v in launch["variables"]))
END
	printf 'True\nTrue\nTrue\n' >"$scratch/want"
	same "$scratch/want" "$scratch/sums" "the sums are those of the launch"
else
	skip "the document follows the schema" "no python3"
fi
status 0 ptxloom profile -i "$scratch/report" --page html
says out '"variables": \[\["'
says out '"shared": \[\["'
status 0 ptxloom profile -d h200 -o "$scratch/plain" "$app"
empty "$(grep -E '"(variables|shared)": ' "$scratch/plain")" "without the option nothing is counted"
status 2 ptxloom profile --variables --cache-control off true
status 2 ptxloom profile --variables --import "$scratch/plain"
finish
