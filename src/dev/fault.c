/*
 * Faults in words: what happened, where in the PTX and the source, to which thread, at which
 * address. The order of the lines is that of compute-sanitizer, whose users know where to look.
 */
#include "src/dev/device.h"

#include <stdio.h>

#define WAITERS_SHOWN 32u

struct fault_row {
	int cuda;
	const char *text;
};

static const struct fault_row rows[] = {
#define FAULT(name, cuda_error, text) [FAULT_##name] = {cuda_error, text},
#include "src/exec/faults.def"
#undef FAULT
};

const char *device_fault_name(enum fault_kind kind)
{
	return rows[kind].text;
}

static const char *space_name(u8 space)
{
	static const char *const names[] = {
		[MEM_GENERIC] = "generic", [MEM_GLOBAL] = "global", [MEM_CONST] = "const",
		[MEM_SHARED] = "shared",   [MEM_LOCAL] = "local",   [MEM_PARAM] = "param",
	};

	return space < ARRAY_LEN(names) ? names[space] : "unknown";
}

/* ---- places ---- */

struct place {
	const struct program_func *func;
	const struct ir_insn *in;
	u32 line;
};

static struct place place_of(const struct program *p, u32 pc)
{
	const struct insn *x = pc < p->insns ? &p->insn[pc] : NULL;
	struct place place = {0};
	u32 column;

	if (!x || x->func >= p->func_len)
		return place;
	place.func = &p->funcs[x->func];
	if (x->ir >= place.func->func->insns.len)
		return place;
	place.in = &place.func->func->insns.at[x->ir];
	diag_locate(&place.func->module->source, place.in->begin, &place.line, &column);
	return place;
}

static const struct ir_loc *loc_of(const struct place *at)
{
	if (!at->in || at->in->loc == IR_NONE || at->in->loc >= at->func->module->locs.len)
		return NULL;
	return &at->func->module->locs.at[at->in->loc];
}

static const char *file_of(const struct ir_module *m, u32 number)
{
	for (size_t i = 0; i < m->files.len; i++)
		if (m->files.at[i].number == number)
			return m->files.at[i].path;
	return NULL;
}

static void say_place(const struct place *at, struct text *t)
{
	const struct ir_loc *loc = loc_of(at);
	const char *file = loc ? file_of(at->func->module, loc->file) : NULL;

	if (!at->in)
		return;
	text_printf(t, "    at %s:%u: ", at->func->module->source.name, at->line);
	ir_print_insn(at->func->module, at->func->func, at->in, t);
	text_puts(t, "\n");
	if (file)
		text_printf(t, "    from %s:%u\n", file, loc->line);
}

/* ---- waiting threads ---- */

static const char *state_of(const struct sched_waiter *w, char *out, size_t size)
{
	switch ((enum group_state)w->state) {
	case GROUP_READY:
		snprintf(out, size, "running");
		break;
	case GROUP_BARRIER:
		if (w->barrier >= CTA_NAMED_BARRIERS)
			snprintf(out, size, "waiting for the warps of warpgroup %u",
				 w->barrier - CTA_NAMED_BARRIERS);
		else if (w->want)
			snprintf(out, size, "waiting at barrier %u for %u threads", w->barrier,
				 w->want);
		else
			snprintf(out, size, "waiting at barrier %u for all threads", w->barrier);
		break;
	case GROUP_CLUSTER:
		snprintf(out, size, "waiting at the barrier of the cluster");
		break;
	case GROUP_SYNC:
		snprintf(out, size, "waiting for lanes 0x%08x of the warp", w->want);
		break;
	}
	return out;
}

static void say_waiters(const struct program *p, const struct sched_end *end, struct text *t)
{
	u32 n = end->waiter_len < WAITERS_SHOWN ? end->waiter_len : WAITERS_SHOWN;
	char state[80];

	for (u32 i = 0; i < n; i++) {
		const struct sched_waiter *w = &end->waiters[i];
		/* Those that wait stand behind the instruction that made them wait. */
		u32 pc = w->state == GROUP_READY || !w->pc ? w->pc : w->pc - 1;
		struct place at = place_of(p, pc);

		text_printf(t, "    CTA (%u,%u,%u) warp %u lanes 0x%08x: %s", w->ctaid[0],
			    w->ctaid[1], w->ctaid[2], w->warp, w->mask,
			    state_of(w, state, sizeof(state)));
		if (at.in) {
			text_printf(t, " at line %u: ", at.line);
			ir_print_insn(at.func->module, at.func->func, at.in, t);
		}
		text_puts(t, "\n");
	}
	if (end->waiter_total > n)
		text_printf(t, "    and %llu more\n", (unsigned long long)(end->waiter_total - n));
	if (end->unstarted)
		text_printf(t, "    %llu CTAs had not begun\n", (unsigned long long)end->unstarted);
}

