# Where the host calls what is found: the user's lines, and its stack.
. "${srcdir:-.}/tests/tap.sh"
cp "$srcdir/tests/check/host_places.cu" "$scratch"
cd "$scratch" || exit 1

line()
{
	grep -n "// $1\$" host_places.cu | cut -d: -f1
}

# found NAME: what is written when this function runs.
found()
{
	capture timeout 60 ptxloom run ${look:---check=mem,leak,api} $options "$program" "$1"
}

# launches CHECK NAME PLACE: does the finding of a launch name the call at PLACE, in each format?
launches()
{
	look=--check=$1
	options=
	found "$2"
	says err "^=========     launched by $3(\((bool)?\))? $at:$(line "$3")$"
	says err '^=========     Saved host backtrace up to driver entry point at kernel launch time$'
	says err "^=========         Host Frame: $3(\((bool)?\))? $at:$(line "$3") \[0x"
	says err '^=========         Host Frame: main in .*host_places\.cu:'
	options="--format=xml --log-file xml"
	rm -f xml
	found "$2"
	tr -d '\n' <xml | grep -q "<saveLocation>launched</saveLocation><frame><func>$3.*<func>main</func>"
	verdict $? "$1: xml has the launch"
	options="--format=json --log-file json"
	rm -f json
	found "$2"
	if command -v python3 >/dev/null; then
		python3 -c "import json; d = json.load(open('json'))['findings']
h = d[0]['host'][0]
assert h['what'] == 'launched' and h['line'] == h['stack'][0]['line'] == $(line "$3"), d
assert h['stack'][-1]['function'] == 'main', d"
		verdict $? "$1: json has the launch"
	else
		skip "$1: json has the launch" "no python3"
	fi
	look=
	options=
}

# play COMPILER: the user's lines, whatever compiler has made the wrappers.
play()
{
	program=./$1 options=
	at="in .*host_places\.cu"
	found fault
	says err "^=========     launched by launch(\(int\*, int\))? $at:$(line launch)$"
	says err "^=========     allocated by make(\(unsigned long\))? $at:$(line make)$"
	says err '^=========     Saved host backtrace up to driver entry point at kernel launch time$'
	says err "^=========         Host Frame: launch(\(int\*, int\))? $at:$(line launch) \[0x[0-9a-f]+\] in $1$"
	says err "^=========         Host Frame: fault(\(\))? $at:$(line 'calls launch') \[0x"
	says err '^=========         Host Frame: main in .*host_places\.cu:'
	found refused
	says err "^=========     called by refused(\(\))? $at:$(line 'too many')$"
	found by_function
	says err "^=========     called by by_function(\(\))? $at:$(line 'by function')$"
	found twice
	says err "^=========     called by owner::~owner\(\) $at:$(line destroy)$"
	says err "^=========     freed by twice(\(\))? $at:$(line once)$"
	says err "^========= +$(line destroy) \| .*cudaFree\(p\);"
	found leaks
	ok "$(grep -c "^=========     allocated by make.*:$(line make)$" err | grep -qx 2; echo $?)" "each leak is one"
	says err '^=========     Saved host backtrace up to driver entry point at allocation time$'
	launches race race turned
	launches sync unsync unsync
	launches init uninit uninit
	launches mem neighbour neighbour
	look=--check=race,sync,init
	found ordered
	says err 'RACECHECK SUMMARY: 0 hazards'
	empty "$(grep 'launched by' err)" "without a finding nothing was launched"
	look= options=--show-backtrace=device
	found leaks
	empty "$(grep 'ost [Bb]acktrace\|Host Frame' err)" "no stack of the host with $options"
	says err "^=========     allocated by make.*:$(line make)$"
	options=--num-callers=1
	found fault
	ok "$(grep -c 'Host Frame' err | grep -qx 1; echo $?)" "$options: one frame"
	options="--format=json --log-file json"
	rm -f json
	found device
	if command -v python3 >/dev/null; then
		python3 -c "import json; d = json.load(open('json'))['findings']
assert len(d) == 1 and d[0]['count'] == 3, d
p, h = d[0]['places'][0], d[0]['host'][0]
assert p['line'] == h['line'] == h['stack'][0]['line'] == $(line 'no such device'), d
assert p['file'].endswith('host_places.cu') and h['what'] == 'called', d
assert h['stack'][-1]['function'] == 'main' and h['stack'][0]['module'].endswith('$1'), d"
		verdict $? "json has file, line and stack"
	else
		skip "json has file, line and stack" "no python3"
	fi
}

has_clang || skip_rest "$tap_no_clang"
succeeds "clang builds it" ptxloom cc -g -O1 host_places.cu -o clang
play clang
# Position-independent or not, without lines: the function.
succeeds "clang builds it without lines" ptxloom cc -O0 host_places.cu -o bare
program=./bare options=
found device
says err '^=========     called by device\(\)\+0x[0-9a-f]+ of .*/bare \(addr2line -fCe .*/bare 0x[0-9a-f]+\)$'
found leaks
says err '^=========     allocated by make\(unsigned long\)\+0x'
options="--format=json --log-file json"
rm -f json
found leaks
if command -v python3 >/dev/null; then
	python3 -c "import json; h = json.load(open('json'))['findings'][0]['host'][0]
assert h['function'].startswith('make') and 'line' not in h and 'line' not in h['stack'][0], h"
	verdict $? "json has no line where none is known"
else
	skip "json has no line where none is known" "no python3"
fi
options=
if command -v nvcc >/dev/null; then
	succeeds "nvcc builds it" nvcc -g host_places.cu -o nvcc
	play nvcc
	succeeds "nvcc builds it without lines" nvcc host_places.cu -o bare
	program=./bare options=
	found leaks
	says err '^=========     allocated by make\(unsigned long\)\+0x'
	# What kernels launch has the stack of the host's launch, from which it comes.
	cat >nested.cu <<'END'
__global__ void child(int *out)
{
	out[0] = threadIdx.x; // child
}
__global__ void parent(int *out)
{
	child<<<1, 64>>>(out);
}
int main()
{
	int *p;

	cudaMalloc(&p, 4);
	parent<<<1, 1>>>(p); // parent
	return cudaDeviceSynchronize();
}
END
	succeeds "kernels that launch kernels are built" nvcc -g -lineinfo -rdc=true nested.cu -o nested
	capture timeout 60 ptxloom run --check=race ./nested
	says err "at child\(int ?\*\) in .*nested\.cu:$(grep -n '// child' nested.cu | cut -d: -f1)\b"
	says err "^=========     launched by main in .*nested\.cu:$(grep -n '// parent' nested.cu | cut -d: -f1)$"
else
	skip "programs of nvcc" "no nvcc"
fi
finish
