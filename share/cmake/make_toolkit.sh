#!/bin/sh
# make_toolkit.sh DIRECTORY SCRIPTS COMMAND HEADERS LIBRARIES NAME...: makes the folder of `ptxloom
# toolkit` in DIRECTORY. COMMAND, HEADERS and LIBRARIES are where its links lead, seen from DIRECTORY;
# NAMEs are the libraries.
set -eu
top=$1 scripts=$2 command=$3 headers=$4 libraries=$5
shift 5

# A link in a folder below DIRECTORY leads one folder further up, unless its target is absolute.
below()
{
	case $1 in
	/*) printf '%s\n' "$1" ;;
	*) printf '../%s\n' "$1" ;;
	esac
}

rm -rf "$top"
mkdir -p "$top/bin" "$top/lib64/stubs" "$top/nvvm/libdevice" "$top/lib/cmake/ptxloom"
ln -s "$(below "$command")" "$top/bin/ptxloom"
ln -s "$(below "$command")" "$top/bin/nvcc"
ln -s "$headers" "$top/include"
for name in "$@"; do
	ln -s "$(below "$libraries")/$name" "$top/lib64/$name"
done
ln -s ../libcuda.so "$top/lib64/stubs/libcuda.so"
# The runtime is always the shared one; programs that link another get it, too.
echo 'INPUT(-lcudart)' >"$top/lib64/libcudart_static.a"
printf '!<arch>\n' >"$top/lib64/libcudadevrt.a"
cat >"$top/version.json" <<'END'
{"cuda": {"name": "CUDA SDK", "version": "13.0.88"}}
END
cp "$scripts/toolchain.cmake" "$top/ptxloom.cmake"
