/*
 * Faults in words: what happened, where in the PTX and the source, to which thread, at which
 * address. The order of the lines is that of compute-sanitizer, whose users know where to look.
 */
#include "src/base/demangle.h"
#include "src/lower/lower.h"
#include "src/dev/place.h"
#include "src/dev/whereabouts.h"
#include "src/mem/marks.h"

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

const char *device_fault_rule(enum fault_kind kind)
{
	static const char *const rules[ARRAY_LEN(rows)] = {
		[FAULT_ILLEGAL_ADDRESS] = "out_of_bounds",
		[FAULT_MISALIGNED_ADDRESS] = "misaligned",
		[FAULT_ILLEGAL_INSTRUCTION] = "illegal_instruction",
		[FAULT_STACK_OVERFLOW] = "stack_overflow",
		[FAULT_INVALID_PC] = "invalid_pc",
		[FAULT_INVALID_ADDRESS_SPACE] = "address_space",
		[FAULT_TRAP] = "trap",
		[FAULT_ASSERT] = "assert",
		[FAULT_DEADLOCK] = "deadlock",
		[FAULT_TIMEOUT] = "timeout",
		[FAULT_UNSUPPORTED] = "unsupported",
	};

	return kind < ARRAY_LEN(rules) ? rules[kind] : NULL;
}

static const char *space_name(u8 space)
{
	static const char *const names[] = {
		[MEM_GENERIC] = "generic", [MEM_GLOBAL] = "global", [MEM_CONST] = "const",
		[MEM_SHARED] = "shared",   [MEM_LOCAL] = "local",   [MEM_PARAM] = "param",
	};

	return space < ARRAY_LEN(names) ? names[space] : "unknown";
}

/* ---- waiting threads ---- */

