# Golden tests of `ptxloom ls` and `ptxloom ptx` on the binaries of this folder.
# With --update the golden files are written instead of compared.
. "${srcdir:-.}/tests/tap.sh"

images=$top/tests/images
cd "$images" || exit 1

listed="default.exe sass.exe rdc.exe rdc_lineinfo.exe library.so archive.a lto.obj
	none.fatbin size.fatbin speed.fatbin balance.fatbin targets.fatbin debug.fatbin lineinfo.cubin text.ptx"
for file in $listed; do
	ptxloom ls "$file" || echo "exit status $?"
done >"$scratch/ls" 2>&1
for file in rdc.exe lto.obj lineinfo.cubin archive.a; do
	ptxloom ls --json "$file" || echo "exit status $?"
done >"$scratch/json" 2>&1
golden "${1:-}" ls ls.golden "ls prints what ls.golden says"
golden "${1:-}" json json.golden "ls --json prints what json.golden says"

# fails STATUS TEXT COMMAND...: exits with STATUS, says TEXT (a fixed string) and nothing on stdout.
fails()
{
	expected=$1
	text=$2
	shift 2
	capture "$@" </dev/null
	[ $? -eq "$expected" ] && [ ! -s "$scratch/out" ] && grep -qF -e "$text" "$scratch/err"
	verdict $? "$*: $text"
}

ptxloom ptx text.ptx >"$scratch/text"
same text.ptx "$scratch/text" "PTX text is passed through byte for byte"
ptxloom ptx - <text.ptx >"$scratch/text"
same text.ptx "$scratch/text" "standard input is read"
cat default.exe | ptxloom ls - >"$scratch/pipe"
ptxloom ls - <default.exe >"$scratch/stdin"
same "$scratch/pipe" "$scratch/stdin" "a pipe and a file on standard input give the same"

for mode in none size speed balance; do
	ptxloom ptx $mode.fatbin >"$scratch/$mode.ptx"
	same "$scratch/none.ptx" "$scratch/$mode.ptx" "compress mode $mode: the same text"
done
succeeds "no NUL at the end of the text" [ "$(tail -c 1 "$scratch/none.ptx" | od -An -tx1)" = " 0a" ]
succeeds "the text has both kernels" [ "$(grep -c '\.entry' "$scratch/none.ptx")" -eq 2 ]

ptxloom ptx -o "$scratch/rdc" rdc.exe
succeeds "-o makes the folder and one file per unit" \
	[ "$(ls "$scratch/rdc" | tr '\n' ' ')" = "rdc.exe.2.sm_80.ptx rdc.exe.4.sm_80.ptx " ]
ptxloom ptx -o "$scratch/rdcl" rdc_lineinfo.exe
succeeds "debug text of a device link: both of the link, one of each unit" \
	[ "$(ls "$scratch/rdcl" | wc -l)" -eq 4 ]
same "$scratch/rdcl/rdc_lineinfo.exe.0.sm_80.ptx" "$scratch/rdcl/rdc_lineinfo.exe.1.sm_80.ptx" \
	"the link keeps the text of the first unit"
same "$scratch/rdcl/rdc_lineinfo.exe.0-1.sm_80.ptx" "$scratch/rdcl/rdc_lineinfo.exe.2.sm_80.ptx" \
	"the link keeps the text of the second unit"
ptxloom ptx lineinfo.cubin >"$scratch/lineinfo.ptx"
succeeds "lines of debug text end in newlines" grep -q '^\.version 9\.0$' "$scratch/lineinfo.ptx"
succeeds "debug text has the kernels" grep -q '^\.visible \.entry fill' "$scratch/lineinfo.ptx"

# chosen ARCH TARGET: --arch=ARCH takes the PTX that says .target TARGET.
chosen()
{
	ptxloom ptx --arch="$1" targets.fatbin >"$scratch/chosen" 2>"$scratch/note"
	succeeds "--arch=$1 takes $2" grep -qx ".target $2" "$scratch/chosen"
}
chosen sm_60 sm_75
succeeds "PTX above the device is noted" grep -qF "$scratch/note" -e \
	"targets.fatbin: note: container 0 has no PTX for sm_60 or lower; compute_75 is the nearest"
chosen sm_75 sm_75
chosen sm_80 sm_75
succeeds "PTX below the device is not noted" [ ! -s "$scratch/note" ]
chosen 90 sm_90a
chosen compute_100 sm_100f
chosen sm_103 sm_100f
chosen sm_120 sm_90

