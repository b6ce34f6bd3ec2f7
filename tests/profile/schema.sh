# Documents of --page json are as docs/profile.schema.json says, and what is wrong in one is found.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
if ! command -v python3 >/dev/null; then
	skip "documents follow the schema" "no python3"
	finish
	exit
fi
schema=docs/profile.schema.json

# follows NAME: the document in the last output has nothing that the schema does not have.
follows()
{
	cp "$scratch/out" "$scratch/document"
	python3 tests/profile/schema.py --closed $schema "$scratch/document" >"$scratch/wrong" 2>&1
	sed 's/^/# /' "$scratch/wrong"
	ok "$([ ! -s "$scratch/wrong" ]; echo $?)" "$1"
}

exec="ptxloom exec tests/profile/counts.ptx -d h100"
strided="$exec --kernel strided --grid 1 --block 64 --buffer in:u32[4096]=iota --buffer out:u32[4096] --arg u32=8"
report=$scratch/report
status 0 ptxloom profile -o "$report" $strided
status 0 ptxloom profile -i "$report" --page json
follows "all metrics of a launch"
cp "$scratch/document" "$scratch/whole"
status 0 ptxloom profile -i "$report" --page json --metrics gpu__time_duration.sum,smsp__inst_executed.sum
follows "metrics that were asked for, one of which there is not"
status 0 ptxloom profile --page json --cache-control off --log-file "$scratch/log" $strided
cp "$scratch/log" "$scratch/out"
follows "without the caches"
if command -v clang >/dev/null && ptxloom cc tests/profile/ranges.cu -o "$scratch/ranges" 2>/dev/null; then
	status 0 ptxloom profile --nvtx --page json --log-file "$scratch/log" "$scratch/ranges"
	cp "$scratch/log" "$scratch/out"
	follows "ranges, lines of a source"
else
	skip "ranges, lines of a source" "no program was built"
fi

# broken NAME MESSAGE CHANGE: a document that is changed by this statement of Python is found wrong.
broken()
{
	python3 -c "
import json, sys
d = json.load(open(sys.argv[1]))
l = d['launches'][0]
m = l['metrics']['smsp__inst_executed.sum']
$3
json.dump(d, open(sys.argv[2], 'w'))" "$scratch/whole" "$scratch/changed"
	python3 tests/profile/schema.py --closed $schema "$scratch/changed" >"$scratch/wrong" 2>&1
	ok "$(grep -qF "$2" "$scratch/wrong"; echo $?)" "$1 is found: $(head -1 "$scratch/wrong")"
}

broken "another version" '$.version: is not 1' 'd["version"] = 2'
broken "a version that is no number" '$.version: is not 1' 'd["version"] = True'
broken "a member that is missing" '$.launches[0]: has no stream' 'del l["stream"]'
broken "a text for a number" '$.launches[0].metrics.smsp__inst_executed.sum.value: is no number or null' \
	'm["value"] = "12"'
broken "a kind that there is not" "smsp__inst_executed.sum.kind: is none of" 'm["kind"] = "guess"'
broken "two sizes" '$.launches[0].grid: has 2 items' 'l["grid"].pop()'
broken "a number below 0" '$.launches[0].id: is below 0' 'l["id"] = -1'
broken "half a launch" '$.launches[0].id: is no integer' 'l["id"] = 0.5'
broken "a count of a line that is 0" '$.launches[0].lines[0].inst: is below 1' \
	'l["lines"].append({}); l["lines"][0] = {"file": "a", "line": 1, "inst": 0}'
broken "a member that the schema has not" '$.launches[0]: the schema has no cycles' 'l["cycles"] = 1'
finish