static const char *waiter_state(const struct sched_waiter *w, char *out, size_t size)
{
	switch ((enum group_state)w->state) {
	case GROUP_READY:
		snprintf(out, size, "running");
		break;
	case GROUP_FROZEN:
		snprintf(out, size, "frozen by the debugger");
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

/* Where a warp waits: the line of the source, if it is known, and the instruction. */
static void say_source_line(const struct place *at, struct text *t)
{
	struct source_line s = place_source(at);

	text_puts(t, " at ");
	if (s.file)
		text_printf(t, "%s:%u, ", s.file, s.line);
	place_say_insn(at, t);
}

static void say_waiters(const struct program *p, const struct sched_end *end, struct text *t)
{
	u32 n = end->waiter_len < WAITERS_SHOWN ? end->waiter_len : WAITERS_SHOWN;
	char state[80];

	for (u32 i = 0; i < n; i++) {
		const struct sched_waiter *w = &end->waiters[i];
		struct place at = place_of(p, sched_waiter_pc(w));

		text_printf(t, "    block (%u,%u,%u) warp %u lanes 0x%08x: %s", w->ctaid[0],
			    w->ctaid[1], w->ctaid[2], w->warp, w->mask,
			    waiter_state(w, state, sizeof(state)));
		if (at.in) {
			say_source_line(&at, t);
		}
		text_puts(t, "\n");
	}
	if (end->waiter_total > n)
		text_printf(t, "    and %llu more\n", (unsigned long long)(end->waiter_total - n));
	if (end->unstarted)
		text_printf(t, "    %llu blocks had not begun\n",
			    (unsigned long long)end->unstarted);
}

/* ---- the whole ---- */

static bool is_access_fault(enum fault_kind kind)
{
	return kind == FAULT_ILLEGAL_ADDRESS || kind == FAULT_MISALIGNED_ADDRESS ||
	       kind == FAULT_INVALID_ADDRESS_SPACE;
}

/* Stopped as a whole: no thread is to blame. */
static bool is_standstill(enum fault_kind kind)
{
	return kind == FAULT_DEADLOCK || kind == FAULT_TIMEOUT;
}

static bool is_atomic(const struct program *p, const struct fault *f)
{
	return f->pc < p->uops && uop_kind(p->uop[f->pc].inner) == UOP_ATOMIC;
}

static const char *access_name(const struct program *p, const struct fault *f)
{
	return is_atomic(p, f) ? "atomic" : f->write ? "write" : "read";
}

void device_fault_headline(const struct fault *f, const struct program *p, struct text *t)
{
	const char *note = exec_program_note(p, f->pc);

	text_puts(t, device_fault_name(f->kind));
	if (is_access_fault(f->kind))
		text_printf(t, ": %s %s of %u bytes", space_name(f->space), access_name(p, f),
			    f->size);
	else if (f->text[0])
		text_printf(t, ": %s", f->text);
	else if (note)
		text_printf(t, ": %s", note);
}

static void say_what(struct device_fault *out, const struct fault *f, const struct program *p)
{
	text_puts(&out->message, "ptxloom: error: ");
	device_fault_headline(f, p, &out->message);
	text_puts(&out->message, "\n");
}

/* An offset in a window: shared or local memory. */
static void say_offset(const struct fault *f, u64 offset, const char *what, u64 bytes,
		       struct text *t)
{
	if (f->kind == FAULT_MISALIGNED_ADDRESS)
		text_printf(t, "byte %llu of %s", (unsigned long long)offset, what);
	else
		text_printf(t, "byte %llu of %s, which has %llu", (unsigned long long)offset, what,
			    (unsigned long long)bytes);
}

/* An offset in the window of shared memory, of the CTA itself or another of its cluster. */
static void say_shared_address(const struct fault *f, u64 at, struct text *t)
{
	u64 field = at >> MEM_SHARED_RANK_SHIFT, offset = at & MEM_SHARED_OFFSET;
	char what[64];

	if (!field) {
		say_offset(f, offset, "the block's shared memory", f->shared_bytes, t);
		return;
	}
	snprintf(what, sizeof(what), "the shared memory of block %u of the cluster",
		 (u32)field - 1);
	if (offset + f->size <= f->shared_bytes && f->kind == FAULT_ILLEGAL_ADDRESS)
		text_printf(t, "in %s, which has no such block", what);
	else
		say_offset(f, offset, what, f->shared_bytes, t);
}

static void say_address(const struct fault *f, const struct device_kernel *k, struct text *t)
{
	static const char local[] = "the thread's local memory";
	struct mem *m = &k->owner->dev->mem;
	u64 a = f->address;

	if (f->kind == FAULT_MISALIGNED_ADDRESS)
		text_printf(t, "not a multiple of %u; it is ", f->size);
	if (f->text[0])
		text_puts(t, f->text);
	else if (f->space == MEM_SHARED)
		say_shared_address(f, a, t);
	else if (f->space == MEM_LOCAL)
		say_offset(f, a, local, f->local_bytes, t);
	else if (f->space == MEM_PARAM)
		text_puts(t, "beyond the kernel's parameters");
	else if (a - m->shared_base < MEM_SHARED_WINDOW)
		say_shared_address(f, a - m->shared_base, t);
	else if (a - m->local_base < MEM_LOCAL_WINDOW)
		say_offset(f, a - m->local_base, local, f->local_bytes, t);
	else
		device_describe_address(m, k->owner, a, t);
}

static bool is_global_fault(const struct fault *f)
{
	return f->space == MEM_GLOBAL || f->space == MEM_GENERIC;
}

static bool is_read_only(struct mem *m, const struct fault *f)
{
	struct mem_range r;

	return is_global_fault(f) && mem_find(m, f->address, f->size, &r) &&
	       !mem_is_writable(m, &r);
}

static enum mem_access fault_access(const struct program *p, const struct fault *f)
{
	return is_atomic(p, f) ? MEM_ATOMIC : f->write ? MEM_WRITE : MEM_READ;
}

/* The program itself has said that kernels may not do this here. */
static bool is_denied(struct mem *m, const struct program *p, const struct fault *f)
{
	struct mem_range r;

	return f->kind == FAULT_ILLEGAL_ADDRESS && is_global_fault(f) && mem_has_marks() &&
	       mem_find(m, f->address, f->size, &r) &&
	       !mem_marks_allow(f->address, f->size, m->index, fault_access(p, f));
}

static void say_denied(enum mem_access access, struct text *t)
{
	static const char *const what[] = {[MEM_READ] = "readable",
					   [MEM_WRITE] = "writable",
					   [MEM_ATOMIC] =
						   "readable/writable with atomic operations"};

	text_printf(t, "not %s; it is ", what[access]);
}

static void fill_place(struct device_fault *out, const struct place *at)
{
	struct source_line s;
	struct place shown = place_for_users(at, &s);

	if (!at->func)
		return;
	out->ptx_name = at->func->module->source.name;
	out->ptx_line = at->line;
	out->function = shown.func->func->name->text;
	if (s.file) {
		snprintf(out->source, sizeof(out->source), "%s", s.file);
		out->source_line = s.line;
	}
}

static void say_thread(const struct fault *f, struct text *t)
{
	text_printf(t, "    by thread (%u,%u,%u) of block (%u,%u,%u), warp %u, lanes 0x%08x\n",
		    f->thread[0], f->thread[1], f->thread[2], f->ctaid[0], f->ctaid[1], f->ctaid[2],
		    f->warp, f->lanes);
}

static void say_launch(struct host_from from, struct text *t)
{
	struct text where = {0};

	host_from_say(from, &where);
	if (where.at)
		text_printf(t, "    launched by %s\n", where.at);
	text_fini(&where);
}

static void add_fault_part(const struct text *part, struct text *t)
{
	if (part->at)
		text_puts(t, part->at);
}

/* The message, of its parts. */
static void compose(struct device_fault *out, const struct fault *f, const struct program *p)
{
	struct text *t = &out->message;

	say_what(out, f, p);
	add_fault_part(&out->where, t);
	if (!is_standstill(f->kind))
		say_thread(f, t);
	add_fault_part(&out->launch, t);
	add_fault_part(&out->waiters, t);
	if (out->has_address) {
		text_printf(t, "    address 0x%llx is ", (unsigned long long)f->address);
		add_fault_part(&out->whereabouts, t);
		text_puts(t, "\n");
	}
}

void device_fault_describe(const struct device_kernel *k, const struct program *p,
			   const struct sched_end *end, struct host_from from,
			   struct device_fault *out)
{
	const struct fault *f = end->fault;
	struct place at = {0};

	*out = (struct device_fault){.kind = f->kind,
				     .status = (enum status)rows[f->kind].cuda,
				     .kernel = k->func->name->text,
				     .function = "",
				     .from = from,
				     .program = p,
				     .end = end};
	say_launch(from, &out->launch);
	if (is_standstill(f->kind)) {
		text_puts(&out->where, "    in kernel ");
		demangle_short(out->kernel, &out->where);
		text_puts(&out->where, "\n");
		say_waiters(p, end, &out->waiters);
		compose(out, f, p);
		return;
	}
	at = place_of(p, f->pc);
	fill_place(out, &at);
	memcpy(out->ctaid, f->ctaid, sizeof(out->ctaid));
	memcpy(out->thread, f->thread, sizeof(out->thread));
	place_say(p, f, out->kernel, &out->where);
	if (is_access_fault(f->kind)) {
		out->has_address = true;
		out->address = f->address;
		out->bytes = f->size;
		out->space = f->space;
		out->write = f->write || is_atomic(p, f);
		out->access = access_name(p, f);
		out->is_read_only = out->write && is_read_only(&k->owner->dev->mem, f);
		out->is_denied = is_denied(&k->owner->dev->mem, p, f);
		if (out->is_denied)
			say_denied(fault_access(p, f), &out->whereabouts);
		say_address(f, k, &out->whereabouts);
	}
	compose(out, f, p);
}

void device_fault_fini(struct device_fault *f)
{
	struct text *parts[] = {&f->message, &f->where, &f->launch, &f->waiters, &f->whereabouts};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		text_fini(parts[i]);
}

void device_census_describe(const struct device_kernel *k, const struct program *p,
			    const struct sched_progress *progress, const struct sched_end *end,
			    struct host_from from, struct text *out)
{
	text_puts(out, "ptxloom: kernel ");
	demangle_short(k->func->name->text, out);
	text_printf(out, " has run for %.1f s, %llu of %llu blocks are done\n",
		    (double)progress->elapsed_ns / 1e9, (unsigned long long)progress->done,
		    (unsigned long long)progress->total);
	say_launch(from, out);
	say_waiters(p, end, out);
}

void device_overrun_describe(const struct device_kernel *k, const struct program *p,
			     const struct fault *f, struct text *out)
{
	text_printf(
		out,
		"ptxloom: note: %s %s of %u bytes outside allocations, which hardware does not detect\n",
		space_name(f->space), access_name(p, f), f->size);
	place_say(p, f, k->func->name->text, out);
	say_thread(f, out);
	text_printf(out, "    address 0x%llx is ", (unsigned long long)f->address);
	say_address(f, k, out);
	text_puts(out, "\n");
}

u64 device_line_key(const struct program *p, u32 pc)
{
	struct place at = place_of(p, pc);
	struct source_line s = place_source(&at);

	return s.file ? hash_bytes(s.file, strlen(s.file)) ^ (u64)s.line << 32 : pc;
}
