# Sourced by every shell test: TAP output, the programs that were built, a scratch folder, checks of what
# commands do, compilers, and the list of our own files. Not a test itself.
# Needs srcdir and builddir, which `make check` sets; by hand: srcdir=. builddir=build.
: "${srcdir:=.}" "${builddir:=build}"
top=$(cd "$srcdir" && pwd)
bin=$(cd "$builddir" && pwd)
libraries=$bin/.libs
PATH=$bin:$PATH
export PATH

# Whoever runs the tests may choose the host level; every other setting is the test's own.
for tap_name in $(env | sed -n 's/^\(PTXLOOM_[A-Z_]*\)=.*/\1/p' | grep -v '^PTXLOOM_HOST_ISA$'); do
	unset "$tap_name"
done
unset CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING LD_PRELOAD LD_LIBRARY_PATH

# A scratch folder, where `out` and `err` are what the last command printed, and one for temporary files of what is
# tested: another test that runs beside it makes some, too.
tap_folder=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$tap_folder"; rm -rf "$tap_folder"' EXIT
trap 'exit 1' HUP INT TERM
scratch=$tap_folder/scratch
TMPDIR=$tap_folder/tmp
mkdir "$scratch" "$TMPDIR" || exit 1
export TMPDIR
: >"$scratch/out"
: >"$scratch/err"

# ---- results ----

tap_count=0
tap_failed=0
tap_skipping=

# ok STATUS DESCRIPTION: one result; status 0 passes.
ok()
{
	tap_count=$((tap_count + 1))
	if [ -n "$tap_skipping" ]; then
		echo "ok $tap_count - $2 # SKIP $tap_skipping"
	elif [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $2"
	fi
}

# empty TEXT DESCRIPTION: passes when TEXT is empty; each line of TEXT is a finding and is shown.
empty()
{
	if [ -n "$1" ] && [ -z "$tap_skipping" ]; then
		printf '%s\n' "$1" | sed 's/^/# /'
		ok 1 "$2"
	else
		ok 0 "$2"
	fi
}

# skip DESCRIPTION REASON: one result that is not to be had here.
skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# skip_rest REASON: from here on every check is a line that says why it is skipped; empty: no longer. Commands that
# checks would run are not run; others ask `skipping`.
skip_rest()
{
	tap_skipping=$1
}

skipping()
{
	[ -n "$tap_skipping" ]
}

# The plan at the end; a test that dies on the way has none and fails, and so does one without a result.
finish()
{
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ] && [ "$tap_count" -gt 0 ]
	exit
}

# ---- commands ----

# capture COMMAND...: its output goes to $scratch/out and $scratch/err, its status is ours.
capture()
{
	skipping || "$@" >"$scratch/out" 2>"$scratch/err"
}

# verdict STATUS DESCRIPTION: a result; if it fails, what the last command printed is shown.
verdict()
{
	[ "$1" -eq 0 ] || skipping ||
		cat "$scratch/out" "$scratch/err" | head -n 30 | cut -c1-300 | sed 's/^/# /'
	ok "$1" "$2"
}

# ends STATUS DESCRIPTION COMMAND...
ends()
{
	tap_want=$1
	tap_what=$2
	shift 2
	capture "$@"
	tap_got=$?
	[ "$tap_got" -eq "$tap_want" ] || skipping || echo "# exit status $tap_got, expected $tap_want"
	verdict "$([ "$tap_got" -eq "$tap_want" ]; echo $?)" "$tap_what"
}

# succeeds DESCRIPTION COMMAND...
succeeds()
{
	tap_what=$1
	shift
	ends 0 "$tap_what" "$@"
}

# status WANT COMMAND...: described by itself.
status()
{
	tap_want=$1
	shift
	ends "$tap_want" "$* exits with $tap_want" "$@"
}

# refused STATUS TEXT DESCRIPTION COMMAND...: it ends so and says so.
refused()
{
	tap_want=$1
	tap_text=$2
	tap_what=$3
	shift 3
	capture "$@"
	tap_got=$?
	[ "$tap_got" -eq "$tap_want" ] && grep -q -- "$tap_text" "$scratch/out" "$scratch/err"
	verdict $? "$tap_what"
}

# is FILE TEXT: all of $scratch/FILE.
is()
{
	[ "$(cat "$scratch/$1")" = "$2" ]
	verdict $? "$1 is as expected"
}

