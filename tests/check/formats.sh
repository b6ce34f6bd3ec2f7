# Findings as data, options about them, and compute-sanitizer's command line.
. "${srcdir:-.}/tests/tap.sh"
ptx=race.ptx
cp "$srcdir/tests/check/race.ptx" "$srcdir/tests/check/race.cu" "$scratch"
cd "$scratch" || exit 1

# check OPTION...: a kernel with a race, and what is written about it.
check()
{
	rm -f file
	capture ptxloom exec "$@" "$ptx" --kernel race_no_barrier --block 64 --buffer 'o:u32[64]'
	rc=$?
}

# is_json FILE TEST: Python reads it, and the expression of d holds.
is_json()
{
	python3 -c "import json, sys; d = json.load(open('$1')); sys.exit(not ($2))"
	verdict $? "$1: $2"
}

line=$(grep -n 's\[63 - threadIdx.x\]' race.cu | head -1 | cut -d: -f1)

check --check=race
ok "$([ "$rc" = 86 ]; echo $?)" "exit status 86"
check --check=race --format=json --log-file file
ok "$([ "$rc" = 86 ] && ! [ -s err ]; echo $?)" "nothing but the file is written"
if command -v python3 >/dev/null; then
	is_json file 'd["errors"] == 1 and d["warnings"] == 0 and len(d["findings"]) == 1'
	is_json file 'd["findings"][0]["kind"] == "race" and d["findings"][0]["count"] == 64'
	is_json file "[p['line'] for p in d['findings'][0]['places']] == [$line, $((line - 1))]"
	is_json file 'd["findings"][0]["places"][1]["thread"] == [63, 0, 0]'
	check --check=race --format=sarif --log-file=file
	is_json file 'd["version"] == "2.1.0" and d["runs"][0]["results"][0]["ruleId"] == "race"'
	is_json file "d['runs'][0]['results'][0]['locations'][0]['physicalLocation']['region']['startLine'] == $line"
	is_json file '"race" in [r["id"] for r in d["runs"][0]["tool"]["driver"]["rules"]]'
	check --check=race --format=xml --log-file=file
	python3 -c "import xml.dom.minidom as m; d = m.parse('file'); r = d.getElementsByTagName('record')
assert len(r) == 1 and d.documentElement.tagName == 'ComputeSanitizerOutput'
assert r[0].getElementsByTagName('line')[0].firstChild.data == '$line'"
	verdict $? "xml is well-formed"
else
	skip "documents are valid" "no python3"
fi
check --check=race --format=github
says err "^::error file=race\.cu,line=$line,title=ptxloom race::Error: Race reported .*%0A"
says err '^========= RACECHECK SUMMARY: 1 hazard'

# A file that is there is not written over by another process of the program; a new run begins anew.
check --check=race --log-file file
says file '^========= RACECHECK SUMMARY: 1 hazard'
PTXLOOM_CHECK_FILE=file capture sh -c "ptxloom exec --check=race $ptx --kernel fine_lock --buffer 'o:u32[8]'"
says file 'SUMMARY: 0 hazards'
check --check=race --log-file 'f.%p'
ok "$(set -- f.*; [ $# = 1 ] && [ -s "$1" ]; echo $?)" "%p is the process"
status 2 ptxloom exec --check=race --log-file /nowhere/at/all "$ptx" --kernel fine_lock --buffer 'o:u32[8]'
says err '^ptxloom: error: /nowhere/at/all: No such file or directory$'

# Known ones.
for known in 'race:race_no_barrier' '*:race.cu' "race:race.cu:$line" '*:*no_barrier*'; do
	printf '# known\n\n  %s  # why\n' "$known" >known
	check --check=race --suppressions known
	ok "$([ "$rc" = 0 ]; echo $?)" "suppressed: $known"
	says err '^========= 1 suppressed$'
done
for known in 'race:other' 'mem:race_no_barrier' 'race:race.cu:1'; do
	echo "$known" >known
	check --check=race --suppressions known
	ok "$([ "$rc" = 86 ]; echo $?)" "not suppressed: $known"
