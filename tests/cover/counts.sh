# Coverage of kernels of PTX, counted by hand: blocks, branches, guards, selects, tables, calls; the same with any
# number of workers, any level of the host, in every mode of the engine; and with checks and profiles at once.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# run FOLDER COMMAND-AND-OPTIONS...: the kernel with 100 threads of which 70 have work.
run()
{
	where=$1
	shift
	PTXLOOM_COVERAGE=$scratch/$where "$@" --kernel mix --grid 3 --block 100 \
		--buffer out:u32[100] --arg u32=70 >"$scratch/out" 2>"$scratch/err"
}

exec="ptxloom exec tests/cover/counts.ptx -d a100"
run one $exec
verdict $? "a kernel runs and is counted"
status 0 ptxloom coverage report "$scratch/one"
cp "$scratch/out" "$scratch/report"

# line COUNT LANES TEXT: a line of the source, which may have parted warps
line()
{
	says report "^ *$1:[ 0-9]*: +$2[ ~0-9]*: .*$3" "$3: $1"
}

# Three CTAs: 300 threads come, 210 have work; the third warp of each CTA parts.
line 300 32/32 'setp.ge.u32 %p1'
line 300 32/32 '@%p1 bra DONE'
says report 'branch: jump 90, fall 210; 2 of 2 directions, 3 divergent warps'
line 210 32/32 'and.b32 %r3'
line 105 16/32 '@%p2 add.u32'
says report 'guard: true 105, false 105; 2 of 2 directions$'
says report 'select: true 105, false 105; 2 of 2 directions$'
# 18 threads of a CTA have 0, 18 have 1, 17 each have 2 and 3.
says report 'switch: case 0 54, case 1 54, case 2 51, case 3 51; 4 of 4 directions, 9 divergent warps'
line 54 8/32 'add.u32 %r5, %r5, 1;'
line 105 16/32 'add.u32 %r5, %r5, 2;'
line 51 8/32 'add.u32 %r5, %r5, 3;'
line 519 32/32 'setp.eq.u32 %p3'
line 309 24/32 'sub.u32 %r6'
line 210 32/32 'call \(%r7\)'
line 210 32/32 'setp.eq.u32 %p1, %a, 3'
line 159 24/32 'add.u32 %r, %a, %a;'
line '#####' '' '@%p4 st.global'
says report 'guard: true 0, false 210; 1 of 2 directions$'
line 210 32/32 'add.u32 %r5, %r5, %r7'
line 300 32/32 'ret;'
line '#####' '' 'ret;'
says report '^function mix .*: entered by 300 lanes$'
says report '^function never .*: never entered$'
says report '^functions: 66.7% \(2 of 3\)$'
status 0 ptxloom coverage report --lanes "$scratch/one"
says out 'branch: jump 3, fall 6, diverged 3; 3 of 3 outcomes'

# as_one FOLDER WHAT: the report is that of the first run, but for the folder of the text.
as_one()
{
	ptxloom coverage report "$scratch/$1" 2>&1 | sed "s,$scratch/$1/,$scratch/one/,g" >"$scratch/other"
	same "$scratch/report" "$scratch/other" "$2"
}

for workers in 1 2 8; do
	PTXLOOM_WORKERS=$workers run "w$workers" $exec
	as_one "w$workers" "counts are the same with $workers workers"
done
for level in base v2 v3 v4; do
	if PTXLOOM_HOST_ISA=$level run "isa$level" $exec || ! grep -q "$level" "$scratch/err"; then
		as_one "isa$level" "counts are the same on level $level"
	else
		skip "counts are the same on level $level" "the host has no such level"
	fi
done
PTXLOOM_SEED=7 run seed $exec
ptxloom coverage report --lcov "$scratch/seed" | grep -E '^(DA|BRDA)' >"$scratch/seeded"
ptxloom coverage report --lcov "$scratch/one" | grep -E '^(DA|BRDA)' >"$scratch/natural"
same "$scratch/natural" "$scratch/seeded" "lanes are the same with a seed"
run old ptxloom exec tests/cover/counts.ptx -d a100 --check=race
as_one old "counts are the same while races are looked for"
PTXLOOM_PROFILE=$scratch/profile run profiled $exec
as_one profiled "counts are the same while a profile is taken"
PTXLOOM_CHECK=init run init $exec
as_one init "counts are the same while values never written are looked for"

# What counts does nothing: a thread that returns early after it has done all is worth a warning.
PTXLOOM_COVERAGE=$scratch/sync ptxloom exec tests/check/sync.ptx -d h100 --check=sync --grid 2 --block 64 \
	--kernel warning_early_return_that_writes --buffer o:u32[256] >"$scratch/out" 2>"$scratch/err"
says err '^=+ Warning: Barrier error detected' "findings are the same while lines are counted"

# Lines by .loc: line 0 and headers are left out, inlined code counts where it is called, too, and its copies are added.
PTXLOOM_COVERAGE=$scratch/lines ptxloom exec tests/cover/lines.ptx --block 64 --arg u32=1 >"$scratch/out" 2>&1
for how in "" --instances; do
	status 0 ptxloom coverage report "$scratch/lines" --root . $how
	cp "$scratch/out" "$scratch/report"
	line 64 32/32 'calls h for all'
	line 16 16/32 'calls h for some'
	line 80 32/32 'h begins'
	line 8 8/32 'h ends'
	says report '^ +-: +5: +: is left out'
	ok "$(grep -qE '^ +[0-9]+: +(0|5|9):' "$scratch/report"; echo $((!$?)))" "no line 0, none that is left out $how"
done
says report '^device code is optimised: lines and branches are fewer than in the source$'
says report '^function line\(float\)'
status 0 ptxloom coverage report "$scratch/lines" --root . --lcov
says out '^SF:tests/cover/lines.txt$'
says out '^DA:6,80$'

# A launch that faults has run what led there.
PTXLOOM_COVERAGE=$scratch/fault ptxloom exec samples/saxpy.ptx --block 8 --arg u32=8 --arg f32=2 \
	--buffer x:f32[4] --buffer y:f32[8] >"$scratch/out" 2>&1
status 0 ptxloom coverage report "$scratch/fault"
says out '^ +8: .*ld.global.f32 %f1'

# What is counted must not change what runs: clocks and results are those without.
for way in with without; do
	where=
	[ $way = without ] || where=$scratch/clock
	PTXLOOM_COVERAGE=$where ptxloom exec tests/cover/clock.ptx --block 64 --buffer out:u32[64] --dump out \
		>"$scratch/$way" 2>&1
done
same "$scratch/with" "$scratch/without" "clocks are the same"
finish
