/*
 * What micro-ops of warp instructions do. PTX ISA "Parallel
 * Synchronization and Communication Instructions" (vote, match, redux, activemask, elect,
 * bar.warp.sync) and "shfl.sync".
 */
#ifndef PL_UOP_WARP_H
#define PL_UOP_WARP_H

enum warp_action {
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

#endif
