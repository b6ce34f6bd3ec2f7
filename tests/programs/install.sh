# `./bootstrap install PREFIX` as a whole: what is installed works there, is complete, and may be moved.
. "${srcdir:-.}/tests/tap.sh"

if [ ! "$top/build" -ef "$builddir" ] || [ ! -w "$top/build" ]; then
	skip_rest "it builds in $top/build, and this build is elsewhere"
	mkdir "$scratch/first"
fi
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES DESTDIR
cd "$top" || exit 1
succeeds "./bootstrap install PREFIX" timeout 900 ./bootstrap install "$scratch/first"
mv "$scratch/first" "$scratch/second"
cd "$scratch/second" || exit 1
PATH=$PWD/bin:$PATH

missing=
for file in bin/ptxloom include/ptxloom.h include/ptxloom_test.hpp \
	lib/libptxloom.so lib/pkgconfig/ptxloom.pc lib/ptxloom/libptxloom-preload.so \
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
skipping || needs_clang
succeeds "ptxloom cc" ptxloom cc "$top/samples/vector_add.cu" -o "$scratch/vector_add"
works "ptxloom run, of what ptxloom cc has built" timeout 60 ptxloom run "$scratch/vector_add"
works "LD_PRELOAD alone" timeout 60 env "LD_PRELOAD=$PWD/lib/ptxloom/libptxloom-preload.so" "$scratch/vector_add"
finish
