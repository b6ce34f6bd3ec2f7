# What pkg-config gives is enough for every sample in C, with the shared library and with the static one.
. "${srcdir:-.}/tests/tap.sh"
if ! command -v pkg-config >/dev/null; then
	skip_rest "no pkg-config"
fi
# As installed, but for the folders.
sed "s|^libdir=.*|libdir=$libraries|; s|^includedir=.*|includedir=$top/include|" "$bin/ptxloom.pc" \
	>"$scratch/ptxloom.pc"
PKG_CONFIG_PATH=$scratch
PTXLOOM_WORKERS=1
export PKG_CONFIG_PATH PTXLOOM_WORKERS

# builds HOW SAMPLE FLAGS: compiles and runs.
builds()
{
	# shellcheck disable=SC2086
	capture ${CC:-cc} "$top/samples/$2.c" -o "$scratch/$2" $3 &&
		capture env "LD_LIBRARY_PATH=$libraries" "$scratch/$2" "$top/samples/$4.ptx"
	verdict $? "$2.c, $1"
}

for sample in "saxpy_test saxpy" "reduce reduce"; do
	builds "shared" "${sample% *}" "$(pkg-config --cflags --libs ptxloom)" "${sample#* }"
	if [ -e "$libraries/libptxloom.a" ]; then
		flags=$(pkg-config --cflags --libs --static ptxloom | sed "s|-lptxloom|$libraries/libptxloom.a|")
		builds "static" "${sample% *}" "$flags" "${sample#* }"
	else
		skip "${sample% *}.c, static" "no static library"
	fi
done

# Installed elsewhere than configure was told: the file says where.
if [ -w "$bin" ]; then
	unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES DESTDIR
	succeeds "make install-pkgconfigDATA prefix=DIR" \
		${MAKE:-make} -s -C "$bin" install-pkgconfigDATA install-data-hook "prefix=$scratch/elsewhere"
	PKG_CONFIG_PATH=$scratch/elsewhere/lib/pkgconfig
	for pair in prefix= exec_prefix= includedir=/include libdir=/lib bindir=/bin; do
		found=$(pkg-config --variable="${pair%%=*}" ptxloom)
		empty "$([ "$found" = "$scratch/elsewhere${pair#*=}" ] || echo "$found")" "its ${pair%%=*}"
	done
	found=$(pkg-config --define-variable=prefix=/moved --variable=libdir ptxloom)
	empty "$([ "$found" = /moved/lib ] || echo "$found")" "it can be moved"
else
	skip "pkg-config after make install prefix=DIR" "the build folder is not writable"
fi
ok "$([ "$(cd "$top/samples" && echo *.c)" = "race_test.c reduce.c saxpy_test.c" ]; echo $?)" \
	"these are all samples in C; race_test.c runs in tests/check/findings.sh"
finish
