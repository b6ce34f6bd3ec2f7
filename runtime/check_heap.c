/*
 * Blocks of the heap of device-side malloc: which lines of which kernels have taken them, and which
 * of them nothing has freed.
 */
#include "runtime/check_calls.h"
#include "src/base/demangle.h"
#include "src/dev/module/nested.h"

#include <stdlib.h>

static struct process_heap *const heap = &the_process.heap;

/* The lock is held. 0: no memory. */
static u64 add_site(u64 key, const struct exec_env *e, u32 pc, struct host_from from)
{
	struct heap_site x = {.from = from};

	finding_init(&x.finding, FINDING_LEAK);
	finding_set_kernel(&x.finding, e->program->funcs[0].func->name->text);
	finding_add_side(&x.finding, "Allocation", e->program, pc);
	if (VEC_PUSH(&heap->sites, x) && map_set(&heap->by_place, key, heap->sites.len))
		return heap->sites.len;
	finding_fini(&x.finding);
	return 0;
}

static u64 site_key(const char *kernel, u64 place, struct host_from from)
{
	u64 parts[] = {hash_bytes(kernel, strlen(kernel)), place, (u64)(uintptr_t)from.trace};

	return hash_bytes(parts, sizeof(parts)) | 1;
}

/* By the instruction; several of one line share its site. The lock is held. 0: no memory. */
static u64 site_of(const struct exec_call *c)
{
	const struct exec_env *e = c->gang->env;
	const char *kernel = e->program->funcs[0].func->name->text;
	struct host_from from = nested_from(e->user);
	u32 pc = (u32)(c->in - c->gang->uops);
	u64 key = site_key(kernel, pc, from), *slot = map_get(&heap->by_place, key), line, site;

	if (slot)
		return *slot;
	line = site_key(kernel, device_line_key(e->program, pc), from);
	slot = map_get(&heap->by_place, line);
	site = slot ? *slot : add_site(line, e, pc, from);
	return site && map_set(&heap->by_place, key, site) ? site : 0;
}

void check_heap_taken(const struct exec_call *c, u64 address, u64 bytes)
{
	(void)bytes;
	pthread_mutex_lock(&heap->lock);
	map_set(&heap->by_block, address, site_of(c));
	pthread_mutex_unlock(&heap->lock);
}

/* A block that is left; sites sum up theirs. */
static void count_block(void *user, u64 address, u64 bytes)
{
	const u64 *slot = map_get(&heap->by_block, address);
	struct heap_site *x = slot && *slot ? &heap->sites.at[*slot - 1] : user;

	if (!x->blocks++)
		x->first = address;
	x->bytes += bytes;
	made_leak(bytes);
}

static char *copy_place_word(const char *s)
{
	return s ? strdup(s) : NULL;
}

static void report_site(struct heap_site *x)
{
	const struct finding_place *at = &x->finding.side[0].place;
	struct finding_side *s;
	struct finding f;

	if (!x->blocks)
		return;
	finding_init(&f, FINDING_LEAK);
	f.kernel = copy_place_word(x->finding.kernel);
	s = finding_add_side(&f, "Allocation", NULL, 0);
	s->place = (struct finding_place){copy_place_word(at->function), copy_place_word(at->file),
					  copy_place_word(at->insn), at->line, at->column};
	text_printf(&f.text, "Leaked %llu bytes at 0x%llx on the device heap",
		    (unsigned long long)x->bytes, (unsigned long long)x->first);
	if (x->blocks > 1)
		text_printf(&f.text, " and in %llu more blocks",
			    (unsigned long long)(x->blocks - 1));
	text_puts(&f.text, "\n    allocated by malloc in a kernel");
	if (at->file || at->insn) {
		text_puts(&f.text, " ");
		finding_say_side(s, &f.text);
	}
	text_puts(&f.text, "\n");
	if (f.kernel) {
		text_puts(&f.text, "    in kernel ");
		demangle_short(f.kernel, &f.text);
		text_puts(&f.text, "\n");
	}
	finding_add_host(&f, "launched", x->from);
	findings_add(&the_process.findings, &f);
	x->blocks = x->bytes = x->first = 0;
}

void check_heap_leaks(struct exec_heap *h)
{
	struct heap_site unknown = {0};

	pthread_mutex_lock(&heap->lock);
	exec_heap_each(h, count_block, &unknown);
	for (size_t i = 0; i < heap->sites.len; i++)
		report_site(&heap->sites.at[i]);
	report_site(&unknown);
	pthread_mutex_unlock(&heap->lock);
}
