# Managed memory: what moves between the host and a device, as an H200 counted it.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
needs_clang
app=$scratch/managed
succeeds "the program is built" ptxloom cc tests/profile/managed.cu -o "$app"
[ -r /proc/self/pagemap ] || skip_rest "this host does not tell what a process has touched"

# numbers: of what a profile has printed, as columns of managed.tsv.
numbers()
{
	awk '
		/^  Managed Memory, process/ { on = 1 }
		!on { next }
		$1 == "Host" && $2 == "Device" { htod = $4; htod_bytes = $5 }
		$1 == "Device" && $3 == "Host" { dtoh = $4; dtoh_bytes = $5 }
		$1 == "Host" && NF == 5 && $2 != "Device" { host = $2 }
		$1 == "Device" && NF == 6 { device = $3; remote = $5 }
		END { print htod + 0, htod_bytes + 0, dtoh + 0, dtoh_bytes + 0, host + 0, device + 0, remote + 0 }
	' "$scratch/out"
}

# What a GPU does at the same time is counted by the moment there: pieces that come to it and its faults are compared
# where one thread makes them. Small allocations share pages there, and the order of what the host touches between two
# launches is not known here.
while read -r case kib want; do
	[ "$case" != case ] || continue
	capture ptxloom profile -d h200 --section ManagedMemory "$app" "$case" "$kib"
	echo "$case $kib $(numbers)" >>"$scratch/got"
	echo "$case $kib $want" >>"$scratch/want"
done <tests/counters/managed.tsv
compared()
{
	awk '
		$1 == "two_small" || ($1 == "down" && $2 == 64) || $1 == "variable" { next }
		$1 != "strided_walk" { $3 = $8 = "-" }
		{ print $1, $2, $3, $4, $5, $6, $7, $8, $9 }' "$1"
}
compared "$scratch/want" >"$scratch/want.columns"
compared "$scratch/got" >"$scratch/got.columns"
same "$scratch/want.columns" "$scratch/got.columns" "bytes, pieces that go back, faults of the host"
ok "$([ "$(wc -l <"$scratch/got.columns")" -gt 55 ]; echo $?)" "of all cases"

# The same for any number of workers, in the order of a stable run, beside checks; the program's results stay.
for way in PTXLOOM_WORKERS=1 PTXLOOM_WORKERS=4 PTXLOOM_STABLE=1 PTXLOOM_CHECK=mem,race PTXLOOM_PROFILE_VARIABLES=1; do
	capture env "$way" ptxloom profile -d h200 --section ManagedMemory "$app" mostly_read 64
	echo "$(numbers)" >"$scratch/numbers"
	grep '^mostly_read 64 ' "$scratch/got" | cut -d' ' -f3- >"$scratch/expected"
	same "$scratch/expected" "$scratch/numbers" "with $way"
done

capture ptxloom profile -d h200 --cache-control none --section ManagedMemory "$app" mostly_read 64
echo "$(numbers)" >"$scratch/numbers"
same "$scratch/expected" "$scratch/numbers" "with what launches leave in the caches"

# Memory that a system call fills; two devices: what the rules give, not measured.
status 0 ptxloom profile -d h200 --section ManagedMemory "$app" from_file 4096
numbers >"$scratch/numbers"
is numbers "48 8388608 24 4194304 24 24 0"
ok "$(! grep -q failed "$scratch/out"; echo $?)" "it is filled"
status 0 ptxloom profile -d 2xh200 --section ManagedMemory "$app" by_turns 4096
grep '^  Device [01]  *[DH]' "$scratch/out" | tr -s ' ' >"$scratch/moved"
same - "$scratch/moved" "pages go from device to device" <<'END'
 Device 1 Device 0 24 4194304
 Device 0 Device 1 48 8388608
 Device 1 Host 24 4194304
END

# Of each launch; metrics and budgets; launches that are not profiled have unknown accesses.
status 0 ptxloom profile -d h200 --csv --page raw --metrics ptx__managed_bytes_host_to_device,ptx__managed_page_faults \
	"$app" whole 1028
says out '"2,097,152","6"$'
says out '"0","0"$'
status 0 ptxloom profile -d h200 --assert 'ptx__managed_bytes_host_to_device <= 2097152' "$app" whole 1028
status 1 ptxloom profile -d h200 --assert 'ptx__managed_page_faults == 0' "$app" whole 1028
status 0 ptxloom profile -d h200 --section ManagedMemory --launch-skip 1 "$app" whole 1028
says out 'Managed Memory, process'
status 0 ptxloom profile -d h200 --section ManagedMemory --cache-control off "$app" whole 4
ok "$(! grep -q 'Managed Memory' "$scratch/out"; echo $?)" "nothing is said without the model of the caches"

status 0 ptxloom profile -d h200 --print-summary per-kernel "$app" whole 4
says out 'Section: Managed Memory'
status 0 ptxloom profile -d h200 --print-summary per-kernel ptxloom exec samples/saxpy.ptx --grid 16 --block 256 \
	--arg u32=4096 --arg f32=2 --buffer x:f32[4096]=iota --buffer y:f32[4096]=ones
ok "$(! grep -q 'Managed Memory' "$scratch/out"; echo $?)" "nothing is said of programs that have none"

# Reports that are read again, documents, damage.
status 0 ptxloom profile -d h200 -o "$scratch/report" "$app" host_preferred 64
status 0 ptxloom profile -i "$scratch/report" --page json
cp "$scratch/out" "$scratch/document"
says out '"of": 0, "page_faults": 64, "populated_bytes": 0, "remote_bytes": 262144, "thrashing_bytes": 0'
if command -v python3 >/dev/null; then
	python3 tests/profile/schema.py --closed docs/profile.schema.json "$scratch/document" >"$scratch/wrong" 2>&1
	empty "$(cat "$scratch/wrong")" "the document follows the schema"
else
	skip "the document follows the schema" "no python3"
fi
sed 's/"residences": \[\[/"residences": [[[],/' "$scratch/report" >"$scratch/damaged"
status 2 ptxloom profile -i "$scratch/damaged"
says err 'damaged'
finish
