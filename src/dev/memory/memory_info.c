/*
 * What a pointer is; hints about managed memory; access of peers.
 */
#include "src/dev/memory/memory.h"
#include "src/dev/memory/watch.h"
#include "src/mem/guard.h"

/* ---- pointers ---- */

bool memory_find(struct mem_system *s, u64 p, struct memory_info *out)
{
	*out = (struct memory_info){0};
	if (!mem_system_find(s, p, 1, &out->range, &out->arena))
		return false;
	out->block = out->range.user;
	out->device = out->block ? out->block->device : out->arena->index;
	return true;
}

static bool is_host(const struct memory_info *i)
{
	return i->range.kind == MEM_KIND_PINNED || i->range.kind == MEM_KIND_HOST;
}

int memory_type_of(const struct memory_info *i)
{
	return is_host(i) ? 1 : 2;
}

/* Numbers of CUpointer_attribute. */
enum {
	POINTER_CONTEXT = 1, /* the layer above answers it */
	POINTER_MEMORY_TYPE,
	POINTER_DEVICE_POINTER,
	POINTER_HOST_POINTER,
	POINTER_P2P_TOKENS,
	POINTER_SYNC_MEMOPS,
	POINTER_BUFFER_ID,
	POINTER_IS_MANAGED,
	POINTER_DEVICE_ORDINAL,
	POINTER_IPC_CAPABLE,
	POINTER_RANGE_START,
	POINTER_RANGE_SIZE,
	POINTER_MAPPED,
	POINTER_HANDLE_TYPES,
	POINTER_RDMA,
	POINTER_ACCESS_FLAGS,
	POINTER_POOL,
	POINTER_MAPPING_SIZE,
	POINTER_MAPPING_BASE,
	POINTER_BLOCK_ID,
	POINTER_DECOMPRESS,
	POINTERS
};

/* Bytes of each answer, by number; 0: there is no such thing here. */
static const u8 pointer_bytes[POINTERS] = {
	[POINTER_MEMORY_TYPE] = 4,    [POINTER_DEVICE_POINTER] = 8, [POINTER_HOST_POINTER] = 8,
	[POINTER_SYNC_MEMOPS] = 4,    [POINTER_BUFFER_ID] = 8,      [POINTER_IS_MANAGED] = 4,
	[POINTER_DEVICE_ORDINAL] = 4, [POINTER_IPC_CAPABLE] = 4,    [POINTER_RANGE_START] = 8,
	[POINTER_RANGE_SIZE] = 8,     [POINTER_MAPPED] = 4,         [POINTER_HANDLE_TYPES] = 8,
	[POINTER_RDMA] = 4,           [POINTER_ACCESS_FLAGS] = 4,   [POINTER_POOL] = 8,
	[POINTER_MAPPING_SIZE] = 8,   [POINTER_MAPPING_BASE] = 8,   [POINTER_BLOCK_ID] = 8,
	[POINTER_DECOMPRESS] = 1,     [POINTER_P2P_TOKENS] = 8,
};

u32 memory_attribute_bytes(int attribute)
{
	if (attribute == POINTER_CONTEXT)
		return 8;
	return attribute > 0 && attribute < POINTERS ? pointer_bytes[attribute] : 0;
}

static u64 pointer_value(const struct memory_info *i, u64 p, int attribute)
{
	const struct memory_block *b = i->block;

	switch (attribute) {
	case POINTER_MEMORY_TYPE:
		return (u64)memory_type_of(i);
	case POINTER_DEVICE_POINTER:
	case POINTER_HOST_POINTER:
		return p;
	case POINTER_SYNC_MEMOPS:
		return b && b->sync;
	case POINTER_BUFFER_ID:
	case POINTER_BLOCK_ID:
		return i->range.id << 8 | i->arena->index;
	case POINTER_IS_MANAGED:
		return i->range.kind == MEM_KIND_MANAGED;
	case POINTER_DEVICE_ORDINAL:
		return i->device;
	case POINTER_IPC_CAPABLE:
		return b && b->type == MEMORY_DEVICE;
	case POINTER_RANGE_START:
	case POINTER_MAPPING_BASE:
		return i->range.base;
	case POINTER_RANGE_SIZE:
	case POINTER_MAPPING_SIZE:
		return i->range.size;
	case POINTER_MAPPED:
		return 1;
	case POINTER_RDMA:
		return b && b->type == MEMORY_DEVICE;
	case POINTER_HANDLE_TYPES:
		return b && b->type == MEMORY_MAPPED;
	case POINTER_ACCESS_FLAGS:
		return 3;
	case POINTER_POOL:
		return (u64)(uintptr_t)(b ? b->pool : NULL);
	default:
		return 0;
	}
}

