/*
 * NCCL on the host: communicators whose ranks meet in a segment of shared memory, in one process or
 * in several of one machine, and their operations as work of streams. Private to runtime/libs.
 */
#ifndef PL_LIBS_NCCL_H
#define PL_LIBS_NCCL_H

#include "runtime/libs/libs.h"
#include "src/hostlibs/reduce.h"

#include <pthread.h>

enum nccl_status {
	NCCL_SUCCESS = 0,
	NCCL_CUDA_ERROR = 1,
	NCCL_SYSTEM_ERROR = 2,
	NCCL_INTERNAL_ERROR = 3,
	NCCL_INVALID_ARGUMENT = 4,
	NCCL_INVALID_USAGE = 5,
	NCCL_REMOTE_ERROR = 6,
	NCCL_IN_PROGRESS = 7,
};

#define NCCL_ID_BYTES 128
#define NCCL_RANKS_MAX 256u
#define NCCL_NAME_BYTES 64u

struct nccl_id {
	char bytes[NCCL_ID_BYTES];
};

/* ---- what ranks share ---- */

enum nccl_kind {
	NCCL_ALL_REDUCE,
	NCCL_BROADCAST,
	NCCL_REDUCE,
	NCCL_ALL_GATHER,
	NCCL_REDUCE_SCATTER,
	NCCL_SEND,
	NCCL_RECV,
};

/* ncclRedOp_t: those of hl_reduction, the mean, and what programs make. */
enum { NCCL_AVG = HL_REDUCTIONS, NCCL_OPS };

/* What all ranks of a collective must say alike. */
struct nccl_call {
	u32 kind, type, op, root;
	u64 count; /* of elements, as the function's parameter */
};

/* Of each rank. A piece is posted when it may be read, done when the rank has read all others'. */
struct nccl_seat {
	_Alignas(64) _Atomic u64 posted;
	_Atomic u64 done;
	_Atomic u32 taken;
	_Atomic u32 splits; /* calls of ncclCommSplit, with their last arguments */
	s32 color, key, device, process;
	struct nccl_call call;
};

/* From one rank to another, a piece at a time. */
struct nccl_box {
	_Alignas(64) _Atomic u64 posted;
	_Atomic u64 taken;
	u64 bytes; /* of all pieces */
};

/* Then the ranks, boxes by [from][to], and the pieces of both. */
struct nccl_segment {
	_Atomic u32 ready, arrived;
	_Atomic u32 failed; /* a rank could not do its part */
	u32 ranks;
	u64 bytes, piece_bytes, box_bytes;
};

/* ---- communicators ---- */

struct nccl_op {
	bool used, on_device;
	u32 type;
	u64 address;
	u8 scalar[8];
};

struct nccl_comm {
	u32 magic;
	u32 rank, ranks;
	int device, file;
	char name[NCCL_NAME_BYTES]; /* of the segment */
	struct nccl_segment *segment;
	_Atomic u32 error; /* enum nccl_status: ncclCommGetAsyncError */
	_Atomic bool aborted;
	u32 splits, shrinks;
	struct nccl_op *ops;
	u32 op_len;
	/* One plan runs at a time; those that are not captured in the order in which they came. */
	pthread_mutex_t lock;
	struct nccl_plan *running;
	u64 issued, served;
	u64 sequence; /* pieces of collectives */
	u32 captured; /* plans that belong to graphs */
};

/* An operation of a rank. */
struct nccl_task {
	struct nccl_call call;
	struct libs_function *f;
	u64 send, recv;
	u32 peer;
	struct nccl_op scale; /* by it before the sum, if used */
	u64 at;               /* elements, or bytes between two ranks, that are through */
	bool posted;          /* the piece at `at` */
};

/* Those of a group for a communicator: collectives one after the other, the rest at once. */
struct nccl_plan {
	struct nccl_comm *comm;
	u64 ticket; /* 0: captured */
	u64 began_ns;
	bool warned;
	u32 len;
	struct nccl_task task[];
};

/* A handle, or NULL. */
struct nccl_comm *nccl_comm_of(void *handle);
struct nccl_seat *nccl_seat(const struct nccl_comm *c, u32 rank);
u8 *nccl_piece(const struct nccl_comm *c, u32 rank);
struct nccl_box *nccl_box(const struct nccl_comm *c, u32 from, u32 to);
u8 *nccl_box_piece(const struct nccl_comm *c, u32 from, u32 to);
/* Is a rank's process gone without having destroyed its communicator? */
bool nccl_is_gone(const struct nccl_comm *c, u32 rank);

/* Become a rank of the segment of this name, on the current device. Returns a status. */
int nccl_attach(const char *name, u32 ranks, u32 rank, struct nccl_comm **out);
/* Have all ranks come? NCCL_IN_PROGRESS: not yet. */
int nccl_arrived(struct nccl_comm *c);
/* Others can no longer come; nothing of it remains once all have left. */
void nccl_forget_name(const struct nccl_comm *c);
/* What it has yet to run does nothing. */
void nccl_close(struct nccl_comm *c);
void nccl_name_new(char name[NCCL_NAME_BYTES]);
/* That of a part of a communicator; the same for all ranks of the part. */
void nccl_name_part(const char *of, u32 number, u32 part, char name[NCCL_NAME_BYTES]);
/* For ncclGetLastError. Returns `status`. */
int nccl_say(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* work_fn: a plan, whose address is the data. */
int nccl_run(void *data, const struct work_run *w);

/* ---- groups ---- */

/* Something that takes several ranks to end: all are begun before one is waited for. */
struct nccl_job {
	int (*step)(struct nccl_job *j); /* NCCL_IN_PROGRESS: again */
	void **out;
	struct nccl_comm *comm, *parent;
	s32 color, key;
	u32 number;
	bool said;
};

void nccl_group_enter(void);
int nccl_group_leave(int status);
/* The group's, or done at once if there is none. Return a status. */
int nccl_group_add(const struct nccl_task *t, struct nccl_comm *c, void *stream);
int nccl_group_job(const struct nccl_job *j);

#endif
