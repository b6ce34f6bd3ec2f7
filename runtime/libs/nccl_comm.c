/*
 * Where ranks meet: segments of shared memory, and communicators.
 */
#include "runtime/libs/nccl.h"
#include "src/base/size.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x6e63636cu
#define ALL_PIECES ((u64)16 << 20)
#define PIECE_LEAST ((u64)64 << 10)
#define PIECE_MOST ((u64)1 << 20)
#define BOX_LEAST ((u64)4 << 10)
#define BOX_MOST ((u64)128 << 10)

/* ---- places in a segment ---- */

static u64 seats_at(void)
{
	return align_up(sizeof(struct nccl_segment), 64);
}

static u64 boxes_at(u64 ranks)
{
	return seats_at() + ranks * sizeof(struct nccl_seat);
}

static u64 pieces_at(u64 ranks)
{
	return align_up(boxes_at(ranks) + ranks * ranks * sizeof(struct nccl_box), 4096);
}

static u8 *segment_at(const struct nccl_comm *c, u64 offset)
{
	return (u8 *)c->segment + offset;
}

struct nccl_seat *nccl_seat(const struct nccl_comm *c, u32 rank)
{
	return (struct nccl_seat *)(void *)segment_at(c, seats_at()) + rank;
}

u8 *nccl_piece(const struct nccl_comm *c, u32 rank)
{
	return segment_at(c, pieces_at(c->ranks) + rank * c->segment->piece_bytes);
}

struct nccl_box *nccl_box(const struct nccl_comm *c, u32 from, u32 to)
{
	return (struct nccl_box *)(void *)segment_at(c, boxes_at(c->ranks)) + from * c->ranks + to;
}

u8 *nccl_box_piece(const struct nccl_comm *c, u32 from, u32 to)
{
	return segment_at(c, pieces_at(c->ranks) + c->ranks * c->segment->piece_bytes +
				     ((u64)from * c->ranks + to) * c->segment->box_bytes);
}

static u64 nccl_between(u64 x, u64 least, u64 most)
{
	return x < least ? least : x > most ? most : x;
}

static struct nccl_segment segment_for(u64 ranks)
{
	struct nccl_segment s = {.ranks = (u32)ranks};

	s.piece_bytes = align_up(nccl_between(ALL_PIECES / ranks, PIECE_LEAST, PIECE_MOST), 4096);
	s.box_bytes =
		align_up(nccl_between(ALL_PIECES / (ranks * ranks), BOX_LEAST, BOX_MOST), 4096);
	s.bytes = pieces_at(ranks) + ranks * s.piece_bytes + ranks * ranks * s.box_bytes;
	return s;
}

/* ---- opening ---- */

static void name_of(const u64 x[2], char name[NCCL_NAME_BYTES])
{
	snprintf(name, NCCL_NAME_BYTES, "/ptxloom-nccl-%016llx%016llx", (unsigned long long)x[0],
		 (unsigned long long)x[1]);
}

void nccl_name_new(char name[NCCL_NAME_BYTES])
{
	u64 x[2] = {0, 0};

	if (getrandom(x, sizeof(x), 0) < 0)
		x[0] = (u64)getpid() << 32 ^ (u64)(uintptr_t)name;
	name_of(x, name);
}

/* FNV-1a, twice. */
void nccl_name_part(const char *of, u32 number, u32 part, char name[NCCL_NAME_BYTES])
{
	u64 x[2] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};
	char text[NCCL_NAME_BYTES + 32];

	snprintf(text, sizeof(text), "%s %x %x", of, number, part);
	for (const char *p = text; *p; p++)
		for (int i = 0; i < 2; i++)
			x[i] = (x[i] ^ (u8)*p) * 0x100000001b3u;
	name_of(x, name);
}

