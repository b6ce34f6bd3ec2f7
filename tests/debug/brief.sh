# Sessions of `ptxloom debug` with PTX of nvcc -G, which need no compiler: what make check-quick runs; the others are in
# sessions.sh.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/debug/sessions.inc.sh"

sessions "nvcc" "$top/tests/debug/checks.txt" --ptx "$top/tests/debug/nvcc"
finish
