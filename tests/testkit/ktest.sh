# Tables of tests: TAP, JUnit, shards, filters, faults that harm no other case, and tables that are wrong.
. "${srcdir:-.}/tests/tap.sh"
ln -s "$top/samples" "$scratch/samples"
cd "$scratch" || exit 1
table=samples/testkit/saxpy.ktest

succeeds "all cases" ptxloom test -j 2 --junit j.xml "$table"
says out '^1\.\.54$' "5 x 3 x 3 and 3 x 3"
[ "$(grep -c '^ok' out)" = 54 ] && ! grep -q '^not' out
verdict $? "all pass"
says out '^ok 5 - tail n=1 \(a100, seed 2\)$' "names"
says out '^ok 54 - short \(h100, seed 3\)$'
[ "$(grep -c '<testcase' j.xml)" = 54 ] && grep -q 'tests="54" failures="0"' j.xml
ok $? "JUnit"
[ "$(grep -c '<property name="ptxloom.seed" value="3"/>' j.xml)" = 18 ]
ok $? "with seeds"
skip_rest "$(command -v python3 >/dev/null || echo no python3)"
succeeds "is well-formed" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("j.xml")'
skip_rest
skip_rest "$(command -v prove >/dev/null || echo no prove)"
succeeds "prove takes it" prove -e 'ptxloom test --filter short*' "$table"
skip_rest
succeeds "a list" ptxloom test --list "$table"
[ "$(wc -l <out)" = 54 ]
verdict $? "of all"
succeeds "a filter" ptxloom test --list --filter 'tail n=3*:short*-*t4*:*seed 2*' "$table"
[ "$(wc -l <out)" = 16 ]
verdict $? "is that of GoogleTest"
for i in 0 1 2 3; do
	ptxloom test --list --shard "$i/4" "$table"
done >shards
ptxloom test --list "$table" >all
sort shards >a
sort all >b
same a b "shards are all cases, once"
ptxloom test --list --shard 4/4 "$table" >fourth
ptxloom test --list --shard 0/4 "$table" | cmp -s - fourth
ok $? "counted from 0 or 1"
GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=1 TEST_SHARD_STATUS_FILE=sharded succeeds "of GoogleTest" \
	ptxloom test --list "$table"
[ "$(sed -n 1p out)" = "$(sed -n 2p all)" ] && [ -e sharded ]
verdict $? "from the second on"

GTEST_TOTAL_SHARDS=4 refused 2 'GTEST_SHARD_INDEX has to be a number' "half of a shard" ptxloom test --list "$table"
TEST_TOTAL_SHARDS=200 TEST_SHARD_INDEX=150 XML_OUTPUT_FILE=e.xml succeeds "a shard without cases" \
	ptxloom test "$table"
[ "$(sed -n 2p out)" = '1..0 # SKIP no case belongs to this shard' ] && grep -q 'tests="0"' e.xml
verdict $? "has a plan, and a file"
TESTBRIDGE_TEST_ONLY='short (t4, seed 1)' succeeds "counted" ptxloom test --coverage=cov "$table"
is out "TAP version 13
1..1
ok 1 - short (t4, seed 1)"
[ "$(find cov -name '*.ptxcov' | wc -l)" = 1 ]
verdict $? "a profile for its process"

cat >few.ktest <<'END'
kernel saxpy in samples/saxpy.ptx
test good
    block 4  arg u32=4  arg f32=2
    buffer x:f32=1,2,3,4  buffer y:f32[4]=ones
    expect y = 3,5,7,9            # a list
test "two words" for n = 2
    block 8  arg u32=$n*4  arg f32=$n/4  buffer x:f32[${n}*2]  buffer y:f32[8]
test wrong for n = 3 for m = 1 2
    block 4  arg u32=4  arg f32=$m  buffer x:f32[4]=iota  buffer y:f32[4]
    expect y:f32 = $n*x - x tolerance abs=1e-6
test last
    block 4  arg u32=4  arg f32=2  buffer x:f32[4]  buffer y:f32[4]
    expect fault none
