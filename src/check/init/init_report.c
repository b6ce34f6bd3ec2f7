/*
 * Reads of what was never written, in the words of initcheck.
 */
#include "src/check/init/init_int.h"
#include "src/dev/place.h"
#include "src/dev/whereabouts.h"
#include "src/ir/source.h"

#include <stdlib.h>

/* Reads of one instruction whose addresses are remembered. */
#define READS_KEPT 64u
#define REGISTER_KEY ((u64)1 << 40)

u32 init_read_new(struct init_launch *l, const struct init_read *r)
{
	u64 *slot = map_get(&l->reads_of, (u64)r->pc + 1), n = slot ? *slot >> 32 : 0;

	if (n >= READS_KEPT)
		return (u32)*slot;
	if (!VEC_PUSH(&l->reads, *r) ||
	    !map_set(&l->reads_of, (u64)r->pc + 1, (n + 1) << 32 | l->reads.len)) {
		l->gave_up = true;
		return TAINT_NEVER;
	}
	return (u32)l->reads.len;
}

void init_use(struct init_launch *l, u32 origin, enum init_use use, const struct init_where *at)
{
	const struct init_read *r = origin ? &l->reads.at[origin - 1] : NULL;
	u64 key = r ? (u64)r->pc + 1 : REGISTER_KEY + at->pc, *slot = map_get(&l->by_place, key);
	const struct exec_env *e = at->cta->env;
	struct init_report x = {
		.is_register = !r, .use = use, .use_pc = at->pc, .thread = at->thread, .count = 1};

	if (slot) {
		l->reports.at[*slot - 1].count++;
		return;
	}
	if (r)
		x.read = *r;
	else
		x.read.pc = at->pc;
	memcpy(x.block_size, e->block, sizeof(x.block_size));
	memcpy(x.block, at->cta->id, sizeof(x.block));
	l->gave_up |= !VEC_PUSH(&l->reports, x) || !map_set(&l->by_place, key, l->reports.len);
}

void init_report_fini(struct init_launch *l)
{
	VEC_FREE(&l->reads);
	map_fini(&l->reads_of);
	VEC_FREE(&l->reports);
	map_fini(&l->by_place);
}

/* ---- words ---- */

static const char *init_space_name(u8 space)
{
	switch ((enum mem_space)space) {
	case MEM_SHARED:
		return "shared";
	case MEM_LOCAL:
		return "local";
	default:
		return "global";
	}
}

static const char *const use_words[INIT_USES] = {
	[INIT_BRANCH] = "decides which way the thread goes",
	[INIT_ADDRESS] = "is part of an address",
	[INIT_STORE] = "is stored to global memory",
	[INIT_ATOMIC] = "is an operand of an atomic operation",
	[INIT_BARRIER] = "is an operand of a barrier",
	[INIT_CALL] = "is passed to a function of the device runtime",
};

/*
 * Collective algorithms of the toolkit's libraries compute with values that nothing depends on in
 * the end, and pass them to functions of the user's: what lies in their own memory and registers is
 * theirs to judge.
 */
static bool is_of_library(const struct init_report *x, const struct program *p,
			  const struct finding_side *s)
{
	if (!x->is_register && x->read.space == MEM_GLOBAL)
		return false;
	return place_kernel_is_of_toolkit(p) ||
	       (s->place.file && ir_is_toolkit_path(s->place.file));
}

static void say_init_headline(const struct init_report *x, struct text *t)
{
	if (x->is_register)
		text_puts(t, "Uninitialized register read");
	else
		text_printf(t, "Uninitialized __%s__ memory read of size %u byte%s",
			    init_space_name(x->read.space), x->read.size,
			    x->read.size == 1 ? "" : "s");
	if (x->count)
		text_printf(t, " [%llu time%s]", (unsigned long long)x->count,
			    x->count == 1 ? "" : "s");
	text_puts(t, "\n");
}

static void say_init_address(const struct init_report *x, struct mem *m, struct text *t)
{
	switch ((enum mem_space)x->read.space) {
	case MEM_SHARED:
		text_printf(t, "    Byte %llu of the block's shared memory was never written\n",
			    (unsigned long long)x->read.address);
		break;
	case MEM_LOCAL:
		text_printf(t, "    Byte %llu of the thread's local memory was never written\n",
			    (unsigned long long)x->read.address);
		break;
	default:
		text_printf(t, "    Address 0x%llx was never written and is ",
			    (unsigned long long)x->read.address);
		device_describe_address(m, NULL, x->read.address, t);
		text_puts(t, "\n");
	}
}

/* What is done with the value, and where if that is another line. */
static void say_use(const struct init_report *x, const struct program *p, const char *read_at,
		    struct text *t)
{
	struct finding f;
	struct finding_side *s;
	struct text at = {0};

	finding_init(&f, FINDING_UNINIT);
	s = finding_add_side(&f, "Use", p, x->use_pc);
	finding_say_side(s, &at);
	text_printf(t, "    Its value %s", use_words[x->use]);
	if (at.at && read_at && strcmp(at.at, read_at))
		text_printf(t, " %s", at.at);
	text_puts(t, "\n");
	text_fini(&at);
	finding_fini(&f);
}

/* False: there is nothing to report. */
static bool say_report(const struct init_report *x, const struct program *p, struct mem *m,
		       struct finding *f)
{
	struct finding_side *s = finding_add_side(f, "Read", p, x->read.pc);
	struct text at = {0};

	if (is_of_library(x, p, s))
		return false;
	finding_say_side(s, &at);
	s->has_thread = true;
	finding_unroll(x->thread, x->block_size, s->thread);
	memcpy(s->block, x->block, sizeof(s->block));
	say_init_headline(x, &f->text);
	text_printf(&f->text, "    %s\n", at.at ? at.at : "");
	text_printf(&f->text, "    by thread (%u,%u,%u) in block (%u,%u,%u)\n", s->thread[0],
		    s->thread[1], s->thread[2], s->block[0], s->block[1], s->block[2]);
	if (!x->is_register)
		say_init_address(x, m, &f->text);
	say_use(x, p, at.at, &f->text);
	text_fini(&at);
	return true;
}

/* False: there is nothing to report, and `f` is empty. */
static bool init_finding(const struct init_launch *l, const struct init_report *x, struct mem *m,
			 struct finding *f)
{
	finding_init(f, FINDING_UNINIT);
	f->count = x->count;
	f->has_address = !x->is_register && x->read.space == MEM_GLOBAL;
	f->address = x->read.address;
	f->mem = f->has_address ? m : NULL;
	finding_set_kernel(f, l->program->funcs[0].func->name->text);
	if (!say_report(x, l->program, m, f)) {
		finding_fini(f);
		return false;
	}
	finding_add_host(f, "launched", l->from);
	return true;
}

void init_announce(struct init_launch *l, struct mem *m, struct findings *found)
{
	for (; l->announced < l->reports.len; l->announced++) {
		struct init_report x = l->reports.at[l->announced];
		struct finding f;

		if (!found->listener)
			continue;
		x.count = 0; /* it is not known yet */
		if (init_finding(l, &x, m, &f))
			findings_announce(found, &f);
	}
}

void init_tell(struct init_launch *l, struct mem *m, struct findings *found)
{
	for (size_t i = 0; i < l->reports.len; i++) {
		struct finding f;

		if (init_finding(l, &l->reports.at[i], m, &f))
			findings_add(found, &f);
	}
}