fails 1 "sass.exe: error: no PTX, only machine code for sm_80" ptxloom ptx sass.exe
fails 1 '`-gencode arch=compute_80,code=compute_80`' ptxloom ptx sass.exe
fails 1 '`-gencode arch=compute_90,code=compute_90`' ptxloom ptx --arch=sm_90 sass.exe
fails 1 'add `-lineinfo`' ptxloom ptx sass.exe
fails 1 "nvcc 13 and later: compute_75" ptxloom ptx --arch=sm_60 sass.exe
fails 1 "image 0 is SASS without PTX text" ptxloom ptx --index=0 sass.exe
fails 1 "no image 99; there are 2" ptxloom ptx --index=99 sass.exe
fails 1 "README.md: error: not a CUDA binary or PTX text" ptxloom ls README.md
fails 1 "the file is empty" ptxloom ls /dev/null
fails 2 "no_such_file: error: No such file or directory" ptxloom ls no_such_file
fails 2 ": error: Is a directory" ptxloom ls .
fails 2 "no file given" ptxloom ls
fails 2 "more than one file given" ptxloom ptx a b
fails 2 "unknown option '--nonsense'" ptxloom ls --nonsense text.ptx
fails 2 "option '--arch' needs a value" ptxloom ptx text.ptx --arch
fails 2 "'sm80' is not a target" ptxloom ptx --arch=sm80 text.ptx
fails 2 "'-1' is not an image index" ptxloom ptx --index=-1 text.ptx
fails 2 "exclude each other" ptxloom ptx --index=1 --arch=sm_80 text.ptx

head -c 4000 none.fatbin >"$scratch/cut.fatbin"
fails 1 "cut.fatbin: error: a container of 6680 bytes where 3984 are left (at offset 0x0)" \
	ptxloom ls "$scratch/cut.fatbin"
ptxloom ls --json "$scratch/cut.fatbin" >"$scratch/json" 2>/dev/null
succeeds "--json carries the error" grep -q '"error": ".*where 3984 are left' "$scratch/json"

# Executables and objects cut anywhere say so, or list what is left of them.
for size in 16 40 63 64 200 5000; do
	head -c "$size" default.exe >"$scratch/cut.exe"
	fails 1 "cut.exe: error: the file is cut short: it has $size bytes and needs " ptxloom ls "$scratch/cut.exe"
done

if [ -w /dev/full ]; then
	for command in "ls text.ptx" "ls --json text.ptx" "ptx text.ptx" "ls --help" "lint --rows" \
		"lint --print text.ptx" "env" "devices" "--version" "--help" \
		"help run" "exec --dump-program --kernel fill text.ptx"; do
		status=0
		ptxloom $command >/dev/full 2>"$scratch/err" || status=$?
		[ "$status" -eq 2 ] && grep -q "standard output: " "$scratch/err"
		ok $? "$command: a full disk is reported"
		status=0
		ptxloom $command >&- 2>"$scratch/err" || status=$?
		[ "$status" -eq 2 ] && grep -q "standard output: " "$scratch/err"
		ok $? "$command: a closed output is reported"
	done
else
	skip "a full disk is reported" "no /dev/full"
fi
fails 2 ": Not a directory" ptxloom ptx -o text.ptx/folder text.ptx
mkdir "$scratch/taken" "$scratch/taken/text.ptx.0.sm_80.ptx"
fails 2 "text.ptx.0.sm_80.ptx: Is a directory" ptxloom ptx -o "$scratch/taken" text.ptx
succeeds "no partial file is left behind" [ "$(ls -A "$scratch/taken")" = text.ptx.0.sm_80.ptx ]
if (ulimit -f 1 && trap '' XFSZ && head -c 100000 /dev/zero >"$scratch/big") 2>/dev/null; then
	skip "a file cut short is removed" "no limit on file sizes"
else
	mkdir "$scratch/short"
	(
		ulimit -f 1
		trap '' XFSZ
		ptxloom ptx -o "$scratch/short" text.ptx 2>"$scratch/err"
		echo $? >"$scratch/status"
	)
	[ "$(cat "$scratch/status")" -eq 2 ] && [ -z "$(ls -A "$scratch/short")" ]
	ok $? "a file cut short is removed"
fi
finish
