# Programs with few addresses (ulimit -v), and programs that were built with a sanitizer of gcc's or clang's: the
# emulated GPU is there, nothing of it counts as lost at the end, and what cannot be says so.
. "${srcdir:-.}/tests/tap.sh"

here=$top/tests/programs
unset ASAN_OPTIONS LSAN_OPTIONS
: "${CC:=cc}"
cd "$scratch" || exit 1

# build NAME COMPILER OPTION...: a program of both interfaces, NAME.
build()
{
	name=$1
	shift
	capture "$@" "$here/small.c" -o "$name" "$libraries/libcudart.so.13" "$libraries/libcuda.so.1" \
		-Wl,--allow-shlib-undefined
}

# passes DESCRIPTION COMMAND...: in front of a GPU, with nothing on standard error.
passes()
{
	description=$1
	shift
	capture "$@" && grep -q 'all right' out && [ ! -s err ]
	verdict $? "$description"
}

# shellcheck disable=SC2086 # words
build small ${CC#ccache }
verdict $? "the program builds"
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
	capture within "$size" ptxloom run ./small
	status=$?
	# Where it cannot be it is an error that the program sees, and a message.
	if [ "$status" -eq 0 ]; then
		grep -q 'all right' out
	else
		[ "$status" -eq 1 ] && grep -q 'error 2$' out &&
			grep -q '^ptxloom: error: .*address space\|out of memory' err
	fi
	verdict $? "ulimit -v $size: works, or says why not"
done

# ---- sanitizers ----

# sanitized NAME COMPILER SANITIZER: with the preloaded library alone and with `run`.
sanitized()
{
	description="$2 -fsanitize=$3"
	skip_rest ""
	# shellcheck disable=SC2086
	if ! command -v "${2%% *}" >/dev/null || ! build "$1" $2 -g "-fsanitize=$3"; then
		skip_rest "it does not build here"
	fi
	passes "$description: LD_PRELOAD" env LD_PRELOAD="$libraries/libptxloom-preload.so" timeout 100 "./$1"
	passes "$description: run" timeout 100 ptxloom run "./$1"
	case $3 in
	address | leak)
		! capture timeout 100 ptxloom run "./$1" lose && grep -q 'in lose_some' err &&
			[ "$(grep -c 'leak of' err)" -eq 1 ]
		verdict $? "$description: what the program loses is found, and nothing else"
		;;
	esac
}
for sanitizer in address leak undefined thread; do
	for compiler in gcc clang; do
		sanitized "${compiler}_$sanitizer" "$compiler" "$sanitizer"
	done
done
finish
