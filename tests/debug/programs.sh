# `ptxloom debug` with whole programs: Ctrl-C in a kernel, several processes, shells, the driver interface, Python.
. "${srcdir:-.}/tests/tap.sh"

HOME=$scratch/home
TERM=xterm
export HOME TERM
mkdir "$HOME"
cd "$scratch" || exit 1

# debugged SCRIPT COMMAND...: a session of these commands.
debugged()
{
	printf '%s\n' "$1" >"$scratch/script"
	shift
	capture timeout 60 ptxloom debug --batch -x "$scratch/script" -- "$@"
}

# ---- the driver interface ----

succeeds "a program of the driver interface is built" ${CC:-gcc} -w "$top/tests/debug/loader.c" -o loader -ldl
debugged 'break 11
info breakpoints
run
info lanes
backtrace
continue' ./loader "$top/tests/debug/nvcc/diverge.ptx" _Z5pathsPi
verdict $? "it runs"
says out '^Breakpoint 1 at 11, when its code is loaded\.$'
says out '^Breakpoint 1: paths, CTA \(0,0,0\) warp 0, lanes .*\(aaaaaa00\)'
says out '^\*  9 11 13'
says out '^100 1101 2102 3103 104 1105 2106 3107$'
debugged 'run' ./loader "$top/tests/debug/nvcc/diverge.ptx" nothing
says out '^cuModuleGetFunction: 500$' "errors of the program are its own"
debugged 'break child if %tid.x == 2
break 68
run
print $_launch
info launches
stepi 2
print v
delete 1
continue
info launches
x/1dw p
print i
reverse-stepi 9
continue
continue' ./loader "$top/tests/debug/family.ptx" parent
verdict $? "kernels that a kernel launches and waits for stop"
says out '^Launch 2: child<<<\(2,1,1\), \(8,1,1\)>>>, launched by launch 1$'
says out '^Breakpoint 1: child, CTA \(0,0,0\) warp 0, lane 2 '
says out '^\$1 = 2$'
says out '^   1  *parent .* runs$' "its parent waits meanwhile"
says out '^\*  2  *child .* runs, launched by 1$'
says out '^\$2 = 3$' "its registers are seen"
says out '^Breakpoint 2: parent, CTA \(0,0,0\) warp 0, lane 0 ' "then the parent goes on"
says out '^   3  *child .* has ended, launched by 1$'
says out '0x[0-9a-f]*:.*112$' "with what they have written"
says out '^No more reverse-execution history' "going back ends where they ran"
says out '^112 112 0 0 0 0 0 0$' "the program ends as ever"
if command -v python3 >/dev/null 2>&1; then
	cat >"$scratch/program.py" <<'END'
import ctypes
import sys
cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel, buffer = (ctypes.c_void_p() for _ in range(4))
assert cuda.cuInit(0) == 0
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
assert cuda.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"_Z5pathsPi") == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(buffer), 128) == 0
params = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(buffer), ctypes.c_void_p))
assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, params, None) == 0
assert cuda.cuCtxSynchronize() == 0
print("all right")
END
	debugged 'break 9
run
print r
continue' python3 "$scratch/program.py" "$top/tests/debug/nvcc/diverge.ptx"
	says out '^Breakpoint 1: paths' "a program in Python stops"
	says out '^all right$'
	# The same module three times, each unloaded before the next.
	sed -e '/cuModuleLoad/,/cuCtxSynchronize/s/^/    /' -e '/cuModuleLoad/i for turn in range(3):' \
		-e '/cuCtxSynchronize/a\    assert cuda.cuModuleUnload(module) == 0' \
		"$scratch/program.py" >"$scratch/unload.py"
	sed -i -e '/cuMemAlloc/d' -e '/^for turn/i assert cuda.cuMemAlloc_v2(ctypes.byref(buffer), 128) == 0' \
		"$scratch/unload.py"
	debugged 'break 9 if lane == 3
run
watch out[3] if lane == 3
continue
continue
print r
continue
continue' python3 "$scratch/unload.py" "$top/tests/debug/nvcc/diverge.ptx"
	says out '^New value = 3103$' "a watchpoint in a module"
	says out '^Watchpoint 2 deleted: its code is no longer loaded' "ends with it"
	says out '^Launch 3' "conditions of breakpoints are read anew in the next one"
	says out '^all right$'
else
	skip "a program in Python stops" "no python3"
fi

# ---- processes ----

needs_clang
for name in forks spin race; do
	succeeds "$name is built" ptxloom cc -G "$top/tests/debug/$name.cu" -o "$name"
