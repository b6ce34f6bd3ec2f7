/*
 * What lowering puts into the `count` and `flags` of the records that op_async.c runs.
 */
#ifndef PL_EXEC_ASYNC_OP_H
#define PL_EXEC_ASYNC_OP_H

enum async_group_op {
	ASYNC_COMMIT,
	ASYNC_WAIT,
	ASYNC_WAIT_ALL,
	ASYNC_COMMIT_BULK,
	ASYNC_WAIT_BULK
};

/* Waits last, those that may suspend behind the others. */
enum mbar_op {
	MBAR_INIT,
	MBAR_INVAL,
	MBAR_EXPECT,
	MBAR_COMPLETE,
	MBAR_ARRIVE,
	MBAR_DROP,
	MBAR_ARRIVE_EXPECT,
	MBAR_DROP_EXPECT,
	MBAR_CHECK_LAYOUT,
	MBAR_WAIT,
	MBAR_WAIT_PARITY,
	MBAR_TRY,
	MBAR_TRY_PARITY,
};

/* Kinds of tensor copies. */
enum tensor_copy { TENSOR_COPY_TILE, TENSOR_COPY_IM2COL, TENSOR_COPY_FOUR };

enum cluster_address {
	ADDRESS_MAPA,
	ADDRESS_RANK,
	ADDRESS_IS_GLOBAL,
	ADDRESS_IS_CONST,
	ADDRESS_IS_SHARED,
	ADDRESS_IS_CLUSTER,
	ADDRESS_IS_LOCAL,
	ADDRESS_IS_PARAM,
};

/* Flags beside those of enum uop_flag. */
enum async_flag {
	ASYNC_IS_RED = 0x40, /* red.async, not st.async */
	BULK_FROM_GLOBAL = 0x40,
	BULK_TO_GLOBAL = 0x80,
};

#endif
