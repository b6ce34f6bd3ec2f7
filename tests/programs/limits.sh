# Programs with few addresses (ulimit -v), and programs that were built with a sanitizer of gcc's or clang's: the
# emulated GPU is there, nothing of it counts as lost at the end, and what cannot be says so.
. "${srcdir:-.}/tests/style/tap.sh"

PATH=$(cd "$builddir" && pwd):$PATH
libraries=$(cd "$builddir" && pwd)/.libs
here=$(cd "$srcdir" && pwd)/tests/programs
export PATH
unset PTXLOOM_DEVICE CUDA_VISIBLE_DEVICES PTXLOOM_LOG LD_PRELOAD LD_LIBRARY_PATH ASAN_OPTIONS LSAN_OPTIONS
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
: "${CC:=cc}"
cd "$scratch" || exit 1

# build NAME COMPILER OPTION...: a program of both interfaces, NAME.
build()
{
	name=$1
	shift
	"$@" "$here/small.c" -o "$name" "$libraries/libcudart.so.13" "$libraries/libcuda.so.1" \
		-Wl,--allow-shlib-undefined >out 2>&1
}

# passes DESCRIPTION COMMAND...: in front of a GPU, with nothing on standard error.
passes()
{
	description=$1
	shift
	"$@" >out 2>err
	status=$?
	grep -q 'all right' out && [ ! -s err ] || status=1
	[ "$status" -eq 0 ] || head -n 30 out err | sed 's/^/# /'
	ok "$status" "$description"
}

# shellcheck disable=SC2086 # words
build small ${CC#ccache } || {
	sed 's/^/# /' out
	ok 1 "the program builds"
	finish
	exit
}
# within KIBIBYTES COMMAND...
within()
{
	(
		ulimit -v "$1"
		shift
		timeout 60 "$@"
	)
}
for size in 40000000 10000000 4000000; do
	passes "ulimit -v $size" within "$size" ptxloom run ./small
done
for size in 1200000 600000 300000; do
	within "$size" ptxloom run ./small >out 2>err
	status=$?
	# Where it cannot be it is an error that the program sees, and a message.
	if [ "$status" -eq 0 ]; then
		grep -q 'all right' out
	else
		[ "$status" -eq 1 ] && grep -q 'error 2$' out &&
			grep -q '^ptxloom: error: .*addresses\|out of memory' err
	fi
	status=$?
	[ "$status" -eq 0 ] || sed 's/^/# /' out err
	ok "$status" "ulimit -v $size: works, or says why not"
done

# ---- sanitizers ----

# sanitized NAME COMPILER SANITIZER: with the preloaded library alone and with `run`.
sanitized()
{
	description="$2 -fsanitize=$3"
	if ! command -v "${2%% *}" >/dev/null || ! build "$1" $2 -g "-fsanitize=$3"; then
		skip "$description" "it does not build here"
		return
	fi
	passes "$description: LD_PRELOAD" env LD_PRELOAD="$libraries/libptxloom-preload.so" timeout 100 "./$1"
	passes "$description: run" timeout 100 ptxloom run "./$1"
	case $3 in
	address | leak)
		timeout 100 ptxloom run "./$1" lose >out 2>err
		status=$?
		grep -q 'in lose_some' err && [ "$(grep -c 'leak of' err)" -eq 1 ] && [ "$status" -ne 0 ]
		status=$?
		[ "$status" -eq 0 ] || sed 's/^/# /' err
		ok "$status" "$description: what the program loses is found, and nothing else"
		;;
	esac
}
for sanitizer in address leak undefined thread; do
	for compiler in gcc clang; do
		sanitized "${compiler}_$sanitizer" "$compiler" "$sanitizer"
	done
done
finish
