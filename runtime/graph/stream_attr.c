/*
 * Attributes of streams and launches: what they must look like, and which have an effect.
 * Priorities, cache windows and synchronisation domains are hints to hardware: they are checked and
 * kept.
 */
#include "runtime/graph/stream_attr.h"

enum {
	ATTR_IGNORE,
	ATTR_ACCESS_WINDOW,
	ATTR_COOPERATIVE,
	ATTR_SYNC_POLICY,
	ATTR_CLUSTER,
	ATTR_CLUSTER_POLICY,
	ATTR_PROGRAMMATIC,
	ATTR_PROGRAMMATIC_EVENT,
	ATTR_PRIORITY,
	ATTR_DOMAIN_MAP,
	ATTR_DOMAIN,
	ATTR_PREFERRED_CLUSTER,
	ATTR_COMPLETION_EVENT,
	ATTR_DEVICE_NODE,
	ATTR_CARVEOUT,
	ATTR_NVLINK = 16,
	ATTR_COUNT
};

/*
 * As measured on an H200: a ratio that is no number passes, and of properties only a miss that is
 * persisting is refused.
 */
static bool window_is_valid(const struct launch_attr *a, const struct device *d)
{
	return !(a->value.window.hit_ratio < 0) && !(a->value.window.hit_ratio > 1) &&
	       a->value.window.miss != ACCESS_PERSISTING &&
	       (!d || a->value.window.bytes <= (size_t)d->arch->access_window_max_bytes);
}

const struct access_window *launch_window_of(const struct launch_attrs *a, const struct stream *s,
					     struct access_window *room)
{
	union launch_attr_value v;

	if (a && a->has_window)
		return &a->window;
	if (PL_LIKELY(!window_may_be_kept(s)))
		return NULL;
	stream_kept_read(s, ATTR_ACCESS_WINDOW, &v);
	*room = window_read(&v);
	return room;
}

static bool number_is_within(const struct launch_attr *a, int lo, int hi)
{
	return a->value.number >= lo && a->value.number <= hi;
}

/* Events that a launch completes are without timing. */
static enum status take_event(const struct streams *all, const struct launch_attr *a, u32 which,
			      struct launch_attrs *out)
{
	struct stream_event *e = a->value.event.event;

	if (!stream_event_is(all, e))
		return STATUS_INVALID_HANDLE;
	if (!(stream_event_flags_of(e) & STREAM_EVENT_NO_TIMING))
		return STATUS_NOT_SUPPORTED;
	if (a->value.event.flags & ~1)
		return STATUS_INVALID_VALUE;
	out->event[which] = e;
	out->event_flags[which] = a->value.event.flags;
	return STATUS_SUCCESS;
}

static bool cluster_is_valid(const struct launch_attr *a)
{
	return a->value.dim[0] && a->value.dim[1] && a->value.dim[2];
}

