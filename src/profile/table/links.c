/*
 * Bytes between devices, and between them and the host. Of accesses these are the sectors that
 * first caches do not have, by the model of the caches; of copies what calls move.
 */
#include "src/profile/table/links.h"

#include "src/arch/arch.h"
#include "src/cache/l2.h"
#include "src/dev/memory/watch.h"
#include "src/profile/json_out.h"

#include <stdlib.h>

/* Devices, then the host. */
#define ENDS (MEM_DEVICES_MAX + 1)
#define HOST_END MEM_DEVICES_MAX

_Static_assert(L2_LINKS == ENDS, "the second cache counts by the same numbers");

struct profile_links {
	struct memory_watch watch;
	const struct arch_devices *devices; /* NULL: not known, none are linked */
	struct mem_system *system;          /* NULL: no device is open yet; atomic */
	struct {
		u64 count, bytes;
	} copies[ENDS][ENDS]; /* from, to; atomic */
};

/* ---- copies ---- */

static u32 link_end_of(const struct memory_box *b, struct mem_system *s)
{
	for (u32 i = 0; i < MEM_DEVICES_MAX; i++) {
		struct mem *m = __atomic_load_n(&s->device[i], __ATOMIC_RELAXED);

		if (m && mem_in_arena(m, b->address))
			return i;
	}
	/* Of mappings it is not told whose they are. */
	return b->device ? ENDS : HOST_END;
}

static void links_copy(void *user, const struct memory_copy *c)
{
	struct profile_links *x = user;
	struct mem_system *s = __atomic_load_n(&x->system, __ATOMIC_ACQUIRE);
	u32 from, to;

	if (!s)
		return;
	from = link_end_of(&c->src, s);
	to = link_end_of(&c->dst, s);
	if (from == to || from == ENDS || to == ENDS)
		return;
	__atomic_fetch_add(&x->copies[from][to].count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&x->copies[from][to].bytes, c->width * c->height * c->depth,
			   __ATOMIC_RELAXED);
}

struct profile_links *profile_links_new(void)
{
	struct profile_links *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->watch = (struct memory_watch){.user = x, .copy = links_copy};
	if (memory_watch_add(&x->watch))
		return x;
	free(x);
	return NULL;
}

void profile_links_free(struct profile_links *x)
{
	if (!x)
		return;
	memory_watch_remove(&x->watch);
	free(x);
}

void profile_links_say_devices(struct profile_links *x, const struct arch_devices *devices)
{
	if (x)
		x->devices = devices;
}

void profile_links_say_memory(struct profile_links *x, struct mem_system *system)
{
	if (x && system)
		__atomic_store_n(&x->system, system, __ATOMIC_RELEASE);
}

const char *const profile_link_words[] = {[PROFILE_PCIE] = "PCIe", [PROFILE_NVLINK] = "NVLink"};

static enum profile_link_kind kind_of_link(const struct profile_links *x, u32 a, u32 b)
{
	return a != HOST_END && b != HOST_END && x && x->devices &&
			       arch_devices_links(x->devices, a, b)
		       ? PROFILE_NVLINK
		       : PROFILE_PCIE;
}

static u32 shown_end(u32 end)
{
	return end == HOST_END ? PROFILE_HOST : end;
}

bool profile_links_copies(const struct profile_links *x, struct profile_process *p)
{
	bool ok = true;

	for (u32 from = 0; x && from < ENDS; from++)
		for (u32 to = 0; to < ENDS; to++) {
			u64 bytes = __atomic_load_n(&x->copies[from][to].bytes, __ATOMIC_RELAXED);
			u64 n = __atomic_load_n(&x->copies[from][to].count, __ATOMIC_RELAXED);
			struct profile_copies c = {shown_end(from), shown_end(to), n, bytes,
						   kind_of_link(x, from, to)};

			ok &= !n || VEC_PUSH(&p->copies, c);
		}
	return ok;
}

/* ---- accesses of a launch ---- */

bool profile_links_end(const struct profile_links *x, const struct l2_counts *n,
		       struct profile_launch *l)
{
	for (u32 end = 0; end < ENDS; end++) {
		struct profile_link k = {.end = shown_end(end),
					 .read = n->link[end][0] * CACHE_SECTOR_BYTES,
					 .written = n->link[end][1] * CACHE_SECTOR_BYTES};

		if (!k.read && !k.written)
			continue;
		k.kind = kind_of_link(x, l->device, end);
		if (!VEC_PUSH(&l->links, k))
			return false;
	}
	return true;
}

/* ---- written ---- */

void profile_link_end_say(u32 end, struct text *out)
{
	if (end == PROFILE_HOST)
		text_puts(out, "Host");
	else
		text_printf(out, "Device %u", end);
}

void profile_link_end_write(u32 end, struct text *out)
{
	if (end == PROFILE_HOST)
		text_puts(out, "-1");
	else
		text_printf(out, "%u", end);
}