done
for known in 'race' 'rase:x' 'race:'; do
	printf '\n%s\n' "$known" >known
	check --check=race --suppressions known
	says err "^ptxloom: error: known:2: '$known' "
done

# Names of templates are short in text and whole in data, however long.
long=_Z1kI$(printf '1A%.0s' $(seq 200))EvPj
sed "s/\\brace_no_barrier\\b/$long/g" race.ptx >long.ptx
capture ptxloom exec --check=race long.ptx --kernel "$long" --block 64 --buffer 'o:u32[64]'
if grep -q 'at void k' err; then
	says err '^========= Error: Race reported .* at void k<\.\.\.>\(unsigned int\*\) in race.cu:'
	capture ptxloom exec long.ptx --kernel "$long" --block 64 --buffer 'o:u32[1]'
	says err '^    in kernel void k<\.\.\.>\(unsigned int\*\)$'
	capture ptxloom exec --check=race --format=json --log-file file long.ptx --kernel "$long" --block 64 \
		--buffer 'o:u32[64]'
	says file '"kernel": *"void k<(A, ){199}A>\(unsigned int\*\)"'
else
	skip "names of templates" "no C++ library"
fi

# What cannot be used is said before the program starts.
status 2 ptxloom check --log-file /nowhere/at/all echo started
says err '^ptxloom: error: /nowhere/at/all: No such file or directory$'
empty "$(cat out)" "the program is not started"
status 2 ptxloom-sanitizer --log-file=/nowhere/at/all true
status 2 ptxloom run --check=race --suppressions nowhere true
says err '^ptxloom: error: nowhere: No such file or directory$'
mkdir folder
status 2 ptxloom check --log-file folder true
says err '^ptxloom: error: folder: Is a directory$'
# Files of the system are neither removed nor replaced.
check --check=race --log-file /proc/self/fd/2
says err '^========= RACECHECK SUMMARY: 1 hazard'

# compute-sanitizer's form: what a record names has to fit, whatever else it says.
# suppressed STATUS RECORD: the exit status with this record.
suppressed()
{
	{
		printf '<?xml version="1.0"?>\n<ComputeSanitizerOutput>\n<!-- known -->\n'
		printf '<record>%s</record>\n</ComputeSanitizerOutput>\n' "$2"
	} >known
	check --check=race --suppressions known
	ok "$([ "$rc" = "$1" ]; echo $?)" "$1 with $2"
}
suppressed 0 '<kind>Racecheck</kind><what><text>Race reported between Read access</text></what>'
suppressed 0 '<where><func>race_no_.*r$</func></where>'
suppressed 0 '<what><size>4</size></what><where><func>race_no_barrier</func><path>race.cu</path></where>'
suppressed 0 "<where><path>race.cu</path><line>$line</line></where>"
suppressed 86 '<kind>Memcheck</kind><where><func>race_no_barrier</func></where>'
suppressed 86 '<where><func>^other</func></where>'
suppressed 86 '<where><path>race.cu</path><line>1</line></where>'
suppressed 86 '<kind>race</kind><hostStack><frame><func>main</func></frame></hostStack>'
suppressed 2 '<where></where>'
says err '^ptxloom: error: known:4: a record names nothing$'
suppressed 2 '<where><func>a[</func></where>'
echo '<other></other>' >known
check --check=race --suppressions known
says err '^ptxloom: error: known:1: is no document of ComputeSanitizerOutput$'

# Limits and statuses.
check --check=race --print-limit 0
ok "$([ "$rc" = 86 ]; echo $?)" "what is not printed counts"
says err '^========= Only the first 0 of 1 are shown$'
empty "$(grep Error err)" "nothing is printed"
check --check=race --error-exitcode=3
ok "$([ "$rc" = 3 ]; echo $?)" "--error-exitcode=3"
check --check=race --error-exitcode 0
ok "$([ "$rc" = 0 ]; echo $?)" "--error-exitcode 0"
capture ptxloom exec --check=race "$ptx" --kernel warning_same_value --block 64 --buffer 'o:u32[64]'
rc=$?
ok "$([ "$rc" = 0 ]; echo $?)" "a warning does not count"
capture ptxloom exec --check=race --warnings-as-errors "$ptx" --kernel warning_same_value --block 64 \
	--buffer 'o:u32[64]'
