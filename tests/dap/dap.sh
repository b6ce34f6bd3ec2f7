# `ptxloom dap` with a client of our own, through whole sessions.
. "${srcdir:-.}/tests/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "sessions of an editor" "there is no python3"
	finish
fi
for program in diverge fault deadlock race spin targets; do
	if ! ptxloom cc -G "$top/tests/debug/$program.cu" -o "$scratch/$program" 2>"$scratch/err"; then
		skip "sessions of an editor" "no CUDA C++ can be compiled here: $(head -n 1 "$scratch/err")"
		finish
	fi
done
PYTHONDONTWRITEBYTECODE=1 timeout 900 python3 "$top/tests/dap/sessions.py" "$bin/ptxloom" "$scratch" \
	"$top/tests/debug" \
	breakpoints fault changes deadlock reasons points code patience frames targets jumps attach ptx killed \
	>"$scratch/sessions" 2>"$scratch/err"
status=$?
grep -v '^1\.\.' "$scratch/sessions"
tap_count=$(grep -c '^\(not \)\{0,1\}ok ' "$scratch/sessions")
ok "$status" "the sessions of the client end well"
sed 's/^/# /' "$scratch/err" | head -n 20
finish
