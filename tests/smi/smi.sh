# ptxloom smi: the layouts that parsers of nvidia-smi's output know; nvidia-smi below ptxloom run.
. "${srcdir:-.}/tests/tap.sh"
cd "$scratch" || exit 1
# Devices of this test alone: what other programs use of theirs is not seen.
for device in h100 t4; do
	echo "inherit = $device" >smi-$$-$device.profile
done
export PTXLOOM_DEVICE=2xsmi-$$-h100.profile,smi-$$-t4.profile

# equal FOUND WANTED DESCRIPTION
equal()
{
	[ "$1" = "$2" ] || printf '# found: %s\n# wanted: %s\n' "$1" "$2"
	ok "$([ "$1" = "$2" ]; echo $?)" "$3"
}

# ---- the table ----

succeeds "the table" ptxloom smi
says out '^\| NVIDIA-SMI [0-9.]+ +Driver Version: [0-9.]+ +CUDA Version: 13\.0 +\|$' "versions, as torch reads them"
says out '^\|   0  NVIDIA H100 80GB HBM3          On  \|   00000000:01:00\.0 Off \|                    0 \|$' "a device"
says out '^\| N/A   N/A    P0  .* / +700W \|       0MiB /  81559MiB \|      0%      Default \|$' "what it has"
says out 'No running processes found' "no processes"
empty "$(awk 'length($0) != 91 && NR > 1 && $0 != ""' out)" "all lines are as wide as nvidia-smi's"
succeeds "-i" ptxloom smi -i 2
says out 'Tesla T4' "one device"
empty "$(grep H100 out)" "alone"
succeeds "-L" ptxloom smi -L
says out '^GPU 2: Tesla T4 \(UUID: GPU-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\)$' "a list"
uuid=$(sed -n '2s/.*UUID: \(.*\))/\1/p' out)
succeeds "--id of a UUID" ptxloom smi --id="$uuid" --query-gpu=index --format=csv,noheader
equal "$(cat out)" 1 "its number"
succeeds "and of an address" ptxloom smi -i 0000:03:00.0 --query-gpu=index --format=csv,noheader
equal "$(cat out)" 2 "its number"
ends 6 "a device that is not there" ptxloom smi -i 7
says out '^No devices were found$' "nvidia-smi's message"

# ---- fields ----

fields=gpu_name,memory.total,compute_cap,temperature.gpu,clocks.max.sm,power.limit
succeeds "--query-gpu" ptxloom smi --query-gpu=$fields --format=csv
equal "$(head -n 1 out)" \
	"name, memory.total [MiB], compute_cap, temperature.gpu, clocks.max.sm [MHz], power.limit [W]" "titles"
equal "$(tail -n 1 out)" "Tesla T4, 15360 MiB, 7.5, [N/A], 1590 MHz, 70.00 W" "values"
succeeds "noheader, nounits" ptxloom smi "--query-gpu=index, memory.free" "--format=csv, noheader,nounits" -i 0
equal "$(cat out)" "0, 81089" "values alone"
ends 2 "an unknown field" ptxloom smi --query-gpu=name,nothing --format=csv
equal "$(head -n 1 out)" 'Field "nothing" is not a valid field to query.' "nvidia-smi's message"
ends 2 "an unknown format" ptxloom smi --query-gpu=name --format=json
says out '^Format "json" is not' "says so"
ends 2 "no format" ptxloom smi --query-gpu=name
succeeds "--help-query-gpu" ptxloom smi --help-query-gpu
says out '^"clocks.max.memory" or "clocks.max.mem"$' "fields have other names"
fields=$(sed -n 's/^"\([^"]*\)".*/\1/p' out | tr '\n' ',')
succeeds "all fields at once" ptxloom smi --query-gpu="${fields%,}" --format=csv,noheader
equal "$(wc -l <out)" 3 "one line each"

# ---- -q ----

succeeds "-q" ptxloom smi -q
says out '^    Product Name                          : NVIDIA H100 80GB HBM3$' "a name"
says out '^Attached GPUs                             : 3$' "how many"
says out '^        Total                             : 81559 MiB$' "memory"
succeeds "-d" ptxloom smi -q -d MEMORY,compute -i 0
equal "$(grep -c '^  .* : ' out)" 5 "two sections"
ends 2 "an unknown section" ptxloom smi -q -d NOTHING
succeeds "-x" ptxloom smi -q -x
if command -v python3 >/dev/null; then
	python3 - out <<'END' >got
