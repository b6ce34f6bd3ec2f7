# The device of programs whose user has named none: that for which they and their libraries were made.
. "${srcdir:-.}/tests/tap.sh"

: "${CC:=cc}"
here=$top/tests/smi/made_for.c
cd "$scratch" || exit 1

# made NAME TARGETS OPTIONS...: "120" "80", "90a"
made()
{
	made_name=$1
	made_targets=$2
	shift 2
	$CC -std=gnu11 -O1 -w -I"$top" -DTARGETS="$made_targets" "$here" -o "$made_name" "$@" -ldl >>built 2>&1
}
made libnew.so '"120"' -shared -fPIC && made libold.so '"80"' -shared -fPIC &&
	made libhopper.so '"90a"' -shared -fPIC &&
	made old '"75"' -DPROGRAM && made both '"80","120"' -DPROGRAM && made hopper '"90a"' -DPROGRAM &&
	made newer '"86"' -DPROGRAM &&
	made linked '"75"' -DPROGRAM -Wl,--no-as-needed ./libnew.so ./libold.so -Wl,-rpath,"$scratch" &&
	made mixed '"90a"' -DPROGRAM -Wl,--no-as-needed ./libnew.so ./libold.so -Wl,-rpath,"$scratch"
[ $? -eq 0 ] || cat built
verdict $? "programs and libraries build"

# gets PROGRAM NVML CAPABILITY DESCRIPTION
gets()
{
	ptxloom run "./$1" >out 2>err
	[ "$(sed -n 1p out)" = "$2" ] && [ "$(sed -n 2p out)" = "$3" ] && grep -q '^kernel 0$' out
	verdict $? "$4"
}
gets old "NVIDIA A100-SXM4-40GB" 8.0 "PTX for older devices: the default one"
empty "$(cat err)" "of which nothing is said"
gets both "NVIDIA A100-SXM4-40GB" 8.0 "PTX for several, the default one among them"
empty "$(cat err)" "of which nothing is said"
gets hopper "NVIDIA H100 80GB HBM3" 9.0 "PTX for one kind of chip alone"
says err '^ptxloom: the device is h100 .*, as the program has PTX for compute_90a; ' "and why is said"
gets newer "NVIDIA A40" 8.6 "PTX for newer devices: the oldest that suits"
says err 'the device is ga102 .*the program has PTX for compute_86; ' "and why is said"
gets linked "NVIDIA GeForce RTX 5090" 12.0 "a library with PTX for newer ones"
says err 'the device is gb202 .*, as libnew.so has PTX for compute_120; ' "it is named"
gets mixed "NVIDIA H100 80GB HBM3" 9.0 "what no other can run goes before what others are made for"

ptxloom run -d t4 ./hopper >out 2>err
[ "$(sed -n 1,2p out)" = "Tesla T4
7.5" ] && grep -q '^kernel 209$' out && ! grep -q 'the device is' err
verdict $? "a device that the user names is the device"
says err 'run it with .-d h100' "with the kernel's error another is named"
PTXLOOM_DEVICE=v100 ptxloom run ./linked >out 2>err
[ "$(sed -n 2p out)" = 7.0 ] && [ ! -s err ]
verdict $? "so it is with PTXLOOM_DEVICE"

# ---- libraries that come later ----

ptxloom run ./old ./libold.so ./libnew.so >out 2>err
[ "$(sed -n 2p out)" = 8.0 ] && [ "$(grep -c '^library 0$' out)" -eq 2 ]
verdict $? "a library that is loaded later does not change the device"
[ "$(grep -c 'libnew.so has PTX for compute_120, and the device is ga100.*run -d gb202' err)" -eq 1 ] &&
	[ "$(wc -l <err)" -eq 1 ]
verdict $? "but which would suit it is said"
ptxloom run -d a100 ./old ./libnew.so >out 2>err
empty "$(cat err)" "unless the user has named one"
ptxloom run -d a100 ./old ./libhopper.so >out 2>err
says err 'libhopper.so has kernels of which this device can run no PTX.*ptxloom run -d h100' \
	"of a library without PTX for it another device is named"

finish
