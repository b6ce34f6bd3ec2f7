#!/bin/sh
# build_wheel.sh SOURCE BUILD OUT: makes a wheel of the programs and libraries that are built in BUILD.
# Needs patchelf, objdump, and python3 with setuptools and wheel; says which is missing.
set -eu
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd)
: "${PYTHON:=python3}"

for tool in patchelf objdump "$PYTHON"; do
	command -v "$tool" >/dev/null || { echo "build_wheel.sh: $tool is missing" >&2; exit 77; }
done
"$PYTHON" -c 'import setuptools, wheel' 2>/dev/null ||
	{ echo "build_wheel.sh: $PYTHON has no setuptools and wheel" >&2; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source/python" "$work/python"
chmod -R u+w "$work/python"
to=$work/python/ptxloom/_install
make -C "$build" -s install prefix=/p exec_prefix=/p bindir=/p/bin libdir=/p/lib pkglibdir=/p/lib/ptxloom \
	DESTDIR="$work/stage" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
mkdir -p "$to/lib/ptxloom" "$to/share"
cp -r "$work/stage/p/bin" "$work/stage/p/include" "$to/"
# A wheel has no links: names of one file are files. What links are needed for is not in it.
rm -f "$to/bin/ptxloom-sanitizer"
for f in "$work"/stage/p/lib/libptxloom.so "$work"/stage/p/lib/ptxloom/lib*.so*; do
	case $f in
	*/lib/libptxloom.so) cp -L "$f" "$to/lib/" ;;
	*) cp -L "$f" "$to/lib/ptxloom/" ;;
	esac
done
cp -r "$work/stage/p/lib/ptxloom/front" "$to/lib/ptxloom/"
cp -r "$(find "$work/stage" -type d -path '*/ptxloom/include' | head -n 1)" "$work/headers"
mkdir -p "$to/share/ptxloom"
mv "$work/headers" "$to/share/ptxloom/include"
# What Python programs find by themselves below `ptxloom run`.
cp -r "$(find "$work/stage" -type d -path '*/ptxloom/python' | head -n 1)" "$to/share/ptxloom/python"

# Libraries of the system that not every one has travel along. glibc and its parts are those of the system.
for f in $(ldd "$to/bin/ptxloom" "$to/lib/libptxloom.so" "$to/lib/ptxloom/libptxloom-runtime.so" |
	awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u); do
	case ${f##*/} in
	libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | ld-linux* | libptxloom* | libcud*) ;;
	libgcc_s* | libstdc++*) ;;
	*) cp -L "$f" "$to/lib/ptxloom/" ;;
	esac
done
patchelf --set-rpath '$ORIGIN/../lib/ptxloom' "$to/bin/ptxloom"
patchelf --set-rpath '$ORIGIN/ptxloom' "$to/lib/libptxloom.so"
for f in "$to"/lib/ptxloom/*.so*; do
	case ${f##*/} in
	libcud* | libcupti* | libptxloom-preload*) ;;
	*) patchelf --set-rpath '$ORIGIN' "$f" ;;
	esac
done
strip "$to/bin/ptxloom" "$to/lib/libptxloom.so" "$to"/lib/ptxloom/*.so* 2>/dev/null || true

glibc=$(find "$to" -type f \( -name '*.so*' -o -name ptxloom \) -exec objdump -T {} + 2>/dev/null |
	sed -n 's/.*GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
cd "$work/python"
WHEEL_PLATFORM=manylinux_2_${glibc}_x86_64 "$PYTHON" setup.py -q bdist_wheel -d "$out" >"$work/log" 2>&1 ||
	{ cat "$work/log" >&2; exit 1; }
ls "$out"/ptxloom-*.whl
