# ptxloom devices: the table, the fields of a profile, JSON, user profiles, errors and exit statuses.
# `sh tests/golden/devices.sh --update` rewrites the expected outputs; review the difference.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

status 0 ptxloom devices
golden "${1:-}" out tests/golden/devices.out "devices.out"
status 0 ptxloom devices --json
golden "${1:-}" out tests/golden/devices_list.json "devices_list.json"

# Every profile: each field has a line with a value and a source, or says that it is unknown.
fields=$(grep -c '^ARCH_FIELD(' src/arch/fields.def)
for name in gp100 gp104 gv100 tu102 tu104 ga100 ga102 h100 gh100 gb202; do
	ptxloom devices "$name" >"$scratch/out"
	shown=$(grep -c '^  ' "$scratch/out")
	ok "$([ "$shown" -eq "$fields" ]; echo $?)" "$name: $shown of $fields fields"
	empty "$(grep '^  ' "$scratch/out" | awk '$2 == "" || ($2 != "unknown" && NF < 3)')" \
		"$name: values have sources"
	ptxloom devices --json "$name" >"$scratch/json"
	unknown=$(grep -cE '^  [a-z0-9_]+ +unknown$' "$scratch/out")
	null=$(grep -c '{"value": null, "unit": "[^"]*", "source": null}' "$scratch/json")
	all=$(grep -c '^  "[a-z0-9_]*": {"value": .*, "unit": ".*", "source": .*}' "$scratch/json")
	ok "$([ "$unknown" -eq "$null" ] && [ "$all" -eq "$fields" ]; echo $?)" \
		"$name: JSON has the same $unknown unknown fields"
done
if command -v python3 >/dev/null; then
	ptxloom devices --json h200 | python3 -c '
import json, sys
[a] = json.load(sys.stdin)
f = a["fields"]
assert a["id"] == "gh100" and a["parent"] == "base"
assert f["sms"] == {"value": 132, "unit": "SMs", "source": "measured on an H200"}
assert f["smem_carveouts_kib"]["value"][-1] == 228 and f["mma_tf32_shapes"]["value"] == ["m16n8k4", "m16n8k8"]
assert f["has_its"]["value"] is True and f["fma_latency_cycles"] == {"value": None, "unit": "cycles", "source": None}'
	ok $? "JSON of one profile"
	ptxloom devices --json | python3 -c '
import json, sys
a = json.load(sys.stdin)
assert [d["id"] for d in a] == ["gp100", "gp104", "gv100", "tu102", "tu104", "ga100", "ga102", "h100", "gh100", "gb202"]
assert a[0]["has_its"] is False and a[2]["has_its"] is True and a[5]["aliases"] == ["a100"]'
	ok $? "JSON of the list"
else
	skip "JSON is well-formed" "no python3"
fi

status 0 ptxloom devices V100
says out '^gv100 \(inherits base\)$'
says out '^  smem_carveouts_kib +0 8 16 32 64 96 KiB +Volta tuning guide, "1.4.3 '
says out '^  printf_fifo_default_bytes +unknown$'
status 0 ptxloom devices ./tests/golden/mygpu.profile
says out '^mygpu \(inherits ga100\)$'
says out '^  sms +54 SMs +half of 108$'
says out '^  memory_bytes +21474836480 bytes +\./tests/golden/mygpu\.profile:5$'
says out '^  l2_bytes +unknown$'
says out '^  warps_per_sm_max +64 warps +Ampere tuning guide, "4.1.1 Occupancy"$'
status 0 ptxloom devices tests/golden/mygpu.profile --json

echo 'sms = many' >"$scratch/bad.profile"
status 1 ptxloom devices "$scratch/bad.profile"
says err 'bad.profile:1:7: error: sms needs a whole number$'
ok "$([ ! -s "$scratch/out" ]; echo $?)" "nothing on standard output"
status 2 ptxloom devices "$scratch/none.profile"
says err 'none.profile: No such file or directory$'
status 2 ptxloom devices ./
status 2 ptxloom devices b300
says err "no device 'b300'"
status 2 ptxloom devices a100 v100
status 2 ptxloom devices --frobnicate
status 0 ptxloom devices --help
says out '^usage: ptxloom devices \[NAME\] \[--json \| --ctest-resources\]$'
if [ -e /dev/full ]; then
	ptxloom devices >/dev/full 2>"$scratch/err"
	ok "$([ $? -eq 2 ]; echo $?)" "a full disk is reported"
	says err 'No space left on device'
	ptxloom devices a100 >/dev/full 2>/dev/null
	ok "$([ $? -eq 2 ]; echo $?)" "a full disk is reported for one profile"
fi

# A profile names each field once; inheritance is no excuse for repeating oneself.
empty "$(for file in src/arch/*.def; do
	grep -oE '^(FIELD|UNKNOWN)\([a-z0-9_]+' "$file" | sed 's/.*(//' | sort | uniq -d | sed "s,^,$file: ,"
done)" "no profile sets a field twice"
# Only src/arch compares compute capabilities.
empty "$(grep -rnE '([^a-z_](a|arch|profile)->sm|cc_m(aj|in)or) *[<>=!]=? *[0-9]' src grammar runtime 2>/dev/null |
	grep -v '^src/arch/')" "no code outside src/arch compares compute capabilities"
# ---- resources of CTest ----

status 0 ptxloom devices --ctest-resources 2xh100,t4
is out '{"version": {"major": 1, "minor": 0},
 "local": [{"gpus": [
  {"id": "0", "slots": 100},
  {"id": "1", "slots": 100},
  {"id": "2", "slots": 100}
]}]}'
status 0 env PTXLOOM_DEVICE=2xt4 ptxloom devices --ctest-resources
[ "$(grep -c slots "$scratch/out")" -eq 2 ]
ok $? "PTXLOOM_DEVICE names them"
status 2 ptxloom devices --ctest-resources h1000
says err "h1000" "a device that is not there is named"
status 2 ptxloom devices --ctest-resources --json
finish
