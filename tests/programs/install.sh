# `./bootstrap install PREFIX` as a whole: what is installed works there, is complete, and may be moved.
. "${srcdir:-.}/tests/style/tap.sh"

top=$(cd "$srcdir" && pwd)
if [ ! "$top/build" -ef "$builddir" ] || [ ! -w "$top/build" ]; then
	skip "./bootstrap install" "it builds in $top/build, and this build is elsewhere"
	finish
	exit
fi
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES DESTDIR
unset PTXLOOM_DEVICE PTXLOOM_LIBDIR PTXLOOM_INCLUDE LD_LIBRARY_PATH LD_PRELOAD
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
(cd "$top" && timeout 900 ./bootstrap install "$scratch/first") >"$scratch/log" 2>&1
status=$?
[ "$status" -eq 0 ] || sed 's/^/# /' "$scratch/log"
ok "$status" "./bootstrap install PREFIX"
mv "$scratch/first" "$scratch/second"
cd "$scratch/second" || exit 1
PATH=$PWD/bin:$PATH
export PATH

missing=
for file in bin/ptxloom include/ptxloom.h lib/libptxloom.so lib/pkgconfig/ptxloom.pc lib/ptxloom/libptxloom-preload.so \
	lib/ptxloom/libcuda.so.1 lib/ptxloom/libcudart.so.11.0 lib/ptxloom/libcudart.so.12 lib/ptxloom/libcudart.so.13 \
	share/ptxloom/include/cuda_runtime.h share/man/man1/ptxloom.1 share/man/man3/ptxloom_device_open.3 \
	share/bash-completion/completions/ptxloom.bash share/zsh/site-functions/_ptxloom \
	share/fish/vendor_completions.d/ptxloom.fish; do
	[ -e "$file" ] || missing="$missing $file"
done
empty "$missing" "what belongs there is there"
empty "$(grep -rIl "$scratch/first" . 2>/dev/null | grep -v '\.la$')" "no text file names the place it was installed in"
empty "$(find . -name '*.so*' -type f -exec sh -c 'readelf -S "$1" | grep -q debug_info && echo "$1"' - {} \;)" \
	"libraries are without what debuggers read"
ok "$(ptxloom --version | grep -q '^ptxloom '; echo $?)" "ptxloom --version"
ok "$([ "$(command -v ptxloom)" = "$PWD/bin/ptxloom" ]; echo $?)" "it is this one"
empty "$(ptxloom exec "$top/samples/saxpy.ptx" --block 4 --arg u32=4 --arg f32=2 --buffer x:f32=1,2,3,4 \
	--buffer 'y:f32[4]=ones' --dump y | grep -vx 'y\[0..3\] = 3 5 7 9')" "ptxloom exec"
if ptxloom cc "$top/samples/vector_add.cu" -o "$scratch/vector_add" >"$scratch/log" 2>&1; then
	timeout 60 ptxloom run "$scratch/vector_add" >"$scratch/log" 2>&1
	ok $? "ptxloom run, of what ptxloom cc has built"
	timeout 60 env "LD_PRELOAD=$PWD/lib/ptxloom/libptxloom-preload.so" "$scratch/vector_add" >"$scratch/log" 2>&1
	ok $? "LD_PRELOAD alone"
else
	grep -q 'clang is not found' "$scratch/log"
	status=$?
	[ "$status" -eq 0 ] && skip "ptxloom cc" "no clang" || { sed 's/^/# /' "$scratch/log"; ok 1 "ptxloom cc"; }
fi
finish
