/*
 * Warp instructions: kinds, as lowering puts them into the `count` of a record. PTX ISA "Parallel
 * Synchronization and Communication Instructions" (vote, match, redux, activemask, elect,
 * bar.warp.sync) and "shfl.sync".
 */
#ifndef PL_EXEC_WARP_OP_H
#define PL_EXEC_WARP_OP_H

enum warp_kind {
	WARP_SHFL_UP,
	WARP_SHFL_DOWN,
	WARP_SHFL_BFLY,
	WARP_SHFL_IDX,
	WARP_VOTE_ALL,
	WARP_VOTE_ANY,
	WARP_VOTE_UNI,
	WARP_BALLOT,
	WARP_MATCH_ANY,
	WARP_MATCH_ALL,
	WARP_ADD,
	WARP_MIN_U32,
	WARP_MAX_U32,
	WARP_MIN_S32,
	WARP_MAX_S32,
	WARP_AND,
	WARP_OR,
	WARP_XOR,
	WARP_MIN_F32,
	WARP_MAX_F32,
	WARP_ACTIVE,
	WARP_ELECT,
	WARP_BARRIER,
};

/* Flags of such a record, beside those of enum uop_flag. */
enum warp_flag {
	WARP_ALONE = 0x40, /* no member mask: the lanes that are here (legacy forms, activemask) */
	WARP_WIDE = 0x80,  /* the operand is a 64-bit row */
};

#endif
