/*
 * What micro-ops of asynchronous copies, mbarriers and addresses of clusters do.
 */
#ifndef PL_UOP_ASYNC_H
#define PL_UOP_ASYNC_H

enum async_group_op {
	ASYNC_COMMIT,
	ASYNC_WAIT,
	ASYNC_WAIT_ALL,
	ASYNC_COMMIT_BULK,
	ASYNC_WAIT_BULK
};

/*
 * Instructions that change nothing here, for observers: only programs without fusion have them. In
 * struct uop_group, `pending` is the number of a wait or of registers.
 */
enum uop_mark {
	MARK_WGMMA_FENCE,
	MARK_WGMMA_COMMIT,
	MARK_WGMMA_WAIT, /* behind the meeting of the warps */
	MARK_REGISTERS_MORE,
	MARK_REGISTERS_LESS,
	MARK_GRID_WAIT,
	MARK_GRID_LAUNCH,
};

/* Waits last, those that may suspend after the others. */
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
	/* As those without _LISTED, for a debugger: struct async_cta remembers them. */
	MBAR_INIT_LISTED,
	MBAR_INVAL_LISTED,
	MBAR_WAIT,
	MBAR_WAIT_LISTED,
	MBAR_WAIT_PARITY,
	MBAR_WAIT_PARITY_LISTED,
	MBAR_TRY,
	MBAR_TRY_LISTED,
	MBAR_TRY_PARITY,
	MBAR_TRY_PARITY_LISTED,
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

#endif