# says FILE PATTERN [DESCRIPTION]: a line of $scratch/FILE, or of the output and the errors if it is `any`, matches.
says()
{
	case $1 in
	any) grep -qE -- "$2" "$scratch/out" "$scratch/err" ;;
	*) grep -qE -- "$2" "$scratch/$1" ;;
	esac
	verdict $? "${3:-$1: $2}"
}

# compiles_runs: is PTXLOOM_TIER=2 to be had, LLVM and a level of the host for which runs are compiled?
compiles_runs()
{
	! PTXLOOM_TIER=2 ptxloom exec "$top/samples/saxpy.ptx" 2>&1 | grep -q 'PTXLOOM_TIER=2'
}

# same FILE FILE DESCRIPTION: byte for byte; of text that differs the first lines are shown.
same()
{
	cmp -s "$1" "$2"
	tap_got=$?
	[ "$tap_got" -eq 0 ] || skipping || diff "$1" "$2" | head -n 30 | cut -c1-300 | sed 's/^/# /'
	ok "$tap_got" "$3"
}

# golden HOW FILE EXPECTED DESCRIPTION: $scratch/FILE is as the file EXPECTED, which is written if HOW is --update.
golden()
{
	[ "$1" != --update ] || cp "$scratch/$2" "$3"
	same "$3" "$scratch/$2" "$4"
}

# ---- compilers ----

# has_clang: can `ptxloom cc` compile? Where it cannot, $tap_no_clang says why.
has_clang()
{
	if [ -z "${tap_no_clang+asked}" ]; then
		tap_no_clang=
		ptxloom cc -ptx "$top/samples/vector_add.cu" -o "$scratch/probe.ptx" >"$scratch/probe" 2>&1
		if grep -q 'clang is not found' "$scratch/probe"; then
			tap_no_clang="no clang"
		elif grep -qE 'No available targets|unable to create target' "$scratch/probe"; then
			tap_no_clang="a clang without NVPTX"
		fi
	fi
	[ -z "$tap_no_clang" ]
}

# needs_clang: without it the checks that follow are skipped one by one, otherwise they are not.
needs_clang()
{
	has_clang
	skip_rest "$tap_no_clang"
}

# needs_nvcc: the same for the toolkit's compiler, $nvcc.
needs_nvcc()
{
	nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc)
	skip_rest "$([ -n "$nvcc" ] || echo no nvcc)"
}

# works DESCRIPTION COMMAND...: it succeeds and has said that all is right.
works()
{
	tap_what=$1
	shift
	capture "$@" && grep -q 'all right' "$scratch/out"
	verdict $? "$tap_what"
}

# ---- our files ----

# ours: of the files on standard input, those that flex, bison and our own generators have not written, which say so
# in their first lines.
ours()
{
	xargs awk '
		FNR == 1 { if (file != "") print file; file = FILENAME }
		/A Bison parser|scanner generated by flex|^(\/\*| \*|\/\/|#) ?Generated (by|from)/ { file = "" }
		FNR == 8 { nextfile }
		END { if (file != "") print file }'
}

# sources PATTERN...: our own C files by name pattern, relative to srcdir, without generated ones.
sources()
{
	(
		cd "$srcdir" || exit 1
		for pattern in "$@"; do
			find src grammar include runtime tests samples -name "$pattern" -type f 2>/dev/null
		done | grep -v '^tests/programs/.*/build/' | sort | ours
	)
}

# Every text file of ours, relative to srcdir.
all_files()
{
	(
		cd "$srcdir" || exit 1
		if [ -e .git ] && git ls-files --error-unmatch bootstrap >/dev/null 2>&1; then
			git ls-files --cached --others --exclude-standard | while read -r file; do
				[ ! -f "$file" ] || echo "$file"
			done
			exit
		fi
		# An unpacked release, where nothing says what is ours. _build and _inst are distcheck's.
		find . \( -name .git -o -name build -o -name 'build-*' -o -name _build -o -name _inst \
			-o -name autom4te.cache -o -name .deps -o -name .libs -o -name m4 \
			-o -name __pycache__ \) -prune -o -type f -print |
			grep -Ev '/(Makefile(\.in)?|aclocal\.m4|configure~?|libtool|ptxloom\.pc)$' |
			grep -Ev '/config\.(log|status|h|h\.in~?)$' |
			grep -Ev '\.(o|lo|la|a|so|log|trs|gcda|gcno|cubin|fatbin|bin|xz)$' |
			sed 's,^\./,,' | sort
	)
}
