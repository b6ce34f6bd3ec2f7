# `ptxloom dap` and what is not the protocol, or asks for what cannot be: no program with kernels is needed.
. "${srcdir:-.}/tests/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "bad requests of an editor" "there is no python3"
	finish
fi
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$top/tests/dap/sessions.py" "$bin/ptxloom" "$scratch" \
	"$top/tests/debug" refusals cuts port >"$scratch/sessions" 2>"$scratch/err"
status=$?
grep -v '^1\.\.' "$scratch/sessions"
tap_count=$(grep -c '^\(not \)\{0,1\}ok ' "$scratch/sessions")
ok "$status" "the sessions of the client end well"
ends 2 "an invalid port" ptxloom dap --port 70000
ends 2 "a port that is missing" ptxloom dap --port
ends 2 "an option that is none" ptxloom dap --frobnicate
finish
