/*
 * Fault injection in launches: those that are refused, those that fail, and bits of memory that
 * flip before one begins.
 */
#include "runtime/check_calls.h"
#include "runtime/inject.h"

#include "src/base/demangle.h"
#include "src/dev/status.h"

/* ---- allocations by their numbers ---- */

void inject_called(const char *name, int status, const struct entry_argument *a)
{
	struct inject *j = inject_get();
	u64 address, place;

	if (!j || status || !check_call_allocates(name) || a->bytes != sizeof(place))
		return;
	memcpy(&place, a->at, sizeof(place));
	memcpy(&address, (const void *)(uintptr_t)place, sizeof(address));
	pthread_mutex_lock(&j->lock);
	(void)VEC_PUSH(&j->made, address);
	pthread_mutex_unlock(&j->lock);
}

/* The byte that a rule flips; NULL: the allocation is not there, or not so large. */
static u8 *byte_of(struct inject *j, const struct inject_rule *r, u64 *address)
{
	struct memory_info info;

	pthread_mutex_lock(&j->lock);
	*address = r->alloc <= j->made.len ? j->made.at[r->alloc - 1] : 0;
	pthread_mutex_unlock(&j->lock);
	if (!*address || !memory_find(&rt_get()->memory, *address, &info) ||
	    info.range.base != *address || r->byte >= info.range.size)
		return NULL;
	*address += r->byte;
	return mem_pointer(info.arena, *address);
}

/* ---- acts ---- */

static void say_launch_rule(struct inject *j, struct inject_rule *r, const struct inject_event *e,
			    struct text *t)
{
	inject_say(j, r, t);
	text_puts(t, "launch ");
	text_printf(t, "%llu of these, ",
		    (unsigned long long)__atomic_load_n(&r->fits, __ATOMIC_RELAXED));
	demangle(e->kernel, t);
	text_puts(t, ": ");
}

static int flip_memory(struct inject *j, struct inject_rule *r, const struct inject_event *e)
{
	struct text t = {0};
	u64 address;
	u8 *at = byte_of(j, r, &address), before, after;

	if (!at)
		return 0;
	before = *at;
	after = (u8)(before ^ 1u << r->bit);
	if (!j->is_dry)
		*at = after;
	say_launch_rule(j, r, e, &t);
	text_printf(&t, "byte %llu of allocation %llu, at 0x%llx: 0x%02x becomes 0x%02x",
		    (unsigned long long)r->byte, (unsigned long long)r->alloc,
		    (unsigned long long)address, before, after);
	if (r->ecc)
		text_printf(&t, ", which is found: error %d", STATUS_ECC_UNCORRECTABLE);
	inject_put(&t);
	return r->ecc && !j->is_dry ? STATUS_ECC_UNCORRECTABLE : 0;
}

static int act_on_launch(struct inject *j, struct inject_rule *r, const struct inject_event *e)
{
	struct text t = {0};

	if (r->act == INJECT_FLIP)
		return flip_memory(j, r, e);
	say_launch_rule(j, r, e, &t);
	if (r->act == INJECT_LOST)
		text_printf(&t, "device %u is lost, Xid %u: ", e->device, r->xid);
	else if (r->act == INJECT_FAULT)
		text_printf(&t, "%s instead of running: ", r->fault);
	else
		text_puts(&t, "is refused: ");
	text_printf(&t, "error %d (%s)", r->status, entry_status_name("cuda", r->status));
	inject_put(&t);
	if (j->is_dry)
		return 0;
	if (r->act == INJECT_LOST)
		rt_device_lose((int)e->device, r->status);
	return r->status;
}

/* Rules that act when a launch is asked for, or when it begins. */
static bool acts_at(const struct inject_rule *r, bool is_start)
{
	if (r->call || inject_of_results(r))
		return false;
	return (r->act == INJECT_FAULT || r->act == INJECT_FLIP) == is_start;
}

/* Memory changes once, but where the launches are named. */
static bool has_flipped(const struct inject_rule *r)
{
	return r->act == INJECT_FLIP && !(r->when & (WHEN_LAUNCH | WHEN_PROB)) &&
	       __atomic_load_n(&r->acts, __ATOMIC_RELAXED);
}

static enum status on_launch(void *user, const struct device_kernel *k, bool is_start)
{
	struct rt_device *d = user;
	struct inject *j = inject_get();
	struct inject_event e = {.kernel = k->func->name->text,
				 .device = d->dev.number,
				 .number = k->owner->dev->grids};
	int status = 0;

	for (size_t i = 0; j && i < j->rules.list.len && !status; i++) {
		struct inject_rule *r = &j->rules.list.at[i];

		if (acts_at(r, is_start) && !has_flipped(r) && inject_acts(r, &e))
			status = act_on_launch(j, r, &e);
	}
	return (enum status)status;
}

void inject_device(struct rt_device *d)
{
	struct inject *j = inject_get();

	for (size_t i = 0; j && i < j->rules.list.len; i++)
		if (!j->rules.list.at[i].call) {
			d->dev.on_launch = on_launch;
			d->dev.on_launch_user = d;
		}
}
