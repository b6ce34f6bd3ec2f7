# PTXLOOM_REPORT and `ptxloom report`: findings, faults and acts of many processes in one file, merged
# and printed; annotations of workflows; damaged lines, full disks.
. "${srcdir:-.}/tests/tap.sh"

cd "$scratch" || exit 1
# A line is a record; here they are broken at ~.
sed -e ':a' -e '/~$/N; s/~\n/ /; ta' >made.jsonl <<'END_OF_LINES'
{"type": "finding", "finding": {"check": "mem", "kind": "invalid-access", "severity": "error",~
"message": "Invalid | write", "kernel": "k(int*)", "count": 1, "places": [{"file": "k.cu", "line": 2},~
{"access": "read", "file": "k.cu", "line": 3}], "host": [], "text": "Invalid | write\n100% of it"}}
{"type": "process", "host": "a", "devices": "t4", "checks": "mem", "launches": 2}
{"type": "inject", "text": "ptxloom: inject: rule 1"}
END_OF_LINES
sed 's/"host": "a"/"host": "b"/; s/"t4"/"h100,t4"/; s/"checks": "mem"/"checks": "race"/' made.jsonl >other.jsonl
succeeds "files of two hosts" ptxloom report made.jsonl other.jsonl
says out '^k.cu:2: error: invalid-access: Invalid \| write, in kernel k\(int\*\) \(2 times, 2 processes\)$' "are merged"
says out '^1 error, 0 warnings; 4 launches in 2 processes on 2 hosts; devices: h100,t4; checks: mem,race; 2 injected$' \
	"and summed up"
cp out first
succeeds "in the other order" ptxloom report other.jsonl made.jsonl
same first out "they are the same"
succeeds "annotations" ptxloom report --github made.jsonl
is out '::error file=k.cu,line=2,title=ptxloom invalid-access::Invalid | write%0A100%25 of it'
succeeds "a summary" ptxloom report --markdown made.jsonl
says out '^\| k.cu:2 \| error \| invalid-access \| Invalid \\\| write \| k\(int\\\*\) \| 1 \|$' "has a table"
printf 'one\ntwo\nthree\n' >k.cu
succeeds "SARIF" ptxloom report --sarif -o first.sarif made.jsonl
printf 'zero\none\ntwo\nthree\n' >k.cu
sed 's/"line": 2/"line": 3/' made.jsonl >moved.jsonl
succeeds "of a line that has moved" ptxloom report --sarif -o moved.sarif moved.jsonl
[ "$(grep ptxloom/v1 first.sarif)" = "$(grep ptxloom/v1 moved.sarif)" ]
ok $? "has the same fingerprint"
succeeds "code quality" ptxloom report --codequality -o quality.json made.jsonl
succeeds "JSON" ptxloom report --json -o all.json made.jsonl other.jsonl
command -v python3 >/dev/null || skip_rest "no python3"
succeeds "all of them are JSON" python3 -c '
import json
run, = json.load(open("first.sarif"))["runs"]
rule, = run["tool"]["driver"]["rules"]
result, = run["results"]
assert result["ruleId"] == rule["id"] == "invalid-access", result
assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
assert len(result["relatedLocations"]) == 1
quality, = json.load(open("quality.json"))
assert quality["location"] == {"path": "k.cu", "lines": {"begin": 2}}
everything = json.load(open("all.json"))
assert everything["launches"] == 4 and everything["findings"][0]["processes"] == 2
'
skip_rest ""

ends 1 "--fail, with an error" ptxloom report --fail made.jsonl
grep -v finding made.jsonl >clean.jsonl
succeeds "--fail, without one" ptxloom report --fail clean.jsonl
: >empty.jsonl
ends 1 "--fail, with nothing" ptxloom report --fail empty.jsonl
says err 'no kernel has run' "says that nothing was run"
ends 1 "a check that was not on" ptxloom report --require mem,race clean.jsonl
says err 'the check race was not on' "is named"
ends 2 "a check that is none" ptxloom report --require memo clean.jsonl
echo '{"type": "process", ' >>clean.jsonl
echo '{"type": "finding", "finding": 1}' >>clean.jsonl
ends 1 "damaged lines" ptxloom report clean.jsonl
says err 'clean.jsonl:3: damaged, left out' "are named"
says err 'clean.jsonl:4: damaged, left out' "each of them"
says out '2 launches in 1 process' "and the others count"
ends 2 "a file that is not there" ptxloom report nowhere.jsonl
says err 'nowhere.jsonl: No such file' "is named"
ends 2 "two formats" ptxloom report --sarif --json made.jsonl
ends 2 "no file" ptxloom report
ends 2 "--root without --coverage" ptxloom report --root . made.jsonl
ends 2 "--coverage and SARIF" ptxloom report --sarif --coverage cov made.jsonl
ends 2 "a folder that is not there" ptxloom report --coverage nowhere made.jsonl
says err 'nowhere: No such file' "is named"
ends 2 "a full disk" ptxloom report -o /dev/full made.jsonl

