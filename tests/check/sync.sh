# Misuse of synchronisation, by kernels that have some or none: every one is found, at its lines, none is invented.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
. tests/check/sync.inc.sh

for name in wgmma locks sync; do
	suite $name
	for kernel in $kernels; do
		look "$kernel"
		expected "$kernel"
		verdict $? "$kernel"
		at_lines "$kernel"
		verdict $? "$kernel: lines"
	done
	ok "$([ "$(echo "$kernels" | wc -l)" -ge 15 ]; echo $?)" "$name: there are kernels"
done

look bad_warp_skips
says err '^========= Barrier error detected. Divergent thread\(s\) in block$'
says err '^=========     by thread \(0,0,0\) in block \(0,0,0\) at bad_warp_skips in sync.cu:[0-9]+$'
says err "^=========     32 of the block's 64 threads have exited without coming to it, and so pass by it\.$"
says err '^=========     The first was last seen by thread \(32,0,0\) in block \(0,0,0\) at bad_warp_skips in'
says err '^========= ERROR SUMMARY: 1 error$'
look warning_early_return
says err '24 of the .* threads have exited without coming to it; they count as arrived since sm_70\.$'
look bad_lane_never_comes
says err '^========= Deadlock$'
says err 'lanes 0x00000008: waiting for lanes 0x00000018 of the warp at sync.cu:[0-9]+, .*: bar.warp.sync 24;$' \
	"the line is that of the instruction that waits"

# One budget for the orders of a launch.
ends 0 "too many waits for locks" env PTXLOOM_CHECK=sync \
	ptxloom exec tests/check/locks.ptx --kernel fine_lock_crowd --grid 200 --block 32 --buffer o:u32[512]
empty "$([ "$(grep -c '^ptxloom: note: the order of locks of a launch was not checked to its end: ' \
	"$scratch/err")" -eq 1 ] || cat "$scratch/err")" "is one note"

for kernel in bad_mbar_livelock bad_mbar_livelock_with_sleep bad_mbar_parity; do
	# Or the engine may find first, by the clock, that nothing changes.
	look $kernel PTXLOOM_DETERMINISTIC=1
	says err '^========= Deadlock: a phase of an mbarrier never ends: at byte [0-9]+ of the shared memory of block'
	says err 'it lacks (1 arrival|64 arrivals) and 0 bytes, and all threads of the launch wait or have exited$'
	says err 'block \(0,0,0\) warp 1 lanes 0xffffffff: running at sync.cu:[0-9]+, '
	says err '^========= ERROR SUMMARY: 1 error$' "it is one finding"
done
finish