/* ---- the whole ---- */

static bool is_access(enum fault_kind kind)
{
	return kind == FAULT_ILLEGAL_ADDRESS || kind == FAULT_MISALIGNED_ADDRESS ||
	       kind == FAULT_INVALID_ADDRESS_SPACE;
}

/* Stopped as a whole: no thread is to blame. */
static bool is_standstill(enum fault_kind kind)
{
	return kind == FAULT_DEADLOCK || kind == FAULT_TIMEOUT;
}

static void say_what(struct device_fault *out, const struct fault *f, const struct program *p)
{
	const char *note = exec_program_note(p, f->pc);
	struct text *t = &out->message;

	if (is_access(f->kind))
		text_printf(t, "%s: %s %s of %u bytes\n", device_fault_name(f->kind),
			    space_name(f->space), f->write ? "write" : "read", f->size);
	else if (f->text[0])
		text_printf(t, "%s: %s\n", device_fault_name(f->kind), f->text);
	else if (note)
		text_printf(t, "%s: %s\n", device_fault_name(f->kind), note);
	else
		text_printf(t, "%s\n", device_fault_name(f->kind));
}

static void say_address(struct device_fault *out, const struct device_kernel *k)
{
	struct mem *m = &k->owner->dev->mem;
	char near[160];

	text_printf(&out->message, "    address 0x%llx", (unsigned long long)out->address);
	if (out->space == MEM_GLOBAL || out->space == MEM_GENERIC || out->space == MEM_CONST) {
		mem_describe(m, out->address, near, sizeof(near));
		text_printf(&out->message, " is %s%s\n",
			    out->kind == FAULT_MISALIGNED_ADDRESS ? "not aligned; it lies " : "",
			    near);
	} else {
		text_printf(&out->message, out->kind == FAULT_MISALIGNED_ADDRESS
						   ? " is not aligned\n"
						   : " is past the end\n");
	}
}

static void fill_place(struct device_fault *out, const struct place *at)
{
	const struct ir_loc *loc = loc_of(at);
	const char *file = loc ? file_of(at->func->module, loc->file) : NULL;

	if (!at->func)
		return;
	out->ptx_name = at->func->module->source.name;
	out->ptx_line = at->line;
	snprintf(out->function, sizeof(out->function), "%s", at->func->func->name->text);
	if (file) {
		snprintf(out->source, sizeof(out->source), "%s", file);
		out->source_line = loc->line;
	}
}

void device_fault_describe(const struct device_kernel *k, const struct program *p,
			   const struct sched_end *end, struct device_fault *out)
{
	const struct fault *f = end->fault;
	struct place at = {0};

	*out = (struct device_fault){.kind = f->kind, .status = (enum status)rows[f->kind].cuda};
	snprintf(out->kernel, sizeof(out->kernel), "%s", k->func->name->text);
	say_what(out, f, p);
	if (is_standstill(f->kind)) {
		text_printf(&out->message, "    in kernel %s\n", out->kernel);
		say_waiters(p, end, &out->message);
		return;
	}
	at = place_of(p, f->pc);
	fill_place(out, &at);
	memcpy(out->ctaid, f->ctaid, sizeof(out->ctaid));
	memcpy(out->thread, f->thread, sizeof(out->thread));
	say_place(&at, &out->message);
	text_printf(&out->message, "    in kernel %s", out->kernel);
	if (at.func && at.func->func != k->func)
		text_printf(&out->message, ", function %s", out->function);
	text_printf(&out->message,
		    "\n    by thread (%u,%u,%u) of CTA (%u,%u,%u), warp %u, lanes 0x%08x\n",
		    f->thread[0], f->thread[1], f->thread[2], f->ctaid[0], f->ctaid[1], f->ctaid[2],
		    f->warp, f->lanes);
	if (is_access(f->kind)) {
		out->has_address = true;
		out->address = f->address;
		out->bytes = f->size;
		out->space = f->space;
		out->write = f->write;
		say_address(out, k);
	}
}
