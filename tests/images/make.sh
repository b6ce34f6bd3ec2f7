#!/bin/sh
# Makes the binaries of this folder again with nvcc 13. Nothing but a changed source needs it:
# the tests read the files as they are.
set -e
cd "$(dirname "$0")"
exe="-cudart shared -Xlinker -s kernels.cu"
nvcc $exe -o default.exe
nvcc $exe -gencode arch=compute_80,code=sm_80 -o sass.exe
nvcc $exe -arch=sm_80 -DSEPARATE -rdc=true square.cu -o rdc.exe
nvcc $exe -gencode arch=compute_80,code=sm_80 -DSEPARATE -rdc=true -lineinfo square.cu -o rdc_lineinfo.exe
nvcc -DNO_MAIN -cudart none -arch=sm_90a -shared -Xcompiler -fPIC -Xlinker -s kernels.cu -o library.so
nvcc -DNO_MAIN -arch=sm_80 -c kernels.cu -o kernels.o
nvcc -arch=sm_80 -c square.cu -o square.o
rm -f archive.a
ar rcD archive.a kernels.o square.o
rm -f kernels.o square.o
nvcc -dlto -dc -arch=sm_80 square.cu -o lto.obj
for mode in none size speed balance; do
	nvcc -DNO_MAIN -fatbin -maxrregcount=32 --compress-mode=$mode \
		-gencode arch=compute_80,code='[sm_80,compute_80]' kernels.cu -o $mode.fatbin
done
nvcc -DNO_MAIN -fatbin -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=compute_90 \
	-gencode arch=compute_90a,code=compute_90a -gencode arch=compute_100f,code=compute_100f \
	kernels.cu -o targets.fatbin
nvcc -DNO_MAIN -fatbin -G -arch=sm_80 kernels.cu -o debug.fatbin
nvcc -DNO_MAIN -cubin -lineinfo -arch=sm_80 kernels.cu -o lineinfo.cubin
nvcc -DNO_MAIN -ptx -arch=sm_80 kernels.cu -o text.ptx