static enum status read_one(const struct streams *all, const struct device *d,
			    const struct launch_attr *a, struct launch_attrs *out)
{
	bool ok = false;

	switch (a->id) {
	case ATTR_IGNORE:
		return STATUS_SUCCESS;
	case ATTR_ACCESS_WINDOW:
		ok = window_is_valid(a, d);
		out->window = window_read(&a->value);
		out->has_window = true;
		break;
	case ATTR_COOPERATIVE:
		ok = true;
		out->cooperative = a->value.number != 0;
		break;
	case ATTR_CLUSTER:
		ok = cluster_is_valid(a);
		memcpy(out->cluster, a->value.dim, sizeof(out->cluster));
		break;
	case ATTR_PREFERRED_CLUSTER: /* a wish; the cluster dimension is what counts */
		ok = cluster_is_valid(a);
		break;
	case ATTR_CLUSTER_POLICY:
		ok = number_is_within(a, 0, 2);
		out->cluster_policy = a->value.number;
		break;
	case ATTR_PROGRAMMATIC:
		ok = true;
		out->programmatic = a->value.number != 0;
		break;
	case ATTR_PROGRAMMATIC_EVENT:
		return take_event(all, a, 0, out);
	case ATTR_COMPLETION_EVENT:
		return take_event(all, a, 1, out);
	case ATTR_PRIORITY: /* clamped */
	case ATTR_DOMAIN_MAP:
		ok = true;
		break;
	case ATTR_DOMAIN:
	case ATTR_NVLINK:
		ok = number_is_within(a, 0, 1);
		break;
	case ATTR_CARVEOUT:
		ok = number_is_within(a, -1, 100);
		break;
	case ATTR_DEVICE_NODE:
		return STATUS_NOT_SUPPORTED;
	default:
		break;
	}
	return ok ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

enum status launch_attrs_read(const struct streams *all, const struct device *d,
			      const struct launch_attr *at, u32 n, struct launch_attrs *out)
{
	*out = (struct launch_attrs){0};
	if (n && !at)
		return STATUS_INVALID_VALUE;
	for (u32 i = 0; i < n; i++) {
		enum status status = read_one(all, d, &at[i], out);

		if (status != STATUS_SUCCESS)
			return status;
	}
	return STATUS_SUCCESS;
}

/*
 * A kernel that could start earlier, or an event that could be reached earlier, does so only when
 * the kernel before has ended: what programmatic launches permit and never require.
 */
enum status launch_attrs_record(const struct launch_attrs *a, struct stream *s)
{
	for (u32 i = 0; i < ARRAY_LEN(a->event); i++) {
		enum status status =
			a->event[i] ? stream_event_record(a->event[i], s, (u32)a->event_flags[i])
				    : STATUS_SUCCESS;

		if (status != STATUS_SUCCESS)
			return status;
	}
	return STATUS_SUCCESS;
}

/* ---- of streams ---- */

static bool is_of_stream(int id)
{
	return id == ATTR_ACCESS_WINDOW || id == ATTR_SYNC_POLICY || id == ATTR_PRIORITY ||
	       id == ATTR_DOMAIN_MAP || id == ATTR_DOMAIN;
}

/* Behind what any value takes: whether a map of domains was given. */
#define MAP_GIVEN 63
/* A policy that was not given, and domains one of which is for remote memory. */
static const int no_policy = -1;
static const u8 usual_domains[] = {0, 1};

enum status stream_attr_get(const struct stream *s, int id, void *value)
{
	int priority = stream_priority_of(s);

	if (!value || !is_of_stream(id))
		return STATUS_INVALID_VALUE;
	if (id == ATTR_PRIORITY)
		memcpy(value, &priority, sizeof(priority));
	else
		stream_kept_read(s, (u32)id, value);
	if (id == ATTR_SYNC_POLICY && !*(int *)value)
		memcpy(value, &no_policy, sizeof(no_policy));
	if (id == ATTR_DOMAIN_MAP && !((u8 *)value)[MAP_GIVEN])
		memcpy(value, usual_domains, sizeof(usual_domains));
	return STATUS_SUCCESS;
}

enum status stream_attr_set(struct stream *s, int id, const void *value)
{
	struct launch_attr a = {.id = id};
	bool ok = true;

	if (!value || !is_of_stream(id))
		return STATUS_INVALID_VALUE;
	memcpy(a.value.bytes, value, sizeof(a.value.bytes));
	if (id == ATTR_ACCESS_WINDOW)
		ok = window_is_valid(&a, stream_device_of(s));
	else if (id == ATTR_SYNC_POLICY) /* auto, spin, yield, block */
		ok = number_is_within(&a, 1, 4);
	else if (id == ATTR_DOMAIN)
		ok = number_is_within(&a, 0, 1);
	else if (id == ATTR_PRIORITY)
		ok = number_is_within(&a, STREAM_PRIORITY_MAX, 0);
	if (!ok)
		return STATUS_INVALID_VALUE;
	if (id == ATTR_DOMAIN_MAP)
		a.value.bytes[MAP_GIVEN] = 1;
	if (id == ATTR_PRIORITY)
		stream_priority_set(s, a.value.number);
	else
		stream_kept_write(s, (u32)id, a.value.bytes);
	return STATUS_SUCCESS;
}

enum status stream_attr_copy(struct stream *to, const struct stream *from)
{
	u8 value[STREAM_KEPT_BYTES];

	for (u32 id = 0; id < ATTR_COUNT; id++)
		if (is_of_stream((int)id) && id != ATTR_PRIORITY) {
			stream_kept_read(from, id, value);
			stream_kept_write(to, id, value);
		}
	return STATUS_SUCCESS;
}
