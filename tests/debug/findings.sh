# Findings of checks as stops of `ptxloom debug`; and what checks find under the debugger, which stops at each finding
# and goes back to it, is what they find without it: the kernels of tests/check.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/debug/sessions.inc.sh"

build_programs
PTXLOOM_CHECK=race,init,sync,mem
export PTXLOOM_CHECK
sessions "findings" "$top/tests/debug/findings.txt" --programs "$scratch/programs"
unset PTXLOOM_CHECK

cd "$srcdir" || exit 1

# A ptxloom that runs what follows `exec` under the debugger, and goes on at every stop.
mkdir "$scratch/under"
cat >"$scratch/under/ptxloom" <<END
#!/bin/sh
shift
"$bin/ptxloom" debug --batch -ex run $(printf -- '-ex continue %.0s' $(seq 40)) -- "\$@" \\
	>"$scratch/session"
exit "\$(sed -n 's/^.The program exited normally.*/0/p; s/^.The program exited with status \([0-9]*\).*/\1/p' \\
	"$scratch/session")"
END
chmod +x "$scratch/under/ptxloom"

for check in race sync; do
	# shellcheck source=/dev/null
	. "tests/check/$check.inc.sh"
	wrong=
	silent=
	for kernel in $kernels; do
		look "$kernel" "PATH=$scratch/under:$PATH"
		expected "$kernel" && at_lines "$kernel" || wrong="$wrong $kernel"
		# What ends the launch stops as a fault.
		case $kernel in
		fine_*) ! grep -q '^Catchpoint' "$scratch/session" || silent="$silent $kernel" ;;
		*) grep -q '^Catchpoint\|livelock\|^Deadlock\|^Misaligned' "$scratch/session" ||
			silent="$silent $kernel" ;;
		esac
	done
	empty "$wrong" "$check: the same is found under the debugger"
	empty "$silent" "$check: findings, and nothing else, stop"
done
. tests/check/init.inc.sh
wrong=
silent=
for kernel in $(kernels_of $registers); do
	look_at env PTXLOOM_CHECK=init "PATH=$scratch/under:$PATH" ptxloom exec $registers --kernel "$kernel" \
		--block 64 --buffer out:u32[64]
	is_expected $registers "$kernel" || wrong="$wrong $kernel"
	case $kernel in
	init_*) grep -q '^Catchpoint' "$scratch/session" || silent="$silent $kernel" ;;
	*) ! grep -q '^Catchpoint' "$scratch/session" || silent="$silent $kernel" ;;
	esac
done
empty "$wrong" "init: the same is found under the debugger"
empty "$silent" "init: findings, and nothing else, stop"
finish
