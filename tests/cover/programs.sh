# Coverage of programs: lines, branches, functions of clamp.cu by hand; formats; many processes, processes that are
# killed, forked and never use a device; damaged and foreign profiles; wrong options.
. "${srcdir:-.}/tests/tap.sh"
cp "$srcdir"/samples/testkit/clamp.cu "$srcdir"/tests/cover/*.cu "$scratch"
cd "$scratch" || exit 1
needs_clang
# A cache of compilers' results may answer with what was compiled in another folder.
CCACHE_DISABLE=1
export CCACHE_DISABLE
succeeds "the sample is built" ptxloom cc -G clamp.cu -o clamp
status 0 ptxloom run --coverage=cov ./clamp 100

# ---- text ----

status 0 ptxloom coverage report cov
cp out text
says text '^ +100: +22: 32/32 +: 	*x\[i\] = clampv' "the store counts its lanes"
says text '^ +#####: +24: +: 	*x\[0\] = -1' "the body of n < 0 never ran"
says text '^ +128: +21: 32/32 +~1: 	if \(i < n\)' "the if has a divergent warp"
says text 'jump 28, fall 100; 2 of 2 directions, 1 divergent warp$'
says text '^functions: 50.0% \(2 of 4\)$'
says text '^function void f<float>\(float\*, int\) \(line [0-9]+\): entered by 128 lanes$'
says text '^function void f<int>\(int\*, int\) \(line [0-9]+\): never entered$'
ok "$(grep -q optimised text; echo $((!$?)))" "code for debugging is not called optimised"
status 0 ptxloom coverage report cov --instances
says out '^function void f<int>\(int\*, int\): entered by 0 lanes$'
status 0 ptxloom coverage report --root / cov
says out "^.*: Source:${scratch#/}/clamp.cu"

# ---- formats ----

status 0 ptxloom coverage report cov --lcov -o c.info
says c.info '^SF:clamp.cu$'
says c.info '^FNDA:128,void f<float>\(float\*, int\)$'
says c.info '^FNDA:0,void f<int>\(int\*, int\)$'
says c.info '^FNF:4$'
says c.info '^FNH:2$'
says c.info '^DA:22,100$'
says c.info '^DA:24,0$'
says c.info '^BRDA:21,0,0,28$'
says c.info '^BRDA:21,0,1,100$'

# sums FILE: in every section LF, LH, BRF and BRH are what its records say, and no line is 0 or there twice.
sums()
{
	awk -F '[:,]' '
	/^SF:/ { lf = lh = bf = bh = 0; split("", seen) }
	/^DA:/ { lf++; lh += $3 > 0; bad += seen[$2]++ || $2 == 0 }
	/^BRDA:/ { bf++; bh += $NF > 0; bad += $2 == 0 }
	/^LF:/ { bad += $2 != lf } /^LH:/ { bad += $2 != lh }
	/^BRF:/ { bad += $2 != bf } /^BRH:/ { bad += $2 != bh }
	/^end_of_record/ { ends++ }
	END { exit bad || !ends }' "$1"
}
sums c.info || skipping
verdict $? "lcov: sums are those of the records"
status 0 ptxloom coverage report cov --lcov=2 -o c2.info
says c2.info '^FNL:[0-9]+,[0-9]+,[0-9]+$'
says c2.info '^FNA:[0-9]+,128,void f<float>'
says c2.info '^BRDA:21,0,jump,28$'
ok "$(grep -q '^FN:' c2.info; echo $((!$?)))" "lcov 2: no FN"
sums c2.info || skipping
verdict $? "lcov 2: sums are those of the records"
status 0 ptxloom coverage report cov --lcov=2 --lanes
says out '^BRDA:21,0,diverged,1$'
if command -v genhtml >/dev/null; then
	status 0 genhtml --branch-coverage -q -o genhtml c.info
else
	skip "genhtml takes it" "no lcov"
fi
status 0 ptxloom coverage report cov --cobertura -o c.xml
if command -v xmllint >/dev/null; then
	status 0 xmllint --noout --nonet --dtdvalid "$top/tests/cover/coverage-04.dtd" c.xml
else
	skip "Cobertura's XML is valid" "no xmllint"
fi
says c.xml '<line number="21" hits="128" branch="true" condition-coverage="100% \(2/2\)">'
for format in json llvm-json gcovr=0.3; do
	status 0 ptxloom coverage report cov "--$format" -o "c.$format"
	if command -v python3 >/dev/null; then
		status 0 python3 -m json.tool "c.$format"
	else
		skip "$format is JSON" "no python3"
	fi
done
says c.llvm-json '"type":"llvm.coverage.json.export","version":"2.0.1"'
says c.json '"line":21,"count":128,.*"divergent_warps":1,"lanes":32'
# Members that gcovr 5 to 8 want.
says c.gcovr=0.3 '"demangled_name":"void f<float>\(float\*, int\)","lineno":18,"execution_count":128,'
says c.gcovr=0.3 '"returned_count":128,"blocks_percent":100'
says c.gcovr=0.3 '"blockno":0,"source_block_id":0,"count":28,"fallthrough":false,"throw":false'
says c.gcovr=0.3 '"conditions":\[\],"count":128,"gcovr/calls":\[\],"gcovr/excluded":false,"gcovr/noncode":false'
if command -v gcovr >/dev/null && ptxloom coverage report cov --gcovr="$(gcovr --json 2>/dev/null |
	sed -n 's/.*format_version": "\([^"]*\)".*/\1/p')" -o own.json; then
	status 0 gcovr --add-tracefile own.json