rc=$?
ok "$([ "$rc" = 86 ]; echo $?)" "--warnings-as-errors"
for wrong in --format=yaml --print-limit=-1 --error-exitcode=256 --check=rase --warnings-as-errors=2; do
	check $wrong
	ok "$([ "$rc" = 2 ]; echo $?)" "$wrong is refused"
done

# Lines of the source are quoted, where the file is found.
check --check=race
says err "^=========     race\.cu:$line:$"
says err "^========= +$line \| .*s\[63 - threadIdx\.x\]"

# Programs.
capture ptxloom check --print-limit
rc=$?
ok "$([ "$rc" = 2 ]; echo $?)" "an option without its value"
status 0 ptxloom check true
status 3 ptxloom check -- sh -c 'exit 3'
status 2 ptxloom check
status 0 ptxloom-sanitizer --help
status 0 ptxloom-sanitizer --version
status 2 ptxloom-sanitizer
status 2 ptxloom-sanitizer --tool lint true
says err "^ptxloom-sanitizer: error: there is no tool 'lint'$"
status 2 ptxloom-sanitizer --generate-coredump yes true
says err '^ptxloom-sanitizer: error: --generate-coredump is not supported: '
status 2 ptxloom-sanitizer --tols memcheck true
status 2 ptxloom-sanitizer --xml true
status 0 ptxloom-sanitizer --nvtx=no true
says err '^ptxloom-sanitizer: note: --nvtx has no effect: '

needs_clang
cat >scale.cu <<'END'
#include <cstdio>
__global__ void scale(float *p, int n)
{
	p[threadIdx.x + n] = 1;
}
int main()
{
	float *p;

	cudaMalloc(&p, 400);
	scale<<<1, 32>>>(p, 90);
	puts(cudaGetErrorName(cudaDeviceSynchronize()));
	return 5;
}
END
succeeds "scale.cu builds" ptxloom cc -lineinfo scale.cu -o scale
status 86 ptxloom check --check=mem,race ./scale
says err '^========= Invalid __global__ write of size 4 bytes$'
says err '^=========     at scale\(float\*, int\) in .*scale\.cu:4$'
status 5 ptxloom-sanitizer --report-api-errors no ./scale
says err '^========= Invalid __global__ write of size 4 bytes$'
says err '^========= ERROR SUMMARY: 1 error$'
status 9 ptxloom-sanitizer --tool=memcheck --report-api-errors=no --error-exitcode 9 --xml --save found.xml -- ./scale
says found.xml '<path>.*scale\.cu</path><line>4</line>'
echo 'invalid-access:scale' >known
status 5 ptxloom check --check=mem --suppressions known ./scale
# What was saved suppresses itself; a stack that is another does not.
status 5 ptxloom-sanitizer --report-api-errors=no --xml --save=saved.xml ./scale
status 0 ptxloom check --check=mem --suppressions saved.xml --error-exitcode 0 true
capture ptxloom check --check=mem --suppressions saved.xml ./scale
says err '^========= 1 suppressed$'
sed -i 's,<func>main</func>,<func>other</func>,' saved.xml
capture ptxloom check --check=mem --suppressions saved.xml ./scale
says err '^========= ERROR SUMMARY: 1 error$'

# A null pointer is near no allocation.
cat >null.cu <<'END'
__global__ void put(int *p)
{
	*p = 1;
}
int main()
{
	int *p;

	cudaMalloc(&p, 4);
	put<<<1, 1>>>(nullptr);
	cudaDeviceSynchronize();
}
END
succeeds "null.cu builds" ptxloom cc -lineinfo null.cu -o null
status 86 ptxloom check --check=mem ./null
says err '^=========     Address 0x0 is out of bounds and is a null pointer$'
says err '^=========     launched by main'
empty "$(grep 'allocated by' err)" "nothing is said of an allocation"

