# Kernels that are written in Python, stepped by their lines: Numba, Triton. Skipped where those are not installed.
. "${srcdir:-.}/tests/tap.sh"

debug()
{
	timeout 120 ptxloom debug --batch "$@"
}

if python3 -c 'import numba.cuda' 2>/dev/null; then
	succeeds "a program of Numba is debugged" debug -ex 'break scale.py:12' -ex run -ex 'print y' \
		-ex 'info lanes i' -ex next -ex 'print y' -ex reverse-next -ex 'print y' -ex delete -ex continue \
		-- python3 "$top/tests/debug/scale.py"
	says out 'Breakpoint 1: __main__::scale, CTA \(0,0,0\) warp 0, lanes 1 3 5 \.\. 31 \(aaaaaaaa\)' \
		"a line of Python stops the lanes that come there"
	says out '^12	            y = y \+ 1\.0$' "it is shown"
	says out '^\$1 = 2$' "variables have values"
	says out '55555555  scale\.py:13, waiting' "other lanes wait"
	says out '^\$2 = 3$' "a step goes on by a line"
	says out '^\$3 = 2$' "and back"
	says out '3\.  4\.  7\.  8\. 11\.' "the program ends as ever"
else
	skip "a program of Numba is debugged" "numba-cuda is not installed"
fi

if python3 -c 'import triton' 2>/dev/null &&
	python3 "$top/tests/debug/softmax.py" "$scratch/softmax.ptx" 2>/dev/null; then
	succeeds "a kernel of Triton is debugged" debug -ex 'break softmax.py:15' -ex run -ex 'delete' -ex next \
		-ex next -ex 'info registers %r1' -- "$scratch/softmax.ptx" --block 128 --shared 1024 \
		--buffer 'x:f32[128]' --buffer 'out:f32[128]' --arg s32=128 --arg u64=0 --arg u64=0
	says out '^15	    e = tl\.exp\(v - m\)$' "its line stops"
	says out '^16	    s = tl\.sum\(e, axis=0\)$' "steps go by lines of the kernel, not of the library"
	says out '%r1 ' "registers have values"
else
	skip "a kernel of Triton is debugged" "triton is not installed"
fi
finish
