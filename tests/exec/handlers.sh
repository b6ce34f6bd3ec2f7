# The handlers of memory instructions can be followed in a debugger: a breakpoint by line stops in a body, which
# has a name, arguments and a next line.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
program=$bin/ptxloom
[ ! -x "$libraries/ptxloom" ] || program=$libraries/ptxloom

# FUNCTION FILE: breakpoints are on every line of its body. Which of them have code is the compiler's choice; one
# at least has to stop.
cat >"$scratch/bodies" <<'EOF'
move_warps move_rows.h
load_part part_rows.h
modify_warps op_atom.c
load_apart op_local.c
store_apart op_local.c
EOF

if ! command -v gdb >/dev/null; then
	skip_rest "no gdb"
elif ! gdb --batch -nx -ex 'info line move_warps' "$program" 2>&1 | grep -q 'move_rows\.h'; then
	skip_rest "built without debugging information"
fi

{
	printf '%s\n' 'set pagination off' 'set width 0' 'set debuginfod enabled off'
	while read -r function file; do
		awk -v function_name="$function" -v file="src/ops/$file" '
			/^[a-z]/ && index($0, function_name "(") { inside = 1 }
			inside && /^}/ { exit }
			inside && /^\t/ { print "tbreak " file ":" FNR }' "src/ops/$file"
	done <"$scratch/bodies"
	echo run
	for _ in $(seq 120); do
		printf '%s\n' 'bt 2' next continue
	done
} >"$scratch/commands"
ok "$([ "$(grep -c '^tbreak' "$scratch/commands")" -ge 30 ]; echo $?)" "there are lines to stop at"

PTXLOOM_WORKERS=1 capture timeout 120 gdb --batch -nx -x "$scratch/commands" --args "$program" exec \
	tests/exec/handlers.ptx --block 32 --buffer "o:u32[32]" --buffer "i:u32[32]=iota" --dump o
while read -r function file; do
	# Frame 1 where the line calls what is inlined.
	says out "^#[01] .*[^a-z_]$function \(.*in=.* at .*src/ops/$file:[0-9]+$" \
		"a breakpoint in $file stops in $function"
done <"$scratch/bodies"
lines=$(grep -cE '^[0-9]+	' "$scratch/out")
ok "$([ "$lines" -ge 5 ]; echo $?)" "next goes on to another line"
says out 'o\[0\.\.7\] = 0 1 2 3 4 5 6 7' "and the kernel ends as it does without a debugger"
finish