void profile_links_write(const struct profile_launch *l, struct text *out)
{
	if (!l->links.len)
		return;
	text_puts(out, ", \"links\": [");
	for (size_t i = 0; i < l->links.len; i++) {
		const struct profile_link *k = &l->links.at[i];

		text_puts(out, i ? ", [" : "[");
		profile_link_end_write(k->end, out);
		text_puts(out, ", ");
		text_json_string(out, profile_link_words[k->kind]);
		text_puts(out, ", ");
		json_out_number(k->read, out);
		text_puts(out, ", ");
		json_out_number(k->written, out);
		text_puts(out, "]");
	}
	text_puts(out, "]");
}

void profile_link_end_json(const char *name, u32 end, struct text *out)
{
	text_printf(out, "\"%s\": ", name);
	if (end == PROFILE_HOST)
		text_puts(out, "null");
	else
		text_printf(out, "%u", end);
}

void profile_links_json(const struct profile_launch *l, struct text *out)
{
	if (!l->links.len)
		return;
	text_puts(out, ",\n   \"links\": [");
	for (size_t i = 0; i < l->links.len; i++) {
		const struct profile_link *k = &l->links.at[i];

		text_puts(out, i ? ",\n    {" : "\n    {");
		profile_link_end_json("device", k->end, out);
		json_out_text("link", profile_link_words[k->kind], out);
		text_printf(out, ", \"read_bytes\": %llu, \"written_bytes\": %llu}",
			    (unsigned long long)k->read, (unsigned long long)k->written);
	}
	text_puts(out, "]");
}

void profile_links_text(const struct profile_launch *l, struct text *out)
{
	if (!l->links.len)
		return;
	text_printf(out, "    Section: Links\n    %-12s %-8s %16s %16s\n", "Memory Of", "Link",
		    "Bytes Read", "Bytes Written");
	for (size_t i = 0; i < l->links.len; i++) {
		const struct profile_link *k = &l->links.at[i];
		struct text end = {0};

		profile_link_end_say(k->end, &end);
		text_printf(out, "    %-12s %-8s %16llu %16llu\n", end.at ? end.at : "",
			    profile_link_words[k->kind], (unsigned long long)k->read,
			    (unsigned long long)k->written);
		text_fini(&end);
	}
	text_puts(out, "\n");
}

void profile_copies_write(const struct profile_process *p, struct text *out)
{
	if (!p->copies.len)
		return;
	text_puts(out, ", \"copies\": [");
	for (size_t i = 0; i < p->copies.len; i++) {
		const struct profile_copies *c = &p->copies.at[i];

		text_puts(out, i ? ", [" : "[");
		profile_link_end_write(c->from, out);
		text_puts(out, ", ");
		profile_link_end_write(c->to, out);
		text_puts(out, ", ");
		text_json_string(out, profile_link_words[c->kind]);
		text_puts(out, ", ");
		json_out_number(c->count, out);
		text_puts(out, ", ");
		json_out_number(c->bytes, out);
		text_puts(out, "]");
	}
	text_puts(out, "]");
}

void profile_copies_json(const struct profile_report *r, struct text *out)
{
	bool any = false;

	for (size_t i = 0; i < r->processes.len; i++)
		for (size_t k = 0; k < r->processes.at[i]->copies.len; k++) {
			const struct profile_copies *c = &r->processes.at[i]->copies.at[k];

			text_printf(out, "%s\n  {\"process\": %llu, ",
				    any ? "," : ",\n \"copies\": [",
				    (unsigned long long)r->processes.at[i]->pid);
			any = true;
			profile_link_end_json("from", c->from, out);
			text_puts(out, ", ");
			profile_link_end_json("to", c->to, out);
			json_out_text("link", profile_link_words[c->kind], out);
			text_printf(out, ", \"copies\": %llu, \"bytes\": %llu}",
				    (unsigned long long)c->count, (unsigned long long)c->bytes);
		}
	if (any)
		text_puts(out, "]");
}

/* Between devices; what goes to and from the host is in the other pages. */
static bool is_of_peers(const struct profile_copies *c)
{
	return c->from != PROFILE_HOST && c->to != PROFILE_HOST;
}

void profile_copies_text(const struct profile_report *r, struct text *out)
{
	bool any = false;

	for (size_t i = 0; i < r->processes.len; i++)
		for (size_t k = 0; k < r->processes.at[i]->copies.len; k++) {
			const struct profile_copies *c = &r->processes.at[i]->copies.at[k];

			if (!is_of_peers(c))
				continue;
			if (!any)
				text_printf(
					out,
					"  Copies Between Devices\n  %-12s %-12s %-8s %12s %16s\n",
					"From", "To", "Link", "Copies", "Bytes");
			any = true;
			text_printf(out, "  Device %-5u Device %-5u %-8s %12llu %16llu\n", c->from,
				    c->to, profile_link_words[c->kind],
				    (unsigned long long)c->count, (unsigned long long)c->bytes);
		}
	if (any)
		text_puts(out, "\n");
}
