# Recorded launches: repeated in another process they fault at the same place in the same lane, or leave the
# same bytes; files that are damaged, or no records, are refused.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# what FILE: the report of a fault, without where the host launched it.
what()
{
	grep -v '^ptxloom: note:\|^    launched by' "$1"
}

ptx=tests/exec/record.ptx
follow="ptxloom exec $ptx --kernel follow --block 32 --buffer p:u64[32] --buffer o:u64[32]"

# ---- a fault ----

# Addresses of the record hold in a process that would place its memory elsewhere.
capture env PTXLOOM_RECORD="$scratch/f.rec" $follow --arg u64=0xdead00000000
what "$scratch/err" >"$scratch/first"
says err "the launch of follow is recorded; repeat it by .ptxloom debug --replay $scratch/f.rec."
status 1 ptxloom exec --replay "$scratch/f.rec"
what "$scratch/err" >"$scratch/second"
ok "$(cmp "$scratch/first" "$scratch/second"; echo $?)" "a recorded fault comes again, at the same place and address"
says err 'this repeats the launch of follow<<<\(1,1,1\), \(32,1,1\), 0>>> of ptxloom on '
rm -f "$scratch/none.rec"
status 0 env PTXLOOM_RECORD="$scratch/none.rec" $follow --arg u64=0 --dump last
ok "$([ ! -e "$scratch/none.rec" ]; echo $?)" "without a fault there is no record"
status 1 env PTXLOOM_RECORD="$scratch/d.rec" ptxloom exec $ptx --kernel stuck --block 32
what "$scratch/err" >"$scratch/first"
status 1 ptxloom exec --replay "$scratch/d.rec"
what "$scratch/err" >"$scratch/second"
ok "$(cmp "$scratch/first" "$scratch/second"; echo $?)" "so does a deadlock"
status 1 env PTXLOOM_TIMEOUT=200 PTXLOOM_RECORD="$scratch/t-%p.rec" ptxloom exec $ptx --kernel hang --buffer p:u32[1]
set -- "$scratch"/t-[0-9]*.rec
ok "$([ -f "$1" ]; echo $?)" "%p in its name is the process"
status 1 timeout 60 ptxloom exec --replay "$1"
says err 'Timeout' "a launch that was stopped is stopped again"

# ---- a launch that is named ----

status 0 env PTXLOOM_RECORD="$scratch/l.rec" PTXLOOM_RECORD_LAUNCH=1 ptxloom exec $ptx \
	--kernel link --block 32 --buffer p:u64[32] --arg u32=32 --dump "p=$scratch/p1" --dump "last=$scratch/last1"
status 0 ptxloom exec --replay "$scratch/l.rec" --dump "arg0=$scratch/p2" --dump "last=$scratch/last2" \
	--dump "p=$scratch/p3"
ok "$(cmp "$scratch/p1" "$scratch/p2" && cmp "$scratch/p1" "$scratch/p3"; echo $?)" \
	"a repeated launch leaves the same bytes, addresses among them"
ok "$(cmp "$scratch/last1" "$scratch/last2"; echo $?)" "variables are where they were"
link="ptxloom exec $ptx --kernel link --block 32 --buffer p:u64[32] --arg u32=32"
status 0 env PTXLOOM_RECORD="$scratch/no.rec" PTXLOOM_RECORD_LAUNCH=other $link
says err "no.rec is not written: no kernel 'other' was launched"
status 0 env PTXLOOM_RECORD="$scratch/no.rec" PTXLOOM_RECORD_LAUNCH=2 $link
says err "no.rec is not written: there were 1 launches"
status 0 env PTXLOOM_RECORD=/nowhere/x PTXLOOM_RECORD_LAUNCH=link $link
says err 'is not recorded: /nowhere/x: No such file'
capture env PTXLOOM_RECORD="$scratch/no.rec" PTXLOOM_RECORD_LAUNCH=1 ptxloom exec $ptx --kernel fetch --arg u64=0
says err 'the launch of fetch is not recorded: textures and surfaces are not recorded'
ok "$([ ! -e "$scratch/no.rec" ]; echo $?)" "what cannot be recorded leaves no file"

# ---- under the debugger ----

stop='^Invalid address\|, lane 5 '
capture timeout 60 ptxloom debug --batch -ex run -- ${follow#ptxloom exec } --arg u64=0xdead00000000
grep "$stop" "$scratch/out" | sed 's/ at .*:/ at line /' >"$scratch/first"
capture timeout 60 ptxloom debug --replay "$scratch/f.rec" --batch -ex run -ex 'info breakpoints'
grep "$stop" "$scratch/out" | sed 's/ at .*:/ at line /' >"$scratch/second"
ok "$([ -s "$scratch/first" ] && cmp "$scratch/first" "$scratch/second"; echo $?)" \
	"the debugger stops a repeated launch where it stops the program"
capture timeout 60 ptxloom debug --replay "$scratch/l.rec" --batch -ex 'break link' -ex run -ex continue
says out '^Breakpoint 1' "breakpoints are set before it runs"

# ---- bad use ----

status 2 ptxloom exec --replay "$scratch/f.rec" $ptx
says err 'no file beside the record'
status 2 ptxloom exec --replay "$scratch/f.rec" --grid 2
says err 'does not go with'
status 1 ptxloom exec --replay /nowhere/x
says err '/nowhere/x: No such file'
status 1 ptxloom exec --replay $ptx
says err 'not a record of a launch'
: >"$scratch/empty.rec"
status 1 ptxloom exec --replay "$scratch/empty.rec"
says err 'not a record of a launch'
size=$(wc -c <"$scratch/f.rec")
for part in 17 100 $((size / 2)) $((size - 1)); do
	head -c "$part" "$scratch/f.rec" >"$scratch/cut.rec"
	status 1 ptxloom exec --replay "$scratch/cut.rec"
	says err 'damaged' "a file that was cut off after $part bytes is refused"
done
printf 'ptxlrec\n\2\0\0\0\1\0\0\0rest' >"$scratch/new.rec"
status 1 ptxloom exec --replay "$scratch/new.rec"
says err 'another version of ptxloom'
status 2 ptxloom debug --replay "$scratch/f.rec" -- true
says err 'no program beside the record'
status 2 ptxloom debug --batch -ex run --replay "$scratch/nowhere.rec"
says err '^ptxloom debug: error: .*nowhere.rec: No such file' "a missing file is reported before anything starts"
status 2 ptxloom debug --batch -ex run --replay $ptx
says err '^ptxloom debug: error: .*not a record of a launch'
status 2 ptxloom run --record-launch 1 -- true
says err 'needs --record FILE'
status 2 env PTXLOOM_RECORD_LAUNCH=1 ptxloom exec $ptx --kernel link --arg u64=0 --arg u32=1
says err 'PTXLOOM_RECORD_LAUNCH needs PTXLOOM_RECORD'
status 2 env PTXLOOM_RECORD=x PTXLOOM_RECORD_LAUNCH=0 ptxloom exec $ptx --kernel link --arg u64=0 --arg u32=1
says err 'counted from 1'

finish