static struct nccl_segment *map_file(int file, u64 bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The first rank makes it. Room is taken now: later there would be a signal instead of an error. */
static struct nccl_segment *segment_make(int file, u32 ranks)
{
	struct nccl_segment made = segment_for(ranks), *s;

	errno = posix_fallocate(file, 0, (off_t)made.bytes);
	s = errno ? NULL : map_file(file, made.bytes);
	if (!s)
		return NULL;
	s->ranks = made.ranks;
	s->bytes = made.bytes;
	s->piece_bytes = made.piece_bytes;
	s->box_bytes = made.box_bytes;
	atomic_store(&s->ready, 1);
	return s;
}

/* Another rank is making it. NULL: it does not become ready. */
static struct nccl_segment *segment_find(int file)
{
	struct nccl_segment *s = NULL;
	struct stat st;
	u64 bytes = 0;

	for (int tries = 0; tries < 5000 && !bytes; tries++) {
		if (!fstat(file, &st) && st.st_size >= 4096)
			s = map_file(file, 4096);
		if (s) {
			bytes = atomic_load(&s->ready) ? s->bytes : 0;
			munmap(s, 4096);
			s = NULL;
		}
		if (!bytes)
			usleep(1000);
	}
	return bytes ? map_file(file, bytes) : NULL;
}

static int segment_open(struct nccl_comm *c)
{
	bool first = true;

	c->file = shm_open(c->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (c->file < 0 && errno == EEXIST) {
		first = false;
		c->file = shm_open(c->name, O_RDWR | O_CLOEXEC, 0600);
	}
	if (c->file < 0)
		return nccl_say(NCCL_SYSTEM_ERROR, "shared memory %s: %s", c->name,
				strerror(errno));
	c->segment = first ? segment_make(c->file, c->ranks) : segment_find(c->file);
	if (c->segment)
		return NCCL_SUCCESS;
	if (first)
		shm_unlink(c->name);
	return nccl_say(NCCL_SYSTEM_ERROR, "shared memory for %u ranks: %s", c->ranks,
			first ? strerror(errno) : "the rank that makes it does not go on");
}

/* A lock of the open file: it goes with the process, whatever its end. */
static bool seat_lock(const struct nccl_comm *c, u32 rank, int command, struct flock *l)
{
	*l = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
	return fcntl(c->file, command, l) == 0;
}

bool nccl_is_gone(const struct nccl_comm *c, u32 rank)
{
	struct flock l;

	return rank != c->rank && atomic_load(&nccl_seat(c, rank)->taken) &&
	       seat_lock(c, rank, F_OFD_GETLK, &l) && l.l_type == F_UNLCK;
}

/* Two ranks of a process cannot have one device, as on hardware. */
static int seat_check(const struct nccl_comm *c)
{
	for (u32 i = 0; i < c->ranks; i++) {
		const struct nccl_seat *s = nccl_seat(c, i);

		if (i != c->rank && atomic_load(&s->taken) == 2 && s->process == (s32)getpid() &&
		    s->device == c->device)
			return nccl_say(NCCL_INVALID_USAGE,
					"ranks %u and %u have the same device %d", c->rank, i,
					c->device);
	}
	return NCCL_SUCCESS;
}

static int seat_take(struct nccl_comm *c)
{
	struct nccl_seat *s;
	struct flock l;
	int status;

	if (c->segment->ranks != c->ranks)
		return nccl_say(NCCL_INVALID_ARGUMENT, "the ranks say that there are %u and %u",
				c->ranks, c->segment->ranks);
	s = nccl_seat(c, c->rank);
	/* The lock comes first: a rank without one counts as left. */
	if (!seat_lock(c, c->rank, F_OFD_SETLK, &l) || atomic_exchange(&s->taken, 1))
		return nccl_say(NCCL_INVALID_USAGE, "there are two of rank %u", c->rank);
	s->device = c->device;
	s->process = (s32)getpid();
	status = seat_check(c);
	atomic_store(&s->taken, 2);
	if (status)
		atomic_store(&c->segment->failed, 1);
	else if (atomic_fetch_add(&c->segment->arrived, 1) + 1 == c->ranks)
		shm_unlink(c->name);
	return status;
}

int nccl_attach(const char *name, u32 ranks, u32 rank, struct nccl_comm **out)
{
	struct nccl_comm *c;
	int status;

	if (!ranks || rank >= ranks)
		return nccl_say(NCCL_INVALID_ARGUMENT, "rank %u of %u", rank, ranks);
	if (ranks > NCCL_RANKS_MAX)
		return nccl_say(NCCL_INVALID_ARGUMENT, "%u ranks; there can be %u", ranks,
				NCCL_RANKS_MAX);
	c = calloc(1, sizeof(*c));
	if (!c)
		return NCCL_SYSTEM_ERROR;
	c->magic = MAGIC;
	c->rank = rank;
	c->ranks = ranks;
	c->device = plrt_work_device();
	c->file = -1;
	pthread_mutex_init(&c->lock, NULL);
	snprintf(c->name, sizeof(c->name), "%s", name);
	status = c->device < 0 ? NCCL_CUDA_ERROR : segment_open(c);
	if (!status)
		status = seat_take(c);
	if (status && c->segment) {
		atomic_store(&c->segment->failed, 1);
		shm_unlink(c->name);
	}
	if (status)
		nccl_close(c);
	else
		*out = c;
	return status;
}

void nccl_forget_name(const struct nccl_comm *c)
{
	shm_unlink(c->name);
}

int nccl_arrived(struct nccl_comm *c)
{
	if (atomic_load(&c->segment->failed))
		return nccl_say(NCCL_REMOTE_ERROR, "another rank could not be initialised");
	if (atomic_load(&c->segment->arrived) == c->ranks)
		return NCCL_SUCCESS;
	for (u32 i = 0; i < c->ranks; i++)
		if (nccl_is_gone(c, i)) {
			shm_unlink(c->name);
			return nccl_say(NCCL_REMOTE_ERROR, "the process of rank %u has ended", i);
		}
	return NCCL_IN_PROGRESS;
}

struct nccl_comm *nccl_comm_of(void *handle)
{
	struct nccl_comm *c = handle;

	return c && c->magic == MAGIC ? c : NULL;
}

/* Graphs may name it for ever, and work that has not run yet. */
static struct nccl_comm *of_plans;

void nccl_close(struct nccl_comm *c)
{
	bool kept;

	c->magic = 0;
	pthread_mutex_lock(&c->lock);
	c->aborted = true;
	kept = c->captured || c->served != c->issued;
	pthread_mutex_unlock(&c->lock);
	if (c->segment)
		munmap(c->segment, c->segment->bytes);
	if (c->file >= 0)
		close(c->file);
	c->segment = NULL;
	c->file = -1;
	if (kept) {
		of_plans = c;
		return;
	}
	pthread_mutex_destroy(&c->lock);
	free(c->ops);
	free(c);
}
