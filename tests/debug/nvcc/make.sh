#!/bin/sh
# Writes the PTX of this folder again, with nvcc in PATH. Files are named as a build in the folder of the sources would
# name them, so that sessions find the sources wherever they run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# Its name is in the debug information, too.
folder=/tmp/ptxloom-sessions
mkdir -p "$folder"
cp "$here/.."/*.cu "$here/../truth.h" "$folder"
cd "$folder"
# paths FILE: without the folders of this build.
paths()
{
	sed -E -i -e 's,^(	\.file	[0-9]+ )".*/([a-z]+\.cu)",\1"\2",' \
		-e 's,"[^"]*/targets/[^/]*/include/,"/usr/local/cuda/include/,' "$1"
}
for name in diverge fault deadlock moving names recurse shapes symbols; do
	nvcc -G -arch=sm_80 -ptx "$name.cu" -o "$here/$name.ptx"
	paths "$here/$name.ptx"
done
cp "$here/cluster.cu" .
nvcc -G -arch=sm_90 -ptx cluster.cu -o "$here/cluster.ptx"
paths "$here/cluster.ptx"
rm -r "$folder"
