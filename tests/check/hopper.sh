# Copies, mbarriers, clusters and products of sm_90: each with one mistake, which is found, with exit status 86 and at
# its line; and without it, where all checks find nothing.
. "${srcdir:-.}/tests/tap.sh"
source=$top/tests/check/hopper.cu
cd "$scratch" || exit 1
sed -n 's/^K(\(.*\))$/ROW(\1)/p' "$source" >hopper.inc
names=$(sed 's/ROW(\([a-z_0-9]*\).*/\1/' hopper.inc)
PTXLOOM_DEVICE=h100
PTXLOOM_TIMEOUT=20s
export PTXLOOM_DEVICE PTXLOOM_TIMEOUT

# found NAME: with its mistake.
found()
{
	lines=$(awk -v k="!$1" '$NF == k { printf "%s%s", sep, FNR; sep = "|" }' "$source")
	capture timeout 120 ptxloom run --check="${1%%_*}" ./hopper "$1" bad
	[ $? -eq 86 ] && grep -Eq "hopper\.cu:($lines)\b" err
}

# clean NAME: without it.
clean()
{
	capture timeout 120 ptxloom check ./hopper "$1" good && ! grep -q '^========= \(Warning\|Error\|Program\)' err
}

try_all()
{
	for name in $names; do
		skipping || found "$name"
		verdict $? "$1: $name"
		skipping || clean "$name"
		verdict $? "$1: $name without the mistake"
	done
}

needs_clang
succeeds "clang builds it" ptxloom cc -arch=sm_90a -O1 -g -lineinfo -I. "$source" -o hopper -lcuda
try_all clang
needs_nvcc
succeeds "nvcc builds it" "$nvcc" -gencode arch=compute_90a,code=compute_90a -std=c++17 -g -lineinfo -I. "$source" \
	-o hopper -lcuda
try_all nvcc
skip_rest ""
ok "$([ "$(echo "$names" | wc -l)" -ge 70 ]; echo $?)" "there are kernels"
finish