END
ends 1 "some fail" ptxloom test --junit f.xml few.ktest
says out '^ok 1 - good$'
says out '^not ok 2 - "two words" n=2$' "a fault"
says out '^# few.ktest:6: exit status 1$'
says out '^# ptxloom: error: Invalid address'
says out '^not ok 3 - wrong n=3 m=1$'
says out '^# y\[1\] = 1, expected 2$'
says out '^ok 4 - wrong n=3 m=2$'
says out '^ok 5 - last$' "and the others do not"
grep -q 'failures="2"' f.xml && grep -q '<failure message="another result than expected">y\[1\]' f.xml
ok $? "JUnit says why"

printf '\357\273\277kernel saxpy in samples/saxpy.ptx\n%s\n%s\n' 'test range for n = 8..11 20 for m = 3..3 1..x' \
	'    block $n arg u32=0 arg f32=2 buffer x:f32[4] buffer y:f32[4]' >range.ktest
succeeds "ranges of numbers, behind a mark of UTF-8" ptxloom test --list range.ktest
is out "range n=8 m=3
range n=8 m=1..x
range n=9 m=3
range n=9 m=1..x
range n=10 m=3
range n=10 m=1..x
range n=11 m=3
range n=11 m=1..x
range n=20 m=3
range n=20 m=1..x"

# wrong LINES PLACE MESSAGE: one message with its place, exit status 2, nothing is run.
wrong()
{
	printf '%b' "$1" >wrong.ktest
	ends 2 "refused: $3" ptxloom test wrong.ktest
	says err "^wrong.ktest:$2: error: .*$3"
	[ "$(grep -c error: err)" = 1 ] && [ ! -s out ]
	verdict $? "one message"
}
k='kernel saxpy in samples/saxpy.ptx\n'
wrong 'kernel saxpy in none.ptx\ntest a\n block 1\n' 1:17 'none.ptx: No such file'
wrong 'kernel saxpy in samples/saxpy.ptx -G\ntest a\n block 1\n' 1:35 'options are for sources'
wrong '' 1:1 'there is no test'
wrong 'test a\n block 1\n' 1:1 'no line says which kernel'
wrong 'kernel saxpy samples/saxpy.ptx\n' 1:8 'a kernel and its file are wanted'
wrong ' block 1\n' 1:2 'belongs to no test'
wrong "${k}tets a\n" 2:1 "'tets' is not known here"
wrong "${k}test\n" 2:1 'has no name'
wrong "${k}test a for n\n" 2:12 'a variable and its values'
wrong "${k}test a for n =\n" 2:12 'has no values'
wrong "${k}test a\n blok 1\n" 3:2 "a test has no 'blok'"
wrong "${k}test a\n block\n" 3:2 'a value is missing after block'
wrong "${k}test a\n block \$n\n" 3:8 'there is no variable \$n'
wrong "${k}test a\n grid 1/2\n" 3:7 "'1/2' is no whole number"
wrong "${k}test a\n grid ceil(1\n" 3:7 'a \) is missing at character 7'
wrong "${k}test a\n expect y\n" 3:9 'nothing that can be expected'
wrong "${k}test a\n arg \"u32=1\n" 3:6 'the quote is not closed'
wrong "${k}test a\n block 1/0\n" 3:8 "'1/0' is no whole number"
wrong "${k}test a\n arg f32=1/0\n" 3:6 "'1/0' is no finite number"
wrong "${k}test a\n block 99999999999999999999999\n" 3:8 'is no whole number of at most 64 bits'
wrong "${k}test a\n grid $(printf '%0200d' 0 | tr 0 '(')\n" 3:7 'nested too deeply'
wrong "${k}test a for n = 1 for n = 2\n block 1\n" 2:22 'two variables of this name'
wrong "${k}test a for n-1 = 1\n block 1\n" 2:12 'names are letters'
wrong "${k}test a\n block \\0001\n" 3:8 'this is no text'
wrong "${k}test a\n block $(printf '%070000d' 1)\n" 3:1 'more than 65536 bytes'
wrong "${k}test a for n = $(printf '%040000d' 1)\n block $(printf '%090d' 0 | sed 's/0/$n/g')\n" 3:8 \
	'longer than 1048576 bytes'