enum status memory_attribute(const struct memory_info *i, u64 p, int attribute, void *out)
{
	u64 value;

	if (attribute == POINTER_CONTEXT || !memory_attribute_bytes(attribute))
		return STATUS_INVALID_VALUE;
	if (attribute == POINTER_HOST_POINTER && !is_host(i) && i->range.kind != MEM_KIND_MANAGED)
		return STATUS_INVALID_VALUE;
	if (attribute == POINTER_P2P_TOKENS && is_host(i))
		return STATUS_INVALID_VALUE;
	value = pointer_value(i, p, attribute);
	memcpy(out, &value, pointer_bytes[attribute]);
	return STATUS_SUCCESS;
}

/* ---- managed memory: coherent everywhere, so hints are kept and answered ---- */

enum {
	ADVISE_READ_MOSTLY = 1,
	ADVISE_UNSET_READ_MOSTLY,
	ADVISE_PREFER,
	ADVISE_UNSET_PREFER,
	ADVISE_ACCESSED_BY,
	ADVISE_UNSET_ACCESSED_BY
};

/* The block of managed memory that holds all of it. NULL: there is none. */
static struct memory_block *managed(struct mem_system *s, u64 p, u64 bytes)
{
	struct mem_range r;

	if (!bytes || !mem_find_own(&s->host, p, bytes, &r) || r.kind != MEM_KIND_MANAGED)
		return NULL;
	return r.user;
}

static bool is_valid_location(struct memory_location l, u32 devices)
{
	if (l.type == LOCATION_DEVICE)
		return l.id >= 0 && (u32)l.id < devices;
	return l.type == LOCATION_HOST || l.type == LOCATION_NUMA_HERE ||
	       (l.type == LOCATION_NUMA && l.id >= 0);
}

static u32 location_bit(struct memory_location l)
{
	return l.type == LOCATION_DEVICE ? (u32)1 << l.id : MEMORY_HOST_BIT;
}

enum status memory_advise(struct mem_system *s, u64 p, u64 bytes, int advice,
			  struct memory_location where, u32 devices)
{
	struct memory_block *b = managed(s, p, bytes);
	bool placed = advice == ADVISE_PREFER || advice == ADVISE_ACCESSED_BY ||
		      advice == ADVISE_UNSET_ACCESSED_BY;

	if (!b || advice < ADVISE_READ_MOSTLY || advice > ADVISE_UNSET_ACCESSED_BY)
		return STATUS_INVALID_VALUE;
	if (placed && !is_valid_location(where, devices))
		return STATUS_INVALID_VALUE;
	switch (advice) {
	case ADVISE_READ_MOSTLY:
	case ADVISE_UNSET_READ_MOSTLY:
		b->read_mostly = advice == ADVISE_READ_MOSTLY;
		break;
	case ADVISE_PREFER:
		b->preferred = where;
		break;
	case ADVISE_UNSET_PREFER:
		b->preferred = (struct memory_location){0};
		break;
	case ADVISE_ACCESSED_BY:
		b->accessed_by |= location_bit(where);
		break;
	default:
		b->accessed_by &= ~location_bit(where);
		break;
	}
	memory_tell_advise(p, advice, &where);
	return STATUS_SUCCESS;
}

struct prefetch {
	u64 address, bytes;
	struct memory_location where;
};

static enum status tell_prefetch(void *data, enum status so_far)
{
	const struct prefetch *p = data;

	if (so_far == STATUS_SUCCESS)
		memory_tell_prefetch(p->address, p->bytes, &p->where);
	return STATUS_SUCCESS;
}