done
session='break one
run
print *p
continue
continue'
debugged "$session" ./forks
verdict $? "a child that uses CUDA before its parent"
says out '^child 0$'
says out '^parent 0 0$'
ok "$(skipping || [ "$(grep -c '^Breakpoint 1: one' "$scratch/out")" -eq 2 ]; echo $?)" "both are debugged"
debugged "$session" ./forks after
says out '^parent 0 0$' "a parent before its child"
debugged "break sum
$session
kill" sh -c './forks after; ./race; echo done'
says out '^Breakpoint 2: one' "programs that a shell starts"
says out '^Breakpoint 1: sum' "one after the other"
says out '^\[The program was killed\]$'

debugged 'break sum
run
delete
continue' sh -c './race & ./race; wait'
verdict $? "of two processes at once"
ok "$(skipping || [ "$(grep -c '^Launch 1' "$scratch/out")" -ge 1 ]; echo $?)" "one is debugged"
ok "$(skipping || [ "$(grep -c 'it should be 2016$' "$scratch/out")" -eq 2 ]; echo $?)" "and both run"
if command -v python3 >/dev/null 2>&1; then
	debugged 'run' python3 -c 'import subprocess; subprocess.run(["./race"])'
	says out 'it should be 2016$' "a child whose files were closed runs"
	says err 'runs without the debugger' "without the debugger"
fi

# Two debuggers at once do not know of each other.
skipping || {
	printf 'break 11\nrun\nprint part[t]\ncontinue\n' >"$scratch/script"
	timeout 60 ptxloom debug --batch -x "$scratch/script" -- ./race >"$scratch/one" 2>&1 &
	timeout 60 ptxloom debug --batch -x "$scratch/script" -- ./race >"$scratch/two" 2>&1
	wait $!
}
same "$scratch/one" "$scratch/two" "two debuggers at once"
says one '^\$1 = '

# ---- ends ----

debugged 'tbreak sum
run
shell kill -9 $(ps -o pid= -C race)
print part[0]
continue
print $_exitsignal
run
continue' ./race
says out 'ended by SIGKILL' "a program that is killed while it stands"
says out '^496, and it should be 2016$' "is started again"

# ---- Ctrl-C ----

# interrupted SCRIPT: spin, with an interrupt when it spins.
interrupted()
{
	printf '%s\n' "$1" >"$scratch/script"
	timeout 60 ptxloom debug --batch -x "$scratch/script" -- ./spin >"$scratch/out" 2>&1 &
	waits=$!
	for _ in $(seq 100); do
		! grep -q "$2" "$scratch/out" || break
		sleep 0.2
	done
	sleep 0.5
	kill -INT "$(ps -o pid= --ppid $waits)"
	wait $waits
}
skipping || interrupted 'run
print turns > 0
set var *stop = 1
continue' launching
says out '^Interrupted: spin' "an interrupt without a user"
says out '= true$' "is a stop that the script looks at"
says out '^cudaSuccess$' "and goes on from"
skipping || interrupted 'tbreak 6
run
until
until
until
print turns > 0
kill' 'at spin.cu:6'
says out '^Interrupted: spin' "a step that does not end is interrupted"
says out '= true$'

skipping || command -v python3 >/dev/null 2>&1 || skip_rest "no python3"
capture timeout 120 python3 "$top/tests/debug/terminal.py" ptxloom debug -- ./spin <<'END'
expect \(ptxloom\) 
type run
expect launching
keys \x03
expect Interrupted: spin
expect \(ptxloom\) 
type print turns
expect \$1 = \d+
type continue
keys \x03
expect Interrupted: spin
type set var *stop = 1
expect \(ptxloom\) 
type continue
expect cudaSuccess
expect exited normally
type quit
status 0
END
verdict $? "Ctrl-C stops a kernel that waits for ever, and a debugger lets it end"

skipping || command -v bash >/dev/null 2>&1 || skip_rest "no bash"
capture timeout 120 python3 "$top/tests/debug/terminal.py" bash --norc -i <<'END'
type PS1='sh> '
expect sh> 
type ptxloom debug ./spin
expect \(ptxloom\) 
type run
expect launching
keys \x1a
expect Stopped
expect sh> 
type echo in the shell
expect in the shell
type fg
keys \x03
expect Interrupted: spin
expect \(ptxloom\) 
type kill
expect y or n
type y
expect was killed
type quit
expect sh> 
type exit
status 0
END
verdict $? "Ctrl-Z suspends the program and the debugger"
finish
