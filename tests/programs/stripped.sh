# Programs and libraries without symbols that carry a static runtime: learned, recognised, taken over; and
# what is not known, or damaged, which is left as it is.
. "${srcdir:-.}/tests/tap.sh"

here=$top/tests/programs
: "${CC:=cc}"
XDG_DATA_HOME=$scratch/data
export XDG_DATA_HOME
cd "$scratch" || exit 1

# build NAME OPTION...: an archive of the runtime, a program with it and a library, and both stripped.
build()
{
	name=$1
	shift
	(
		set -e
		$CC -O2 -fPIC -fvisibility=hidden "$@" -c "$here/stripped_runtime.c" -o "$name.o"
		rm -f "$name.a"
		ar rcs "$name.a" "$name.o"
		$CC "$here/runtime_user.c" -Wl,--whole-archive "$name.a" -Wl,--no-whole-archive -o "$name" -ldl
		$CC -shared -fPIC -DLIBRARY "$here/runtime_user.c" -Wl,--whole-archive "$name.a" \
			-Wl,--no-whole-archive -o "$name.so" -ldl
		strip -o "$name.stripped" "$name"
		strip -o "$name.stripped.so" "$name.so"
	)
}
{
	build one && build apart -DTWINS -ffunction-sections && build other -DOTHER &&
		$CC "$here/opener.c" -o opener -ldl &&
		{ strip --version && ar --version && nm --version; } >/dev/null
} >out 2>&1
verdict $? "programs with a static runtime build"

# finds FILE NAME: what is found in FILE.stripped is where NAME, which has symbols, has it.
finds()
{
	nm "$1" | sed -n 's/^0*\([0-9a-f]*\) [Tt] \(\(__\)\{0,1\}cuda[A-Z].*\)/0x\1 \2/p' | sort >expected
	ptxloom learn --find "$2" >found 2>err
	sed -n 's/^\(0x[0-9a-f]* [^ ]*\) .*/\1/p' found | sort >actual
	[ -s expected ] && cmp expected actual >out 2>&1
}

# ---- what is not known ----

ends 1 "a runtime that is not known is left alone" ptxloom run ./one.stripped
says any 'error 35' "and answers itself"
says any 'ptxloom learn' "a message says what to do"
ok "$([ "$(grep -c '^ptxloom:' err)" -eq 2 ]; echo $?)" "once"
ends 1 "the same in a library" ptxloom run ./opener ./other.stripped.so user_run
says any 'other.stripped.so carries a static CUDA runtime that is not known' "which is named"
works "one with symbols needs no table" ptxloom run ./one

# ---- learning ----

succeeds "an archive is learned" ptxloom learn --name test one.a
says any "$scratch/data/ptxloom/runtimes/test.sig: 10 functions" "its table is in the user's folder"
works "a stripped program runs" ptxloom run ./one.stripped
ok "$([ ! -s err ]; echo $?)" "without a message"
works "a stripped library" ptxloom run ./opener ./one.stripped.so user_run
PTXLOOM_LOG=debug ptxloom run ./one.stripped 2>err >out
says any 'of test 10 of 10 functions recognised' "the log says what was recognised"
finds one one.stripped
verdict $? "its functions are found where they are"
finds one.so one.stripped.so
verdict $? "in the library, too"
ptxloom learn -o - --name sections apart.a >data/ptxloom/runtimes/apart.sig
works "functions in sections of their own" ptxloom run ./apart.stripped
finds apart apart.stripped
verdict $? "are found where they are, two of one body in their order"

# ---- another build ----

rm data/ptxloom/runtimes/apart.sig
works "an unknown build whose entry points refer to their names" ptxloom run ./other.stripped
finds other other.stripped
verdict $? "they are found by their names"
says found ' 2 of its 10 functions, 8 more by name' "the others have the bodies that are known"

# Bytes of cudaMalloc, in the middle of its body.
ptxloom learn --find one.stripped >found
at=$(sed -n 's/^\(0x[0-9a-f]*\) cudaMalloc whole/\1/p' found)
cp one.stripped changed
printf '\220\220\220' | dd of=changed bs=1 seek=$((at + 20)) conv=notrunc 2>/dev/null
ptxloom learn --find changed >found 2>err
ok "$(grep -q cudaFree found && ! grep -q cudaMalloc found; echo $?)" "a function that differs in a byte is not found"
PTXLOOM_LOG=debug ptxloom run ./changed >out 2>err
says any 'of test 9 of 10 functions recognised' "and not overwritten; the others are"

# ---- what is damaged ----

head -c 3000 one.a >short.a
ends 1 "an archive that ends too soon" ptxloom learn short.a
says any 'short.a: member [0-9]*: ' "says where"
ends 1 "a text is no archive" ptxloom learn "$here/stripped_runtime.c"
says any 'neither an archive nor an object' "it says"
echo 'int f(void) { return 1; }' >plain.c
$CC -c plain.c -o plain.o && ends 1 "an object without a runtime" ptxloom learn plain.o
says any 'no function of the CUDA runtime' "it says"
ends 2 "a file that is not there" ptxloom learn none.a
ends 2 "a folder that cannot be written" ptxloom learn -o none/x.sig one.a
ends 2 "options that contradict each other" ptxloom learn --find -o x.sig one
ends 2 "a name that is a path" ptxloom learn --name ../x one.a
ends 2 "no file" ptxloom learn
ends 1 "nothing to find" ptxloom learn --find opener
echo 'cudaMalloc 1 2' >data/ptxloom/runtimes/bad.sig
works "a damaged table is left out" ptxloom run ./one.stripped
says err "bad.sig: line 1: no line 'runtime NAME' before it" "a message has file and line"
ok "$([ "$(wc -l <err)" -eq 1 ]; echo $?)" "once"
rm data/ptxloom/runtimes/bad.sig

# ---- runtimes of the toolkit ----

needs_nvcc
XDG_DATA_HOME=$scratch/empty
for how in "" "-rdc=true" "-Xcompiler -fno-pie -Xlinker -no-pie"; do
	# shellcheck disable=SC2086 # options
	succeeds "nvcc $how, static runtime: builds" "$nvcc" -arch=sm_80 -cudart static $how \
		"$top/samples/vector_add.cu" -o program
	strip program
	works "nvcc $how, stripped: runs" ptxloom run ./program
done
# The libraries beside it: almost every function is found.
beside=${nvcc%/bin/nvcc}/lib64
for name in cublas cublasLt cusparse cusolver curand nccl; do
	skipping && break
	file=$(ls "$beside/lib$name".so.[0-9]* 2>/dev/null | head -n 1)
	if [ -z "$file" ]; then
		skip "lib$name" "the toolkit has none"
		continue
	fi
	ptxloom learn --find "$file" >found 2>err
	ok "$([ "$(grep -c '^0x' found)" -gt 400 ]; echo $?)" "the runtime in lib$name is recognised"
done
finish
