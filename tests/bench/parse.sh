#!/bin/sh
# Speed of the PTX front end: a module made by the program itself and, where nvcc is found, one of templates.
#
# usage: parse.sh FOLDER-OF-SOURCES FOLDER-OF-PROGRAMS
SOURCES=$1
BUILT=$2

"$BUILT/parse" || exit 1
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
if command -v nvcc >/dev/null 2>&1; then
	# It takes nvcc a minute or two; the result is kept.
	if [ ! -f "$BUILT/templates.ptx" ]; then
		nvcc -O3 -std=c++17 -arch=compute_80 -ptx -o "$BUILT/templates.ptx" "$SOURCES/templates.cu" || exit 1
	fi
	"$BUILT/parse" "$BUILT/templates.ptx"
else
	echo "SKIP: no nvcc, so no module of templates"
fi
