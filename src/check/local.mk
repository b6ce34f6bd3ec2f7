libcore_la_SOURCES += \
	src/check/apart.c src/check/apart.h \
	src/check/choice.c src/check/choice.h \
	src/check/checks.c src/check/checks.h \
	src/check/fault.c src/check/fault.h \
	src/check/finding.c src/check/finding.def src/check/finding.h \
	src/check/process.c src/check/process.h \
	src/check/record.c src/check/record.h \
	src/check/snapshot.c src/check/snapshot.h \
	src/check/format.c src/check/format.h \
	src/check/suppress.c src/check/suppress.h src/check/suppress_xml.c \
	src/check/init/init.c src/check/init/init_access.c src/check/init/init.h src/check/init/init_int.h \
	src/check/init/init_flow.c src/check/init/init_flow.h src/check/init/init_product.c src/check/init/init_memory.c src/check/init/init_memory.h \
	src/check/init/init_live.c src/check/init/init_report.c src/check/init/init_span.c \
	src/check/init/taint.c src/check/init/taint.h \
	src/check/init/unused.c src/check/init/unused.h \
	src/check/init/written.c src/check/init/written.h \
	src/check/order/between.c src/check/order/between.h src/check/order/between_int.h \
	src/check/order/between_report.c \
	src/check/order/host.c src/check/order/host.h \
	src/check/order/trace.c src/check/order/trace.h src/check/order/waits.c src/check/order/waits.h \
	src/check/race/clock.c src/check/race/clock_cluster.c src/check/race/clock_known.c src/check/race/clock_proxy.c src/check/race/clock.h \
	src/check/race/known.c src/check/race/known.h \
	src/check/race/lockstep.c \
	src/check/race/quick.c src/check/race/quick_follow.c src/check/race/quick.h src/check/race/quick_int.h \
	src/check/race/race.c src/check/race/race.h src/check/race/race_int.h \
	src/check/race/race_access.c src/check/race/race_proxy.c src/check/race/race_rows.c src/check/race/race_span.c \
	src/check/race/race_silent.c src/check/race/race_strong.c src/check/race/race_sync.c \
	src/check/race/read_sets.c src/check/race/reads.c src/check/race/reads.h src/check/race/report.c src/check/race/report.h \
	src/check/race/rows.c src/check/race/rows.h src/check/race/runs.c src/check/race/runs.h \
	src/check/race/shadow.c src/check/race/shadow_runs.c src/check/race/shadow.h \
	src/check/race/update.c src/check/race/update.h \
	src/check/sync/sync.c src/check/sync/sync.h src/check/sync/sync_int.h \
	src/check/sync/sync_registers.c src/check/sync/sync_regs.c src/check/sync/sync_wgmma.c src/check/sync/sync_barrier.c src/check/sync/sync_cluster.c src/check/sync/sync_copy.c \
	src/check/sync/sync_flow.c src/check/sync/sync_lanes.c src/check/sync/sync_mbar.c \
	src/check/sync/sync_report.c \
	src/check/sync/sync_locks.c src/check/sync/sync_locks.h src/check/sync/sync_order.c src/check/sync/sync_spin.c
