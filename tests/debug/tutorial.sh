# The sessions of docs/debugging.md are true.
. "${srcdir:-.}/tests/tap.sh"

needs_clang
skipping || command -v python3 >/dev/null 2>&1 || skip_rest "no python3"
for item in samples tests docs; do
	ln -s "$top/$item" "$scratch/$item"
done
skipping || (cd "$scratch" && python3 tests/debug/tutorial.py docs/debugging.md "$bin/ptxloom") \
	>"$scratch/out" 2>"$scratch/err"
verdict $? "the sessions can be run"
skipping || while IFS= read -r line; do
	case $line in
	"ok "*) ok 0 "${line#ok }" ;;
	"not ok "*) ok 1 "${line#not ok }" ;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$scratch/out"
ok "$(skipping || grep -q '^ok' "$scratch/out"; echo $?)" "there are some"
finish