# Which launches are checked.
cat >launches.cu <<'END'
__global__ void first(int *p)
{
	__shared__ int s[64];

	s[threadIdx.x] = p[threadIdx.x];
	p[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void second(int *p)
{
	__shared__ int s[64];

	s[threadIdx.x] = p[threadIdx.x];
	p[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void fill(int *p)
{
	p[threadIdx.x] = 1;
}
int main()
{
	int *p;

	cudaMalloc(&p, 256);
	fill<<<1, 64>>>(p);
	first<<<1, 64>>>(p);
	second<<<1, 64>>>(p);
	cudaDeviceSynchronize();
}
END
succeeds "launches.cu builds" ptxloom cc -lineinfo launches.cu -o launches
# chosen FIRST SECOND OPTION...: how many findings name each kernel.
chosen()
{
	want="$1 $2"
	shift 2
	capture ptxloom run --check=race,mem "$@" ./launches
	got="$(grep -c 'Error.* at first(' err) $(grep -c 'Error.* at second(' err)"
	ok "$([ "$got" = "$want" ]; echo $?)" "$*: $got"
}
chosen 1 1
chosen 1 0 --kernel-name first
chosen 0 1 --kernel-name='x|sec*'
chosen 0 1 --kernel-name-exclude='first(int*)'
chosen 0 1 --kernel-name-exclude=_Z5firstPi
chosen 0 1 --launch-skip 2
chosen 1 0 --launch-skip 1 --launch-count 1
chosen 0 0 --kernel-name fill
chosen 0 0 --kernel-name fil
says err '^ptxloom: note: none of [0-9]+ launches was checked: --kernel-name names none of their kernels$'
chosen 0 0 --kernel-name-exclude '*'
says err "was checked: --kernel-name-exclude names all of their kernels\$"
chosen 0 0 --launch-skip 9
says err 'was checked: --launch-skip leaves out all of them$'
chosen 0 1 --kernel-name 'first|second' --launch-skip=1
# What launches write that are not checked is written.
status 0 ptxloom run --check=init --kernel-name first ./launches
capture ptxloom-sanitizer --tool racecheck --kernel-regex kns=seco -c 1 ./launches
says err '^========= RACECHECK SUMMARY: 1 hazard displayed'
capture ptxloom-sanitizer --tool racecheck -k kne=_Z5firstPi -s 1 ./launches
says err '^========= RACECHECK SUMMARY: 0 hazards displayed'
status 2 ptxloom-sanitizer --kernel-name first ./launches
says err "'first' is not of the form kne=NAME or kns=PART"
for option in --check= --log-file= --suppressions= --kernel-name= --target-processes=; do
	refused 2 "there is no value for '${option%=}'" "an empty value" ptxloom check "$option" ./launches
done

# Warnings that are not to be seen are counted.
check --check=race --print-level error
says err '^========= Error: Race reported'
capture ptxloom exec --check=race --print-level=error "$ptx" --kernel warning_same_value --block 64 --buffer 'o:u32[64]'
empty "$(grep Warning err)" "no warning is printed"
says err 'RACECHECK SUMMARY: .*1 warning\)'

# More room between allocations, so that what goes far past one does not come to another.
cat >far.cu <<'END'
#include <cstdio>
__global__ void put(char *p, long i)
{
	p[i] = 1;
}
int main()
{
	char *p[64];

	for (auto &x : p)
		cudaMalloc(&x, 1000);
	put<<<1, 1>>>(p[0], 4200);
	puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
END
succeeds "far.cu builds" ptxloom cc far.cu -o far
status 0 ptxloom run --check=mem ./far
status 86 ptxloom run --check=mem --padding 100000 ./far

# Two processes, one name.
status 0 ptxloom check --check=mem --error-exitcode 0 --log-file both -- sh -c './scale; ./scale; true'
ok "$(set -- both both.*; [ $# = 2 ] && grep -q Invalid "$1" && grep -q Invalid "$2"; echo $?)" \
	"each process has a file"
finish
