# The sessions of docs/debugging.md are true, with programs of `ptxloom cc -G` and of nvcc -G.
. "${srcdir:-.}/tests/tap.sh"

for item in samples tests docs; do
	ln -s "$top/$item" "$scratch/$item"
done

# sessions TITLE ARGUMENTS...: a result for each command (tutorial.py).
sessions()
{
	title=$1
	shift
	(cd "$scratch" && python3 tests/debug/tutorial.py docs/debugging.md "$bin/ptxloom" "$@") \
		>"$scratch/out" 2>"$scratch/err"
	ok $? "$title: the sessions can be run"
	while IFS= read -r line; do
		case $line in
		"ok "*) ok 0 "$title: ${line#ok }" ;;
		"not ok "*) ok 1 "$title: ${line#not ok }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$scratch/out"
	grep -q '^ok' "$scratch/out"
	ok $? "$title: there are some"
}

if ! command -v python3 >/dev/null 2>&1; then
	skip "the sessions of the page" "no python3"
	finish
fi
if has_clang; then
	sessions "clang"
else
	skip "the sessions, clang" "$tap_no_clang"
fi
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || nvcc=
if [ -n "$nvcc" ]; then
	sessions "nvcc" --compiler "$nvcc -arch=sm_80" tests/debug/tutorial.nvcc
else
	skip "the sessions, nvcc -G" "no nvcc"
fi
finish
