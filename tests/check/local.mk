dist_check_SCRIPTS += tests/check/sanitizer.sh
dist_check_SCRIPTS += tests/check/race.sh tests/check/sync.sh tests/check/formats.sh tests/check/modes.sh tests/check/calls.sh tests/check/host_places.sh tests/check/findings.sh tests/check/documented.sh
dist_check_SCRIPTS += tests/check/proxies.sh
dist_check_SCRIPTS += tests/check/mem.sh tests/check/streams.sh tests/check/programmatic.sh
dist_check_SCRIPTS += tests/check/library.sh tests/check/workers.sh tests/check/off.sh
dist_check_SCRIPTS += tests/check/init.sh tests/check/engines.sh tests/check/hopper.sh tests/check/planted.sh tests/check/announced.sh
EXTRA_DIST += tests/check/planted.cu tests/check/planted_memory.cu tests/check/planted_calls.cu tests/check/announced.cu
EXTRA_DIST += tests/check/engines.cu tests/check/hopper.cu tests/check/library.cu
EXTRA_DIST += tests/pairs.awk tests/check/launch.c
EXTRA_DIST += tests/check/findings.inc.sh
EXTRA_DIST += tests/check/init.inc.sh tests/check/init.cu tests/check/registers.ptx
EXTRA_DIST += tests/check/race.inc.sh tests/check/race.cu tests/check/race.ptx tests/check/calls.cu tests/check/host_places.cu tests/check/findings.cu
EXTRA_DIST += tests/check/programmatic.c tests/check/programmatic.cu tests/check/programmatic.ptx
EXTRA_DIST += tests/check/proxies.ptx
EXTRA_DIST += tests/check/copies.cu tests/check/copies.ptx tests/check/lockstep.cu tests/check/lockstep.ptx
EXTRA_DIST += tests/check/sync.inc.sh tests/check/sync.cu tests/check/sync.ptx tests/check/locks.cu tests/check/locks.ptx tests/check/wgmma.cu tests/check/wgmma.ptx
EXTRA_DIST += tests/check/mem.cu tests/check/mem.ptx tests/check/streams.cu tests/check/reach.cu
if !SANITIZED
TESTS += tests/check/sanitizer.sh
TESTS += tests/check/calls.sh tests/check/host_places.sh tests/check/findings.sh tests/check/documented.sh tests/check/sync.sh tests/check/race.sh tests/check/formats.sh tests/check/modes.sh
TESTS += tests/check/proxies.sh
TESTS += tests/check/mem.sh tests/check/streams.sh tests/check/programmatic.sh
TESTS += tests/check/library.sh tests/check/workers.sh tests/check/off.sh
TESTS += tests/check/init.sh tests/check/engines.sh tests/check/hopper.sh tests/check/planted.sh tests/check/announced.sh
endif
