/* Other loads and stores, unchecked; and the tables, in which level v4 does all else. */
#include "tests/bench/unchecked.h"

#include "src/ops/op_mem.c"

#include "tests/bench/engine.h"

static struct exec_table tables[EXEC_MODES];

const struct exec_ops *bench_unchecked(const struct exec_ops *v4)
{
	static struct exec_ops ops;

	ops = *v4;
	for (u32 i = 0; i < EXEC_MODES; i++) {
		tables[i] = *v4->mode[i];
		tables[i].run[OP_load_global] = i == MODE_GANG ? EXEC_NAME(op_load_global_gang)
							       : EXEC_NAME(op_load_global_warp);
		tables[i].run[OP_load_indexed] = EXEC_NAME(op_load_indexed);
		tables[i].run[OP_load_affine] = EXEC_NAME(op_load_affine);
		tables[i].run[OP_load_generic] = EXEC_NAME(op_load_generic);
		tables[i].run[OP_store_global] = i == MODE_GANG ? EXEC_NAME(op_store_global_gang)
								: EXEC_NAME(op_store_global_warp);
		tables[i].run[OP_store_indexed] = EXEC_NAME(op_store_indexed);
		tables[i].run[OP_store_affine] = EXEC_NAME(op_store_affine);
		tables[i].run[OP_store_generic] = EXEC_NAME(op_store_generic);
		ops.mode[i] = &tables[i];
	}
	return &ops;
}