else
	skip "gcovr takes it" "no gcovr"
fi
status 0 ptxloom coverage html cov -o pages
says pages/0-clamp.cu.html 'x\[i\] = clampv'
says pages/index.html '0-clamp.cu.html'
ok "$(grep -qi '<script' pages/*; echo $((!$?)))" "pages have no scripts"

# A file that may not grow is an error with a message, and what is there stays.
printf 'kept' >kept
# limited WORD..: coverage's status and messages, where files may not grow.
limited()
{
	capture sh -c '(ulimit -f 0; ptxloom coverage "$@"; echo "status $?") 2>&1 | cat' sh "$@"
}
for format in lcov cobertura json; do
	limited report cov --$format -o kept
	is out "ptxloom: error: kept: File too large
status 2"
done
[ "$(cat kept)" = kept ] && [ -z "$(find . -name '*.part')" ]
ok $? "the file that was there stays"
limited merge cov -o kept.ptxcov
says out '^ptxloom: error: .*: File too large$'
says out '^status 2$' "a merge that does not fit"
chmod 640 kept
ln -s kept link
status 0 ptxloom coverage report cov --lcov -o link
[ -h link ] && grep -q '^end_of_record' kept && [ "$(stat -c %a kept)" = 640 ]
ok $? "a link is followed, and permissions stay"

# ---- limits and marks ----

status 0 ptxloom coverage report cov --fail-under-lines 50 --fail-under-branches 20
refused 1 'lines: .* less than 99' "too few lines" ptxloom coverage report cov --fail-under-lines 99
refused 1 'branches: .* less than 99' "too few branches" ptxloom coverage report cov --fail-under-branches 99
skipping || sed 's,x\[0\] = -1;,& // LCOV_EXCL_LINE,; s,else if.*,& // GCOVR_EXCL_BR_LINE,' clamp.cu >marked
mkdir -p elsewhere
skipping || mv marked elsewhere/clamp.cu
status 0 ptxloom coverage report cov --lcov --map "$scratch=$scratch/elsewhere"
says out '^SF:elsewhere/clamp.cu$'
ok "$(grep -qE '^(DA:24|BRDA:23)' out; echo $((!$?)))" "marked lines and branches are left out"
refused 0 'no source lies in' "sources that are elsewhere" ptxloom coverage report cov --root elsewhere
says out '^lines: none$' "are no share of nothing"

refused 1 'lines: 0.0% .0 of 0., less than 1%' "where nothing was counted, nothing is enough" \
	ptxloom coverage report cov --root elsewhere --fail-under-lines 1
status 0 ptxloom coverage report cov --root elsewhere --fail-under-lines 0

# Names and sources that are not ASCII, nor UTF-8.
odd=$(printf 'caf\303\251 & <b>')
mkdir "$odd"
skipping || printf '// \351 \001\n' | cat clamp.cu - >"$odd/clamp.cu"
succeeds "odd names are built" ptxloom cc -G "$odd/clamp.cu" -o odd
status 0 ptxloom run --coverage=odd.cov ./odd 100
status 0 ptxloom coverage report odd.cov --lcov
says out "^SF:$odd/clamp.cu\$"
status 0 ptxloom coverage report odd.cov --cobertura -o c.xml
capture cat c.xml
says out "package name=\"$(printf 'caf\303\251') &amp; &lt;b&gt;\"" "a package of Cobertura has the folder's name"
if command -v xmllint >/dev/null; then
	status 0 xmllint --noout --nonet --dtdvalid "$top/tests/cover/coverage-04.dtd" c.xml
else
	skip "Cobertura's XML is valid" "no xmllint"
fi
status 0 ptxloom coverage html odd.cov -o oddpages
ok "$(skipping || iconv -f UTF-8 -t UTF-8 oddpages/*.html >/dev/null; echo $?)" "pages are UTF-8"

# ---- processes ----