enum status memory_prefetch(struct mem_system *s, u64 p, u64 bytes, struct memory_location where,
			    u32 devices, struct stream *stream)
{
	struct prefetch told = {p, bytes, where};
	struct memory_block *b = managed(s, p, bytes);

	if (!b)
		return STATUS_INVALID_VALUE;
	if (!is_valid_location(where, devices))
		return where.type == LOCATION_DEVICE ? STATUS_INVALID_DEVICE : STATUS_INVALID_VALUE;
	b->prefetched = where;
	return memory_is_watched() && stream
		       ? stream_call(stream, tell_prefetch, &told, sizeof(told), 0)
		       : STATUS_SUCCESS;
}

/* The bytes stay: any contents are right. */
bool memory_is_managed(struct mem_system *s, u64 p, u64 bytes)
{
	return managed(s, p, bytes) != NULL;
}

/* Devices as the older attributes number them: -1 the host, -2 none. */
static s32 device_number(struct memory_location l)
{
	return l.type == LOCATION_INVALID ? -2 : l.type == LOCATION_DEVICE ? l.id : -1;
}

struct device_list {
	u32 devices;
	s32 *out;
	u64 n;
};

static void list_devices(void *arg)
{
	const struct device_list *l = arg;
	u64 at = 0;

	for (u32 i = 0; i < MEM_DEVICES_MAX && at < l->n; i++)
		if (l->devices >> i & 1)
			l->out[at++] = i == MEM_DEVICES_MAX - 1 ? -1 : (s32)i;
	while (at < l->n)
		l->out[at++] = -2;
}

/* All of the program's list is written, however long it says that it is. */
static enum status list_accessed_by(const struct memory_block *b, s32 *out, u64 size)
{
	struct device_list l = {b->accessed_by, out, size / sizeof(*out)};

	if (!l.n || size % sizeof(*out))
		return STATUS_INVALID_VALUE;
	return mem_guard(list_devices, &l, NULL) ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

enum {
	RANGE_READ_MOSTLY = 1,
	RANGE_PREFERRED,
	RANGE_ACCESSED_BY,
	RANGE_PREFETCH,
	RANGE_PREFERRED_TYPE,
	RANGE_PREFERRED_ID,
	RANGE_PREFETCH_TYPE,
	RANGE_PREFETCH_ID
};

enum status memory_range_attribute(struct mem_system *s, u64 p, u64 bytes, int attribute, void *out,
				   u64 size)
{
	const struct memory_block *b = managed(s, p, bytes);
	s32 value;

	if (!b || !out)
		return STATUS_INVALID_VALUE;
	if (attribute == RANGE_ACCESSED_BY)
		return list_accessed_by(b, out, size);
	if (attribute < RANGE_READ_MOSTLY || attribute > RANGE_PREFETCH_ID || size != sizeof(value))
		return STATUS_INVALID_VALUE;
	value = attribute == RANGE_READ_MOSTLY      ? b->read_mostly
		: attribute == RANGE_PREFERRED      ? device_number(b->preferred)
		: attribute == RANGE_PREFETCH       ? device_number(b->prefetched)
		: attribute == RANGE_PREFERRED_TYPE ? b->preferred.type
		: attribute == RANGE_PREFERRED_ID   ? b->preferred.id
		: attribute == RANGE_PREFETCH_TYPE  ? b->prefetched.type
						    : b->prefetched.id;
	memcpy(out, &value, sizeof(value));
	return STATUS_SUCCESS;
}

/* ---- peers ---- */

enum status memory_peer_enable(struct device *d, const struct device *peer)
{
	u32 bit = (u32)1 << peer->mem.index;

	if (d == peer)
		return STATUS_PEER_ACCESS_UNSUPPORTED;
	return __atomic_fetch_or(&d->mem.peers, bit, __ATOMIC_ACQ_REL) & bit
		       ? STATUS_PEER_ACCESS_ALREADY_ENABLED
		       : STATUS_SUCCESS;
}

enum status memory_peer_disable(struct device *d, const struct device *peer)
{
	u32 bit = (u32)1 << peer->mem.index;

	if (!(__atomic_fetch_and(&d->mem.peers, ~bit, __ATOMIC_ACQ_REL) & bit))
		return STATUS_PEER_ACCESS_NOT_ENABLED;
	mem_system_changed(d->mem.system);
	return STATUS_SUCCESS;
}
