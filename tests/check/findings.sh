# ptxloom_findings: what was found as data, for programs of CUDA and of the C interface.
. "${srcdir:-.}/tests/tap.sh"
line()
{
	grep -n "// $1\$" "$top/tests/check/findings.cu" | cut -d: -f1
}

race=$top/tests/check/race.ptx
capture "$bin/samples/race_test" "$race" race_no_barrier
rc=$?
ok "$([ "$rc" = 1 ] && ! [ -s err ]; echo $?)" "the C interface: a race fails the test, and nothing is printed"
says out '^race error: Error: Race reported between Read access .* \(64 times\)$'
says out '^    Read in race_no_barrier, .*race\.cu:[1-9]'
says out '^    Write in race_no_barrier, .*race\.cu:[1-9]'
capture "$bin/samples/race_test" "$race" fine_barrier
rc=$?
ok "$([ "$rc" = 0 ] && ! [ -s out ] && ! [ -s err ]; echo $?)" "the C interface: nothing is found"

has_clang || skip_rest "$tap_no_clang"
cp "$top/tests/check/findings.cu" "$scratch"
cd "$scratch" || exit 1
succeeds "the program is built" ptxloom cc -g -O1 -lineinfo findings.cu -o findings -I"$top/include" \
	-L"$bin/.libs" -lptxloom -Wl,-rpath,"$bin/.libs"
status 5 ptxloom run --check=mem,api ./findings
says out '^before: 0 of mem,api$'
says out '^after: 2 of mem,api$'
says out '^mem invalid-access error 1 1 Invalid __global__ write of size 4 bytes$'
says out "^  place write put\(int\*, int\) $(line put)$"
says out "^  host launched main $(line launched)$"
says out "^  host allocated main $(line allocated)$"
says out '^api api-error error 0 1 Program hit cudaErrorInvalidDevice \(error 101\)'
says out "^  host called main $(line called)$"
says out '^cleared: 0 of mem,api$'
says err '^========= ERROR SUMMARY: 0 errors$'
status 5 ptxloom run ./findings
says out '^after: 0 of $'
if command -v nvcc >/dev/null; then
	succeeds "nvcc builds it" nvcc -g -lineinfo findings.cu -o findings -I"$top/include" -L"$bin/.libs" \
		-lptxloom -Xlinker -rpath -Xlinker "$bin/.libs"
	status 5 ptxloom run --check=mem,api ./findings
	says out '^after: 2 of mem,api$'
	says out "^  host launched main $(line launched)$"
else
	skip "a program of nvcc" "no nvcc"
fi
finish
