# Fences between proxies: kernels that lack one, or have all. Each is found at its lines, whatever the workers and the
# seed; where nothing is missing all checks are quiet.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
. tests/check/race.inc.sh
ptx=tests/check/proxies.ptx
source=$ptx
device=h100
kernels=$(sed -n 's/^\.visible \.entry \([a-z_]*\)(.*/\1/p' $ptx)

for kernel in $kernels; do
	for how in 1:0 4:0 1:7; do
		look "$kernel" "PTXLOOM_WORKERS=${how%:*}" "PTXLOOM_SEED=${how#*:}"
		expected "$kernel"
		verdict $? "$kernel: $how"
		at_lines "$kernel"
		verdict $? "$kernel: $how: lines"
	done
	case $kernel in
	fine_*)
		look "$kernel" PTXLOOM_CHECK=mem,init,race,sync,api,leak
		expected "$kernel" && ! grep -q '^========= \(Warning\|Error\|Program\)' "$scratch/err"
		verdict $? "$kernel: all checks"
		;;
	esac
done
ok "$([ "$(echo "$kernels" | wc -l)" -ge 38 ]; echo $?)" "there are kernels"

look race_no_global_fence
says err '^=========     No fence\.proxy\.async\.global stands between them: the copy need not see what was written\.$'
look race_copy_over_written
says err '^=========     No fence\.proxy\.async\.global .*: what was written may overwrite the copy\.$'
look race_fence_of_mbarriers
says err '^=========     No fence\.proxy\.async stands between them: '
look race_map_without_release
says err '^=========     No fence\.proxy\.tensormap::generic\.release stands behind the change of the'
look race_map_released_to_its_block
says err '^=========     fence\.proxy\.tensormap::generic\.release behind the change is for its block alone\.$'
look race_copied_map_without_acquire
says err '^=========     No fence\.proxy\.tensormap::generic\.acquire of the map stands before the copy, in its'
finish