import sys, xml.etree.ElementTree as tree
log = tree.parse(sys.argv[1]).getroot()
g = log.findall("gpu")
print(log.find("attached_gpus").text, g[2].get("id"), g[2].find("fb_memory_usage/total").text,
    g[0].find("pci/pci_gpu_link_info/pcie_gen/max_link_gen").text)
END
	equal "$(cat got)" "3 00000000:03:00.0 15360 MiB 5" "XML as parsers read it"
else
	skip "XML as parsers read it" "no python3"
fi
succeeds "topo -m" ptxloom smi topo -m
says out '^GPU0	 X 	NV18	PHB	' "links and the host bridge"

# ---- what is not supported, and wrong ----

ends 3 "a setting" ptxloom smi -pm 1
says out 'not supported' "says so"
ends 2 "an unknown option" ptxloom smi --nothing
ends 2 "a subcommand" ptxloom smi dmon
ends 2 "a value that is missing" ptxloom smi -i
ends 2 "a time that is none" ptxloom smi -l x
refused 2 'need -q' "an element without -q" ptxloom smi -x
refused 2 'is for --query-gpu' "a format of nothing" ptxloom smi --format=csv
ends 2 "a wrong device" env PTXLOOM_DEVICE=nothing ptxloom smi
succeeds "-f" ptxloom smi -L -f list
equal "$(wc -l <list)" 3 "prints to a file"
ends 2 "-f and an unknown field" ptxloom smi --query-gpu=nothing --format=csv -f list
equal "$(wc -l <list)" 3 "leaves the file as it was"
refused 2 'none/list: cannot be written' "a folder that is not there" ptxloom smi -L -f none/list
if [ -e /dev/full ]; then
	refused 2 '/dev/full: cannot be written' "a full disk" ptxloom smi -L -f /dev/full
else
	skip "a full disk" "no /dev/full"
fi

# ---- processes ----

# tests/smi/hold.c has memory of the second device while it runs; its name is longer than the column.
mkfifo input
"$bin/tests/smi/hold" <input >state 2>&1 &
held=$!
exec 9>input
for i in $(seq 200); do
	grep -q ready state && break
	sleep .05
done
succeeds "--query-compute-apps" ptxloom smi --query-compute-apps=pid,gpu_name,used_memory,name \
	--format=csv,noheader
says out "^$held, NVIDIA H100 80GB HBM3, 6[4-9] MiB, .*hold" "a process, its device, memory and program"
succeeds "without units" ptxloom smi --query-compute-apps=gpu_uuid,used_gpu_memory --format=csv,nounits -i 1
equal "$(sed 's/^GPU[^,]*, //; s/^6[4-9]$/64/' out | tr '\n' ';')" "gpu_uuid, used_gpu_memory [MiB];64;" \
	"of one device"
succeeds "a device that is not used" ptxloom smi --query-compute-apps=pid --format=csv,noheader -i 0
empty "$(cat out)" "has none"
succeeds "the table" ptxloom smi
says out "^\|    1   N/A  N/A +$held +C   .*hold +6[4-9]MiB \|$" "its row"
empty "$(awk 'length($0) != 91 && NR > 1 && $0 != ""' out)" "of the table's width"
succeeds "memory that is used" ptxloom smi --query-gpu=memory.used --format=csv,noheader,nounits
equal "$(tr '\n' ';' <out | sed 's/6[4-9]/64/')" "0;64;0;" "of that device only"
succeeds "-q -d PIDS" ptxloom smi -q -d PIDS
says out "Process ID +: $held" "its number"
ends 2 "an unknown field of processes" ptxloom smi --query-compute-apps=pid,nothing --format=csv
exec 9>&-
wait "$held"
succeeds "after its end" ptxloom smi --query-compute-apps=pid --format=csv,noheader
empty "$(grep -x "$held" out)" "it is gone"

# ---- below ptxloom run ----

succeeds "nvidia-smi below run" ptxloom run -d t4 sh -c 'nvidia-smi -L'
says out '^GPU 0: Tesla T4' "is ours"
succeeds "memory is limited" ptxloom run -d t4 --memory 64M nvidia-smi --query-gpu=memory.total --format=csv,noheader
equal "$(cat out)" "64 MiB" "for both"
succeeds "a program finds others without PATH" env -u PATH "$bin/ptxloom" run ls /
succeeds "in env, too" sh -c 'eval "$(ptxloom env -d v100)"; nvidia-smi -L'
says out '^GPU 0: Tesla V100' "is ours"
finish
