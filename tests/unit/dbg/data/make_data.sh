#!/bin/sh
# How the .ptx files of this folder were made, from a copy of it in /src: nvcc 13.0, clang 14.0.
set -eu
nvcc -G -ptx -arch=compute_80 /src/shapes.cu -o shapes.nvcc.ptx
nvcc -lineinfo -ptx -arch=compute_80 /src/shapes.cu -o shapes.lineinfo.ptx
clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -D__CLANG_ONLY__ -g -O0 -S \
	/src/shapes.cu -o shapes.clang.ptx