if ! skipping; then
	for n in 1 2 3 4 5 6 7 8; do
		{
			PTXLOOM_COVERAGE=many ptxloom run ./clamp $n
			PTXLOOM_COVERAGE="two/%2m.ptxcov" ptxloom run ./clamp $n
		} >/dev/null 2>many.err &
	done
	wait
	for n in 1 2 3 4 5 6 7 8; do
		PTXLOOM_COVERAGE=single/$n.ptxcov ptxloom run ./clamp $n >/dev/null
	done
fi
status 0 ptxloom coverage report many --lcov -o many.info
status 0 ptxloom coverage report two --lcov -o two.info
status 0 ptxloom coverage report single --lcov -o single.info
same many.info single.info "eight processes at once are the sum of eight"
same two.info single.info "eight processes that share two files are, too"
says many.info '^DA:22,36$'
ok "$([ "$(ls two/*.ptxcov 2>/dev/null | wc -l)" -le 2 ]; echo $?)" "two files at most"
status 0 ptxloom coverage merge single/1.ptxcov single/2.ptxcov -o ab.ptxcov
status 0 ptxloom coverage merge single/2.ptxcov single/1.ptxcov -o ba.ptxcov
same ab.ptxcov ba.ptxcov "the order of profiles does not matter"
status 0 ptxloom coverage merge single -o all
status 0 ptxloom coverage report all --lcov
same out single.info "merged profiles are their sum"
status 0 ptxloom coverage merge single/3.ptxcov single/3.ptxcov -o twice.ptxcov
status 0 ptxloom coverage report twice.ptxcov --lcov
says out '^DA:22,6$'
succeeds "a program that goes on without the device is built" ptxloom cc -G ends.cu -o ends
for way in killed forked never; do
	capture ptxloom run --coverage=$way ./ends $way
	status 0 ptxloom coverage report $way --lcov
	says out "$([ $way = never ] && echo '^DA:10,0$' || echo '^DA:10,64$')" "$way: the launch that ended is counted"
done

# Bazel names a file.
status 0 env COVERAGE_OUTPUT_FILE="$scratch/bazel.dat" ptxloom run --coverage=bazel ./clamp 100
skipping || ptxloom coverage report bazel --lcov >want.info
: >>bazel.dat; : >>want.info; same want.info bazel.dat "Bazel finds lcov's format"

# ---- what is wrong ----

skipping || { cp -r cov bad && echo junk >bad/z.ptxcov && head -c 100 cov/*.ptxcov >bad/y.ptxcov; }
refused 1 'z.ptxcov is not a coverage profile' "a foreign file is named" ptxloom coverage report bad
says err 'y.ptxcov is cut short'
says out '^ +100: +22:' "the others are used"
# The last byte is one of a count.
skipping || {
	mkdir flipped && cp -r cov/modules flipped && cat cov/*.ptxcov >flipped/z.ptxcov
	printf '\1' | dd of=flipped/z.ptxcov bs=1 seek=$(($(wc -c <flipped/z.ptxcov) - 1)) conv=notrunc 2>dd
}
refused 1 'z.ptxcov is damaged' "a count that was changed" ptxloom coverage report flipped
skipping || { cp -r cov changed && echo >>"$(ls changed/modules/*.ptx)"; }
refused 1 'is not the text that was counted' "a text that was changed" ptxloom coverage report changed
skipping || { cp -r cov lost && rm lost/modules/*; }
refused 1 'cannot be read; it belongs to the profile' "a text that is gone" ptxloom coverage report lost
refused 0 'coverage is not written: /dev/null' "what cannot be written stops no program" \
	ptxloom run --coverage=/dev/null/x ./clamp 5
echo hello >mine.ptxcov
refused 0 'is not a coverage profile; nothing is written' "another file stays" \
	ptxloom run --coverage=mine.ptxcov ./clamp 5
is mine.ptxcov hello
refused 0 'coverage is not written: .*File too large' "a full disk" \
	sh -c 'ulimit -f 1; exec ptxloom run --coverage=full ./clamp 5'
skip_rest ''
refused 2 'after % there may be' "an unknown item of a name" ptxloom run --coverage=%q true
refused 2 'no value' "a missing value" ptxloom run --coverage
refused 2 'no profile given' "nothing to report" ptxloom coverage report
refused 2 'is not report, html or merge' "an unknown verb" ptxloom coverage show x
refused 2 'unknown option' "an unknown option" ptxloom coverage report --xml x
refused 2 'one format at a time' "two formats" ptxloom coverage report --json --lcov x
refused 2 'No such file' "no such profile" ptxloom coverage report nowhere
refused 2 'is no percentage' "no percentage" ptxloom coverage report --fail-under-lines 101 x
refused 2 "no value for '--gcovr'" "no version" ptxloom coverage report --gcovr= x
refused 2 'OLD=NEW' "no map" ptxloom coverage report --map a x
refused 2 'needs -o' "a merge to nowhere" ptxloom coverage merge x
mkdir empty
refused 2 'there is no profile' "an empty folder" ptxloom coverage report empty
finish
