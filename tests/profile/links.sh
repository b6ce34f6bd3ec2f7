# Bytes between devices, and between them and the host: of accesses, and of copies.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
needs_clang
app=$scratch/links
succeeds "the program is built" ptxloom cc tests/profile/links.cu -o "$app"

# 4096 words are read of the other device, 2048 written there, and 4096 read of the host.
status 0 ptxloom profile -d 2xh200 --section LaunchStats -o "$scratch/report" "$app"
status 0 ptxloom profile -i "$scratch/report" --section LaunchStats
grep -A1 'Memory Of' "$scratch/out" | grep -E 'Device|Host' | tr -s ' ' >"$scratch/accesses"
same - "$scratch/accesses" "accesses, launch by launch" <<'END'
 Device 1 NVLink 16384 0
 Device 1 NVLink 0 8192
 Host PCIe 16384 0
END
grep -A3 'Copies Between Devices' "$scratch/out" | tail -2 | tr -s ' ' >"$scratch/copies"
same - "$scratch/copies" "copies between devices" <<'END'
 Device 0 Device 1 NVLink 1 16384
 Device 1 Device 0 NVLink 1 1024
END
status 0 ptxloom profile -i "$scratch/report" --section LaunchStats --csv
says out '"Links","Device 1 NVLink Bytes Read","byte","16,384",$'
says out '"Links","Device 1 NVLink Bytes Written","byte","8,192",$'
status 0 ptxloom profile -i "$scratch/report" --page html
says out '"links": \[\[1, "NVLink", 16384, 0\]\]'
says out '"copies": \[.*\[-1, 0, "PCIe", 1, 16384\]'
status 0 ptxloom profile -i "$scratch/report" --page json
cp "$scratch/out" "$scratch/document"
says out '"device": 1, "link": "NVLink", "read_bytes": 16384, "written_bytes": 0'
says out '"from": null, "to": 0, "link": "PCIe", "copies": 1, "bytes": 16384'
if command -v python3 >/dev/null; then
	python3 tests/profile/schema.py --closed docs/profile.schema.json "$scratch/document" >"$scratch/wrong" 2>&1
	empty "$(cat "$scratch/wrong")" "the document follows the schema"
else
	skip "the document follows the schema" "no python3"
fi

# Launches that are kept for the program have counts of links, too.
status 0 env PTXLOOM_COUNTERS=caches ptxloom run -d 2xh200 "$app"

# Boards without NVLink.
status 0 ptxloom profile -d 2xt4 --section LaunchStats --csv "$app"
says out '"Links","Device 1 PCIe Bytes Read","byte","16,384",$'

# Reports that are damaged there.
sed 's/"links": \[\[1, "NVLink"/"links": [[[], "NVLink"/' "$scratch/report" >"$scratch/damaged"
status 2 ptxloom profile -i "$scratch/damaged"
says err 'damaged'
sed 's/"copies": \[\[/"copies": [[[],/' "$scratch/report" >"$scratch/damaged"
status 2 ptxloom profile -i "$scratch/damaged"
says err 'damaged'
finish