[ -e "$libraries/libcudart.so" ] || skip_rest "no CUDA libraries"
needs_clang
cat >short.cu <<'END_OF_SOURCE'
__global__ void k(int *p)
{
	p[threadIdx.x] = 1;
}
int main(int argc, char **)
{
	int *p;
	cudaMalloc(&p, 32 * sizeof(int));
	k<<<1, 64>>>(argc > 1 ? (int *)8 : p);
	return cudaDeviceSynchronize() != 0;
}
END_OF_SOURCE
succeeds "a program is built" ptxloom cc -lineinfo short.cu -o short
ends 86 "in a workflow of GitHub" env GITHUB_ACTIONS=true ptxloom run --check=mem --report found.jsonl ./short
[ "$(cat out err | grep -c '^::error file=short.cu,line=3,')" -eq 1 ]
ok $? "there is one annotation"
ends 86 "without" env GITHUB_ACTIONS=true PTXLOOM_ANNOTATE=0 ptxloom run --check=mem ./short
[ "$(cat out err | grep -c '^::error')" -eq 0 ]
ok $? "there is none"
ends 86 "anywhere" env PTXLOOM_ANNOTATE=1 ptxloom run --check=mem ./short
[ "$(cat out err | grep -c '^::error file=short.cu,line=3,title=ptxloom invalid-access::')" -eq 1 ]
ok $? "there is one if that is asked for"
skipping || for i in 1 2 3 4 5 6 7 8; do
	PTXLOOM_REPORT=found.jsonl ptxloom run -d t4 ./short >/dev/null 2>&1 &
done
skipping || wait
ends 1 "a fault without checks" ptxloom run --report found.jsonl ./short far
ends 0 "a rule that acts" ptxloom run --report found.jsonl --inject 'call=cudaMalloc -> delay 1ms' ./short
succeeds "all of them" ptxloom report found.jsonl
says out '^short.cu:3: error: invalid-access.*[(]2 times, 2 processes[)]' "the finding and the fault are of one line"
says out '^ptxloom: inject: ' "the act"
says out '; 11 launches in 11 processes on 1 host; devices: default,t4; checks: mem; 1 injected$' "and 11 processes"
ends 2 "a folder that is not there" ptxloom run --report nowhere/found.jsonl ./short
says err 'nowhere/found.jsonl: No such file' "is named before the program runs"
succeeds "a full disk" ptxloom run --report /dev/full ./short
says err '^ptxloom: error: PTXLOOM_REPORT: /dev/full: No space' "is one line, and the program goes on"
ends 2 "a report to a full disk" sh -c 'ptxloom report found.jsonl >/dev/full'
is err 'ptxloom report: standard output: No space left on device' "is one line, too"

# Coverage beside what was found.
cat >covered.cu <<'END_OF_SOURCE'
__global__ void k(int *p)
{
	if (threadIdx.x > 99)
		p[1] = 2;
	p[0] = 1;
}
int main()
{
	int *p;

	cudaMalloc(&p, 8);
	k<<<1, 32>>>(p);
	return cudaDeviceSynchronize();
}
END_OF_SOURCE
succeeds "a program is built" ptxloom cc -G covered.cu -o covered
succeeds "it is counted" ptxloom run --coverage=cov --report run.jsonl ./covered
succeeds "coverage and findings" ptxloom report --root . --coverage cov run.jsonl made.jsonl
says out '^coverage of device code: lines 80.0% .4 of 5., branches 50.0% .1 of 2., functions 100.0% .1 of 1.$' \
	"are in one report"
says out '^k.cu:2: error' "with what was found"
says out '3 launches in 2 processes' "and what was done"
succeeds "coverage alone" ptxloom report --root . --coverage cov
ok "$([ "$(grep -c . out)" -eq 1 ]; echo $?)" "is one line"
succeeds "twice the same" ptxloom report --markdown --root . --coverage cov --coverage cov
says out '^\| covered.cu \| 80\.0% \(4 of 5\) \|' "is a table by file"
says out '^\| \*\*all\*\* \|' "and a sum"
succeeds "as JSON" ptxloom report --json --root . --coverage cov run.jsonl
says out '"lines_hit":.*4' "by number"
mkdir broken && echo junk >broken/x.ptxcov
ends 1 "a damaged profile" ptxloom report --root . --coverage cov --coverage broken run.jsonl
says err 'x.ptxcov' "is named"
says out '^coverage of device code: lines 80' "and the others count"
ends 1 "a damaged profile, and no other" ptxloom report --root . --coverage broken run.jsonl
says err 'x.ptxcov' "is named"

finish