wrong "${k}test a for n = 1 m = 2\n block 1\n" 2:20 'a further variable begins with for'
wrong "${k}test a for n = 5..2\n block 1\n" 2:16 'no range of at most 1000000'
wrong "${k}test a for n = 1..2000000\n block 1\n" 2:16 'no range of at most 1000000'
wrong "${k}test b\n block 1\ntest a\n block 1\ntest a for n = 1\n block 2\ntest a\n block 1\n" 8:6 \
	"there are two cases 'a' of this kernel; the other is of line 4"
wrong "on t4, check mem race\n" 1:18 "'race' is not known here"
wrong "on t4, check mem h100\n" 1:18 "'h100' is not known here"
wrong "on t9\n" 1:4 "no device 't9'"
wrong "on t4,a100\n" 1:4 'one device is wanted'
wrong "on t4, seeds 5..1\n" 1:14 'seeds are numbers'
wrong "on t4, check foo\n" 1:14 'check takes a list of'
wrong "on t4, seed 1\n" 1:8 "'seed' is not known here"
wrong "${k}on t4, seeds 1..999999\ntest a for n = 1 2\n block 1\n" 3:6 'more than 1000000 cases'
refused 2 'none.ktest: error: No such file' "a file that is not there" ptxloom test none.ktest
refused 2 '^ptxloom test: error: --shard takes I/N' "no shard" ptxloom test --shard 5/4 "$table"
refused 2 'takes a number from 1' "no jobs" ptxloom test -j 0 "$table"
refused 2 "no case has a name that fits 'none'" "no such case" ptxloom test --filter none "$table"
refused 2 'no file given' "no table" ptxloom test
printf 'kernel f in none.cu\ntest a\n block 1\n' >none.ktest
refused 2 '^none.ktest:1:13: error: none.cu: No such file' "a source that is not there" ptxloom test none.ktest

cat >slow.ptx <<'END'
.version 6.0
.target sm_60
.address_size 64
.visible .entry slow()
{
	.reg .u64 %r<3>;
	.reg .pred %p;
	mov.u64 %r1, 0;
L:	add.u64 %r1, %r1, 3;
	mul.lo.u64 %r2, %r1, %r1;
	setp.ne.u64 %p, %r2, 9999999999;
	@%p bra L;
}
END
printf 'kernel slow in slow.ptx\ntest "#1"\n block 1\non t4, timeout 100ms\ntest "#2"\n block 1\n' >slow.ktest
ends 1 "a limit of time" ptxloom test --filter '*2*' slow.ktest
says out '^not ok 1 - "\\#2" \(t4\)$' "no directive"
says out '^# ptxloom: error: Timeout'
mv slow.ptx "slow$$.ptx"
sed "s/slow.ptx/slow$$.ptx/" slow.ktest >hang.ktest
ptxloom test -j 2 --junit i.xml hang.ktest >out 2>err &
pid=$!
until grep -q '^1\.\.2' out || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
kill -TERM "$pid"
wait "$pid"
ok "$(($? != 130))" "interrupted"
says out '^Bail out! interrupted$'
grep -q '</testsuites>' i.xml && ! pgrep -f "exec slow$$.ptx" >/dev/null
ok $? "nothing is left of it"

needs_clang
printf 'kernel "transpose<32>" in samples/testkit/bank.cu\ntest conflicts\n%s\n%s\n' \
	'    grid 2,2 block 32,32 buffer in:f32[4096]=iota buffer out:f32[4096]' \
	'    expect metric bank_conflicts == 3968' >source.ktest
succeeds "a source, and a kernel as it is called there" ptxloom test source.ktest
printf '%s\n' '    expect metric bank_conflicts == 0 at bank.cu:15' \
	'    expect metric bank_conflicts == 3968 at bank.cu:17' \
	'    expect metric global_ld_sectors == 512 at samples/testkit/bank.cu:15' >>source.ktest
succeeds "metrics of lines" ptxloom test source.ktest
for claim in 'bank_conflicts == 0 at bank.cu:17' 'barriers == 0 at bank.cu:2'; do
	sed "\$s|.*|    expect metric $claim|" source.ktest >wrong.ktest
	ends 1 "$claim" ptxloom test wrong.ktest
done
says out '^# no instruction that was launched is of bank.cu:2$' "a line without instructions"
finish
