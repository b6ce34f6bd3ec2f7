/*
 * The functions of NCCL. Its kernels have PTX, but each is one of millions of micro-ops: what they
 * do is done by the host, unless PTXLOOM_LIBS says otherwise.
 */
#include "runtime/libs/nccl.h"
#include "src/base/size.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define VERSION 22800
#define UNDEFINED (-2147483647 - 1)
#define MAGIC_ID "ptxloom"

/* From the CUDA interface, with its checks and its last error. */
LIBS_API int plentry_cudaMalloc(void **p, size_t bytes);
LIBS_API int plentry_cudaFree(void *p);

static _Thread_local char last_error[256];

int nccl_say(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_error, sizeof(last_error), format, args);
	va_end(args);
	return status;
}

/* Each has a second name, for those who wrap the first. */
#define NCCL(name, params, args, body)                                                             \
	LIBS_FN(LIBS_NCCL, LIBS_MACHINE, name, params, args, body)                                 \
	LIBS_FN(LIBS_NCCL, LIBS_MACHINE, p##name, params, args, body)
/* There is nothing like it without NVLink or a network of its own. */
#define NCCL_NOT(name, params, args)                                                               \
	NCCL(name, params, args, nccl_say(NCCL_INVALID_USAGE, #name " is not supported"))

/* ---- communicators ---- */

static int unique_id(struct nccl_id *out)
{
	char name[NCCL_NAME_BYTES];

	if (!out)
		return NCCL_INVALID_ARGUMENT;
	memset(out, 0, sizeof(*out));
	nccl_name_new(name);
	snprintf(out->bytes, sizeof(out->bytes), "%s%s", MAGIC_ID, name);
	return NCCL_SUCCESS;
}

static int init_step(struct nccl_job *j)
{
	int status = nccl_arrived(j->comm);

	if (status != NCCL_IN_PROGRESS && status)
		nccl_close(j->comm);
	return status;
}

/* Begin on the current device; the rest is the group's. */
static int join_ranks(const char *name, u32 ranks, u32 rank, void **out)
{
	struct nccl_job j = {.step = init_step, .out = out};
	int status = nccl_attach(name, ranks, rank, &j.comm);

	return status ? status : nccl_group_job(&j);
}

static int init_rank(struct libs_function *f, void **comm, int ranks, const struct nccl_id *id,
		     int rank)
{
	int status = NCCL_SUCCESS;

	libs_announce(f);
	nccl_group_enter();
	if (!comm || !id || ranks < 1 || rank < 0)
		status = nccl_say(NCCL_INVALID_ARGUMENT, "%s: rank %d of %d", f->name, rank, ranks);
	else if (strncmp(id->bytes, MAGIC_ID "/", sizeof(MAGIC_ID)) != 0 ||
		 !memchr(id->bytes, 0, NCCL_NAME_BYTES))
		status = nccl_say(NCCL_INVALID_ARGUMENT,
				  "%s: the identifier is not from ncclGetUniqueId", f->name);
	else
		status = join_ranks(id->bytes + strlen(MAGIC_ID), (u32)ranks, (u32)rank, comm);
	return nccl_group_leave(status);
}

static int init_all(struct libs_function *f, void **comms, int n, const int *devices)
{
	char name[NCCL_NAME_BYTES];
	int status = NCCL_SUCCESS;

	libs_announce(f);
	if (!comms || n < 1)
		return nccl_say(NCCL_INVALID_ARGUMENT, "%s: %d devices", f->name, n);
	nccl_name_new(name);
	nccl_group_enter();
	for (int i = 0; i < n && !status; i++) {
		int error = plrt_work_enter(devices ? devices[i] : i);

		if (error) {
			status = nccl_say(NCCL_INVALID_ARGUMENT, "%s: there is no device %d",
					  f->name, devices ? devices[i] : i);
			break;
		}
		status = join_ranks(name, (u32)n, (u32)i, &comms[i]);
		plrt_work_leave();
	}
	return nccl_group_leave(status);
}

/* Work that others wait for, too, goes on; what is lost with the device does not come. */
static void wait_for_work(struct nccl_comm *c)
{
	bool left;

	pthread_mutex_lock(&c->lock);
	left = c->served != c->issued;
	pthread_mutex_unlock(&c->lock);
	if (left && !plrt_work_enter(c->device)) {
		plrt_work_finish();
		plrt_work_leave();
	}
}

static int comm_end(void *handle, bool abort)
{
	struct nccl_comm *c = nccl_comm_of(handle);

	if (!handle)
		return NCCL_SUCCESS;
	if (!c)
		return nccl_say(NCCL_INVALID_ARGUMENT, "this is no communicator");
	if (!abort)
		wait_for_work(c);
	nccl_close(c);
	return NCCL_SUCCESS;
}

NCCL(ncclGetUniqueId, (struct nccl_id * id), (id), unique_id(id))
NCCL(ncclCommInitRank, (void **c, int n, struct nccl_id id, int rank), (c, n, id, rank),
     init_rank(&f, c, n, &id, rank))
NCCL(ncclCommInitRankConfig, (void **c, int n, struct nccl_id id, int rank, void *config),
     (c, n, id, rank, config), init_rank(&f, c, n, &id, rank))
NCCL(ncclCommInitRankScalable,
     (void **c, int n, int rank, int ids, struct nccl_id *id, void *config),
     (c, n, rank, ids, id, config), init_rank(&f, c, n, ids > 0 ? id : NULL, rank))
NCCL(ncclCommInitAll, (void **c, int n, const int *devices), (c, n, devices),
     init_all(&f, c, n, devices))
NCCL(ncclCommFinalize, (void *c), (c), nccl_comm_of(c) ? NCCL_SUCCESS : NCCL_INVALID_ARGUMENT)
NCCL(ncclCommDestroy, (void *c), (c), comm_end(c, false))
NCCL(ncclCommAbort, (void *c), (c), comm_end(c, true))

/* ---- parts of communicators ---- */

/* Members by key, then by rank. Returns how many; *mine: which the caller is. */
static u32 split_members(const struct nccl_comm *p, s32 color, u32 *mine)
{
	s32 key = nccl_seat(p, p->rank)->key;
	u32 members = 0;

	*mine = 0;
	for (u32 i = 0; i < p->ranks; i++) {
		const struct nccl_seat *s = nccl_seat(p, i);

		if (s->color != color)
			continue;
		members++;
		*mine += s->key < key || (s->key == key && i < p->rank);
	}
	return members;
}

/* NCCL_SUCCESS: every rank has come as far as this in its splits. */
static int split_wait(const struct nccl_comm *p, u32 number)
{
	for (u32 i = 0; i < p->ranks; i++) {
		if (atomic_load(&nccl_seat(p, i)->splits) >= number)
			continue;
		return nccl_is_gone(p, i)
			       ? nccl_say(NCCL_REMOTE_ERROR, "the process of rank %u has ended", i)
			       : NCCL_IN_PROGRESS;
	}
	return NCCL_SUCCESS;
}

/*
 * The numbers of a split: all have read what was said before, all have said where they belong, and
 * have read that.
 */
static int split_step(struct nccl_job *j)
{
	struct nccl_comm *p = j->parent;
	struct nccl_seat *s = nccl_seat(p, p->rank);
	char name[NCCL_NAME_BYTES];
	u32 members, mine;
	int status;

	if (j->comm)
		return init_step(j);
	status = split_wait(p, j->number + j->said);
	if (status)
		return status;
	if (!j->said) {
		s->color = j->color;
		s->key = j->key;
		j->said = true;
		atomic_store(&s->splits, j->number + 1);
		return NCCL_IN_PROGRESS;
	}
	members = split_members(p, j->color, &mine);
	atomic_store(&s->splits, j->number + 2);
	if (j->color < 0)
		return NCCL_SUCCESS;
	nccl_name_part(p->name, j->number, (u32)j->color, name);
	if (plrt_work_enter(p->device))
		return NCCL_CUDA_ERROR;
	status = nccl_attach(name, members, mine, &j->comm);
	plrt_work_leave();
	return status ? status : NCCL_IN_PROGRESS;
}

static int nccl_split(void *handle, int color, int key, void **out)
{
	struct nccl_comm *p = nccl_comm_of(handle);
	struct nccl_job j = {
		.step = split_step, .out = out, .parent = p, .color = color, .key = key};

	if (!p || !out || color < -1)
		return nccl_say(NCCL_INVALID_ARGUMENT, "ncclCommSplit: colour %d", color);
	*out = NULL;
	j.number = 2 * p->splits++;
	nccl_group_enter();
	return nccl_group_leave(nccl_group_job(&j));
}

static bool nccl_is_in(const int *list, int n, u32 rank)
{
	for (int i = 0; i < n; i++)
		if (list[i] == (int)rank)
			return true;
	return false;
}

static int nccl_shrink(void *handle, const int *without, int n, void **out)
{
	struct nccl_comm *p = nccl_comm_of(handle);
	u32 ranks = 0, mine = 0;
	char name[NCCL_NAME_BYTES];
	int status;

	if (!p || !out || !without || n < 1 || nccl_is_in(without, n, p->rank))
		return nccl_say(NCCL_INVALID_ARGUMENT, "ncclCommShrink without %d ranks", n);
	for (u32 i = 0; i < p->ranks; i++)
		if (!nccl_is_in(without, n, i)) {
			mine += i < p->rank;
			ranks++;
		}
	nccl_name_part(p->name, ~p->shrinks++, ranks, name);
	nccl_group_enter();
	status = plrt_work_enter(p->device) ? NCCL_CUDA_ERROR : NCCL_SUCCESS;
	if (!status) {
		status = join_ranks(name, ranks, mine, out);
		plrt_work_leave();
	}
	return nccl_group_leave(status);
}

NCCL(ncclCommSplit, (void *c, int color, int key, void **out, void *config),
     (c, color, key, out, config), nccl_split(c, color, key, out))
NCCL(ncclCommShrink, (void *c, int *without, int n, void **out, void *config, int flags),
     (c, without, n, out, config, flags), nccl_shrink(c, without, n, out))

/* ---- questions ---- */

#define ASK(name, type, value)                                                                     \
	NCCL(name, (void *c, type *out), (c, out),                                                 \
	     out &&nccl_comm_of(c) ? (*out = (type)(value), NCCL_SUCCESS)                          \
				   : nccl_say(NCCL_INVALID_ARGUMENT, #name ": no communicator"))
ASK(ncclCommCount, int, nccl_comm_of(c)->ranks)
ASK(ncclCommCuDevice, int, nccl_comm_of(c)->device)
ASK(ncclCommUserRank, int, nccl_comm_of(c)->rank)
ASK(ncclCommGetAsyncError, int, atomic_load(&nccl_comm_of(c)->error))

static int version_of_library(int *out)
{
	static struct libs_function fn = {"ncclGetVersion", LIBS_NCCL, LIBS_NONE, NULL};
	int (*next)(int *) = (int (*)(int *))(uintptr_t)libs_next(&fn, NULL);

	if (!out)
		return NCCL_INVALID_ARGUMENT;
	*out = VERSION;
	return next ? next(out) : NCCL_SUCCESS;
}

NCCL(ncclGetVersion, (int *out), (out), version_of_library(out))

static const char *status_text(int status)
{
	static const char *const texts[] = {
		"no error",
		"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
		"unhandled system error (run with NCCL_DEBUG=INFO for details)",
		"internal error - please report this issue to the NCCL developers",
		"invalid argument (run with NCCL_DEBUG=WARN for details)",
		"invalid usage (run with NCCL_DEBUG=WARN for details)",
		"remote process exited or there was a network error",
		"NCCL operation in progress",
	};

	return status >= 0 && status < (int)ARRAY_LEN(texts) ? texts[status]
							     : "unknown result code";
}

#define TEXT_FN(name, param, value)                                                                \
	LIBS_API const char *name(param);                                                          \
	LIBS_API const char *name(param)                                                           \
	{                                                                                          \
		return value;                                                                      \
	}
TEXT_FN(ncclGetErrorString, int status, status_text(status))
TEXT_FN(pncclGetErrorString, int status, status_text(status))
TEXT_FN(ncclGetLastError, void *comm, ((void)comm, last_error))
TEXT_FN(pncclGetLastError, void *comm, ((void)comm, last_error))

/* ---- memory ---- */

static int nccl_malloc(void **p, size_t bytes)
{
	return plentry_cudaMalloc(p, bytes) ? NCCL_CUDA_ERROR : NCCL_SUCCESS;
}

static int nccl_free(void *p)
{
	return plentry_cudaFree(p) ? NCCL_CUDA_ERROR : NCCL_SUCCESS;
}

static int nccl_keep(void *c, void *buffer, void **handle)
{
	if (!nccl_comm_of(c) || !handle)
		return NCCL_INVALID_ARGUMENT;
	*handle = buffer;
	return NCCL_SUCCESS;
}

NCCL(ncclMemAlloc, (void **p, size_t bytes), (p, bytes), nccl_malloc(p, bytes))
NCCL(ncclMemFree, (void *p), (p), nccl_free(p))
NCCL(ncclCommRegister, (void *c, void *buffer, size_t bytes, void **handle),
     (c, buffer, bytes, handle), nccl_keep(c, buffer, handle))
NCCL(ncclCommDeregister, (void *c, void *handle), (c, handle),
     nccl_comm_of(c) ? NCCL_SUCCESS : NCCL_INVALID_ARGUMENT)

/* ---- operators ---- */

static int op_create(int *op, const void *scalar, int type, int residence, void *handle)
{
	struct nccl_comm *c = nccl_comm_of(handle);
	struct nccl_op made = {.used = true, .on_device = residence == 0, .type = (u32)type};
	struct nccl_op *grown;
	u32 i = 0;

	if (!op || !scalar || !c || type < 0 || type >= HL_REDUCE_TYPES || residence < 0 ||
	    residence > 1)
		return nccl_say(NCCL_INVALID_ARGUMENT, "ncclRedOpCreatePreMulSum: type %d", type);
	if (made.on_device)
		made.address = (u64)(uintptr_t)scalar;
	else
		memcpy(made.scalar, scalar, hl_element_bytes((enum hl_element)type));
	while (i < c->op_len && c->ops[i].used)
		i++;
	if (i == c->op_len) {
		grown = realloc(c->ops, (c->op_len + 1u) * sizeof(*grown));
		if (!grown)
			return NCCL_SYSTEM_ERROR;
		c->ops = grown;
		c->op_len++;
	}
	c->ops[i] = made;
	*op = NCCL_OPS + (int)i;
	return NCCL_SUCCESS;
}

static int op_destroy(int op, void *handle)
{
	struct nccl_comm *c = nccl_comm_of(handle);

	if (!c || op < NCCL_OPS || (u32)(op - NCCL_OPS) >= c->op_len || !c->ops[op - NCCL_OPS].used)
		return nccl_say(NCCL_INVALID_ARGUMENT, "ncclRedOpDestroy: operator %d", op);
	c->ops[op - NCCL_OPS].used = false;
	return NCCL_SUCCESS;
}

NCCL(ncclRedOpCreatePreMulSum, (int *op, void *scalar, int type, int residence, void *c),
     (op, scalar, type, residence, c), op_create(op, scalar, type, residence, c))
NCCL(ncclRedOpDestroy, (int op, void *c), (op, c), op_destroy(op, c))

/* A mean of floats is a sum of what was multiplied by 1 / n, as NCCL's is. */
static bool take_op(const struct nccl_comm *c, struct nccl_task *t, int op)
{
	t->call.op = (u32)op;
	if (op == NCCL_AVG && !hl_element_is_integer((enum hl_element)t->call.type)) {
		t->scale = (struct nccl_op){.used = true, .type = t->call.type};
		hl_reciprocal((enum hl_element)t->call.type, t->scale.scalar, c->ranks);
	}
	if (op < NCCL_OPS)
		return op >= 0;
	if ((u32)(op - NCCL_OPS) >= c->op_len)
		return false;
	t->scale = c->ops[op - NCCL_OPS];
	/* Ranks number them as they like. */
	t->call.op = NCCL_OPS;
	return t->scale.used && t->scale.type == t->call.type;
}

/* ---- operations ---- */

struct operation {
	u32 kind;
	u64 send, recv, count;
	int type, op, root;
};

/* How many elements one side has for each of the function's. */
static u64 nccl_factor_of(const struct nccl_comm *c, u32 kind)
{
	return kind == NCCL_ALL_GATHER || kind == NCCL_REDUCE_SCATTER ? c->ranks : 1;
}

static int operate(struct libs_function *f, void *handle, void *stream, const struct operation *o)
{
	struct nccl_comm *c = nccl_comm_of(handle);
	struct nccl_task t = {.f = f, .send = o->send, .recv = o->recv};
	u64 bytes;

	if (!c || c->aborted)
		return nccl_say(NCCL_INVALID_ARGUMENT, "%s: no communicator", f->name);
	if (o->type < 0 || o->type >= HL_REDUCE_TYPES)
		return nccl_say(NCCL_INVALID_ARGUMENT, "%s: type %d", f->name, o->type);
	if (o->root < 0 || (u32)o->root >= c->ranks)
		return nccl_say(NCCL_INVALID_ARGUMENT, "%s: there is no rank %d", f->name, o->root);
	t.call = (struct nccl_call){
		.kind = o->kind, .type = (u32)o->type, .root = (u32)o->root, .count = o->count};
	t.peer = (u32)o->root;
	if (!take_op(c, &t, o->op))
		return nccl_say(NCCL_INVALID_ARGUMENT, "%s: operator %d for type %d", f->name,
				o->op, o->type);
	if (!size_mul(o->count, hl_element_bytes((enum hl_element)o->type), &bytes) ||
	    !size_mul(bytes, nccl_factor_of(c, o->kind), &bytes) || bytes > (u64)1 << 48)
		return nccl_say(NCCL_INVALID_ARGUMENT, "%s: %llu elements", f->name,
				(unsigned long long)o->count);
	if (!o->count)
		return NCCL_SUCCESS;
	if ((!o->send && o->kind != NCCL_RECV &&
	     (o->kind != NCCL_BROADCAST || c->rank == t.call.root)) ||
	    (!o->recv && o->kind != NCCL_SEND &&
	     (o->kind != NCCL_REDUCE || c->rank == t.call.root)))
		return nccl_say(NCCL_INVALID_ARGUMENT, "%s: a buffer is NULL", f->name);
	if (atomic_load(&c->error))
		return nccl_say((int)atomic_load(&c->error), "%s: the communicator has failed",
				f->name);
	return nccl_group_add(&t, c, stream);
}

static int operation(struct libs_function *f, void *c, void *stream, struct operation o)
{
	nccl_group_enter();
	return nccl_group_leave(operate(f, c, stream, &o));
}

/* Between all ranks, or one and all: sends and receives. each: bytes of what goes to one. */
struct exchange {
	u64 send, recv, count;
	int type, root; /* -1 without has_root: every rank is one */
	bool scatter, has_root;
};

static int nccl_exchange(struct libs_function *f, void *handle, void *stream, struct exchange x)
{
	struct nccl_comm *c = nccl_comm_of(handle);
	u64 bytes = x.type < 0 ? 0 : x.count * hl_element_bytes((enum hl_element)x.type);
	bool sends_all, receives_all;
	int status = NCCL_SUCCESS;

	if (!c || x.root >= (int)c->ranks || (x.has_root && x.root < 0))
		return nccl_say(NCCL_INVALID_ARGUMENT, "%s: rank %d", f->name, x.root);
	sends_all = x.root < 0 || (x.scatter && c->rank == (u32)x.root);
	receives_all = x.root < 0 || (!x.scatter && c->rank == (u32)x.root);
	nccl_group_enter();
	for (u32 i = 0; !status && i < c->ranks; i++) {
		struct operation o = {
			NCCL_SEND, x.send + (sends_all ? i * bytes : 0), 0, x.count, x.type, 0,
			(int)i};

		if (sends_all || (!x.scatter && i == (u32)x.root))
			status = operate(f, c, stream, &o);
		o = (struct operation){NCCL_RECV, 0,      x.recv + (receives_all ? i * bytes : 0),
				       x.count,   x.type, 0,
				       (int)i};
		if (!status && (receives_all || (x.scatter && i == (u32)x.root)))
			status = operate(f, c, stream, &o);
	}
	return nccl_group_leave(status);
}

NCCL(ncclAllReduce, (u64 in, u64 out, size_t n, int type, int op, void *c, void *stream),
     (in, out, n, type, op, c, stream),
     operation(&f, c, stream, (struct operation){NCCL_ALL_REDUCE, in, out, n, type, op, 0}))
NCCL(ncclReduce, (u64 in, u64 out, size_t n, int type, int op, int root, void *c, void *stream),
     (in, out, n, type, op, root, c, stream),
     operation(&f, c, stream, (struct operation){NCCL_REDUCE, in, out, n, type, op, root}))
NCCL(ncclReduceScatter, (u64 in, u64 out, size_t n, int type, int op, void *c, void *stream),
     (in, out, n, type, op, c, stream),
     operation(&f, c, stream, (struct operation){NCCL_REDUCE_SCATTER, in, out, n, type, op, 0}))
NCCL(ncclBroadcast, (u64 in, u64 out, size_t n, int type, int root, void *c, void *stream),
     (in, out, n, type, root, c, stream),
     operation(&f, c, stream, (struct operation){NCCL_BROADCAST, in, out, n, type, 0, root}))
NCCL(ncclBcast, (u64 at, size_t n, int type, int root, void *c, void *stream),
     (at, n, type, root, c, stream),
     operation(&f, c, stream, (struct operation){NCCL_BROADCAST, at, at, n, type, 0, root}))
NCCL(ncclAllGather, (u64 in, u64 out, size_t n, int type, void *c, void *stream),
     (in, out, n, type, c, stream),
     operation(&f, c, stream, (struct operation){NCCL_ALL_GATHER, in, out, n, type, 0, 0}))
NCCL(ncclSend, (u64 in, size_t n, int type, int peer, void *c, void *stream),
     (in, n, type, peer, c, stream),
     operation(&f, c, stream, (struct operation){NCCL_SEND, in, 0, n, type, 0, peer}))
NCCL(ncclRecv, (u64 out, size_t n, int type, int peer, void *c, void *stream),
     (out, n, type, peer, c, stream),
     operation(&f, c, stream, (struct operation){NCCL_RECV, 0, out, n, type, 0, peer}))
NCCL(ncclAlltoAll, (u64 in, u64 out, size_t n, int type, void *c, void *stream),
     (in, out, n, type, c, stream),
     nccl_exchange(&f, c, stream, (struct exchange){in, out, n, type, -1, false, false}))
NCCL(ncclGather, (u64 in, u64 out, size_t n, int type, int root, void *c, void *stream),
     (in, out, n, type, root, c, stream),
     nccl_exchange(&f, c, stream, (struct exchange){in, out, n, type, root, false, true}))
NCCL(ncclScatter, (u64 in, u64 out, size_t n, int type, int root, void *c, void *stream),
     (in, out, n, type, root, c, stream),
     nccl_exchange(&f, c, stream, (struct exchange){in, out, n, type, root, true, true}))

NCCL(ncclGroupStart, (void), (), (nccl_group_enter(), NCCL_SUCCESS))
NCCL(ncclGroupEnd, (void), (), nccl_group_leave(NCCL_SUCCESS))

/* It ends the group, as it would have if it had answered. */
NCCL(ncclGroupSimulateEnd, (void *info), (info),
     nccl_group_leave(nccl_say(NCCL_INVALID_USAGE, "ncclGroupSimulateEnd is not supported")))
NCCL_NOT(ncclCommRevoke, (void *c, int flags), (c, flags))
NCCL_NOT(ncclCommGetUniqueId, (void *c, void *id), (c, id))
NCCL_NOT(ncclCommGrow, (void *c, int n, const void *id, int rank, void **out, void *config),
	 (c, n, id, rank, out, config))
NCCL_NOT(ncclCommSuspend, (void *c, int flags), (c, flags))
NCCL_NOT(ncclCommResume, (void *c), (c))
NCCL_NOT(ncclCommMemStats, (void *c, int what, u64 *out), (c, what, out))
NCCL_NOT(ncclCommWindowRegister, (void *c, void *at, size_t bytes, void **window, int flags),
	 (c, at, bytes, window, flags))
NCCL_NOT(ncclCommWindowDeregister, (void *c, void *window), (c, window))
NCCL_NOT(ncclWinGetUserPtr, (void *c, void *window, void **out), (c, window, out))
NCCL_NOT(ncclDevCommCreate, (void *c, const void *needs, void *out), (c, needs, out))
NCCL_NOT(ncclDevCommDestroy, (void *c, const void *comm), (c, comm))
NCCL_NOT(ncclPutSignal,
	 (const void *from, size_t n, int type, int peer, void *window, size_t at, int signal,
	  int context, unsigned flags, void *c, void *stream),
	 (from, n, type, peer, window, at, signal, context, flags, c, stream))
NCCL_NOT(ncclSignal, (int peer, int signal, int context, unsigned flags, void *c, void *stream),
	 (peer, signal, context, flags, c, stream))
NCCL_NOT(ncclWaitSignal, (int n, void *what, void *c, void *stream), (n, what, c, stream))
