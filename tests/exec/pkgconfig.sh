# What pkg-config gives is enough for every sample in C, with the shared library and with the static one.
. "${srcdir:-.}/tests/style/tap.sh"
bin=$(cd "$builddir" && pwd)
top=$(cd "$srcdir" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
if ! command -v pkg-config >/dev/null; then
	skip "pkg-config" "no pkg-config"
	finish
fi
# As installed, but for the folders.
sed "s|^libdir=.*|libdir=$bin/.libs|; s|^includedir=.*|includedir=$top/include|" "$bin/ptxloom.pc" \
	>"$scratch/ptxloom.pc"
PKG_CONFIG_PATH=$scratch
PTXLOOM_WORKERS=1
export PKG_CONFIG_PATH PTXLOOM_WORKERS

# builds HOW SAMPLE FLAGS: compiles and runs.
builds()
{
	# shellcheck disable=SC2086
	${CC:-cc} "$top/samples/$2.c" -o "$scratch/$2" $3 >"$scratch/out" 2>&1 &&
		LD_LIBRARY_PATH=$bin/.libs "$scratch/$2" "$top/samples/$4.ptx" >"$scratch/out" 2>&1
	result=$?
	[ "$result" -eq 0 ] || sed 's/^/# /' "$scratch/out"
	ok "$result" "$2.c, $1"
}

for sample in "saxpy_test saxpy" "reduce reduce"; do
	builds "shared" "${sample% *}" "$(pkg-config --cflags --libs ptxloom)" "${sample#* }"
	if [ -e "$bin/.libs/libptxloom.a" ]; then
		flags=$(pkg-config --cflags --libs --static ptxloom | sed "s|-lptxloom|$bin/.libs/libptxloom.a|")
		builds "static" "${sample% *}" "$flags" "${sample#* }"
	else
		skip "${sample% *}.c, static" "no static library"
	fi
done
ok "$([ "$(cd "$top/samples" && echo *.c)" = "reduce.c saxpy_test.c" ]; echo $?)" "these are all samples in C"
finish
