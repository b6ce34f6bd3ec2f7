/*
 * Faults in the words of memcheck and synccheck.
 */
#include "src/check/fault.h"
#include "src/base/demangle.h"

static enum finding_kind finding_kind_of(enum fault_kind kind)
{
	switch (kind) {
	case FAULT_ILLEGAL_ADDRESS:
	case FAULT_INVALID_ADDRESS_SPACE:
		return FINDING_INVALID_ACCESS;
	case FAULT_MISALIGNED_ADDRESS:
		return FINDING_MISALIGNED_ACCESS;
	case FAULT_DEADLOCK:
		return FINDING_DEADLOCK;
	default:
		return FINDING_FAULT;
	}
}

static const char *fault_space(u8 space)
{
	switch ((enum mem_space)space) {
	case MEM_SHARED:
		return "shared";
	case MEM_LOCAL:
		return "local";
	case MEM_CONST:
		return "constant";
	case MEM_PARAM:
		return "param";
	default:
		return "global";
	}
}

/* "Invalid __global__ write of size 4 bytes", else what the fault's own first line says. */
static void say_headline(const struct device_fault *x, struct text *t)
{
	static const char before[] = "ptxloom: error: ";
	const char *line = x->message.at ? x->message.at : "";

	if (x->has_address) {
		text_printf(t, "Invalid __%s__ %s of size %u byte%s\n", fault_space(x->space),
			    x->access, x->bytes, x->bytes == 1 ? "" : "s");
		return;
	}
	if (!strncmp(line, before, sizeof(before) - 1))
		line += sizeof(before) - 1;
	text_add(t, line, strcspn(line, "\n"));
	text_puts(t, "\n");
}

static void add_lines(const struct text *part, struct text *t)
{
	if (part->at)
		text_puts(t, part->at);
}

static void add_fault_side(const struct device_fault *x, struct finding *f)
{
	struct finding_side *s = finding_add_side(f, x->access ? x->access : "", NULL, 0);

	s->has_thread = true;
	memcpy(s->thread, x->thread, sizeof(s->thread));
	memcpy(s->block, x->ctaid, sizeof(s->block));
	finding_set_place(&s->place, x->function, x->source, x->source_line, x->ptx_name,
			  x->ptx_line);
}

/* Those that wait, or spin, at different instructions. */
static void add_waiting_sides(const struct device_fault *x, struct finding *f)
{
	u32 at[FINDING_SIDES] = {NO_PC, NO_PC};

	for (u32 i = 0; i < x->end->waiter_len && f->sides < FINDING_SIDES; i++) {
		const struct sched_waiter *w = &x->end->waiters[i];
		u32 pc = sched_waiter_pc(w);
		struct finding_side *s;

		if (!w->mask || pc == at[0])
			continue;
		at[f->sides] = pc;
		s = finding_add_side(f, w->state == GROUP_READY ? "Loop" : "Wait", x->program, pc);
		s->has_thread = true;
		memcpy(s->block, w->ctaid, sizeof(s->block));
		finding_unroll(w->warp * 32 + (u32)__builtin_ctz(w->mask), x->end->block,
			       s->thread);
	}
}

/* All lines, or those that are not about the device's stack. */
static void add_where_lines(const char *lines, struct text *t)
{
	static const char caller[] = "    called from ";
	bool all = finding_shows(BACKTRACE_DEVICE), shown = true;

	while (*lines) {
		size_t n = strcspn(lines, "\n");

		n += lines[n] == '\n';
		/* What is quoted of a caller's line stands farther in. */
		if (strncmp(lines, "     ", 5) != 0)
			shown = all || strncmp(lines, caller, sizeof(caller) - 1) != 0;
		if (shown)
			text_add(t, lines, n);
		lines += n;
	}
}

/* "at put(int*, int) in scale.cu:12", then what else is known of the place. */
static void say_where(const struct device_fault *x, struct text *t)
{
	const char *rest = x->where.at ? x->where.at : "";

	if (x->source[0]) {
		text_puts(t, "    at ");
		demangle_short(x->function, t);
		text_printf(t, " in %s:%u\n", x->source, x->source_line);
		rest += strcspn(rest, "\n");
		rest += *rest == '\n';
	}
	add_where_lines(rest, t);
}

void fault_finding(const struct device_fault *x, struct finding *f)
{
	struct text *t = &f->text;

	finding_init(f, finding_kind_of(x->kind));
	finding_set_kernel(f, x->kernel);
	f->has_address = x->has_address;
	f->is_quoted = true;
	f->is_of_launch = true;
	f->address = x->address;
	say_headline(x, t);
	say_where(x, t);
	if (x->function[0]) {
		add_fault_side(x, f);
		text_printf(t, "    by thread (%u,%u,%u) in block (%u,%u,%u)\n", x->thread[0],
			    x->thread[1], x->thread[2], x->ctaid[0], x->ctaid[1], x->ctaid[2]);
	}
	if (x->kind == FAULT_DEADLOCK)
		add_waiting_sides(x, f);
	if (x->has_address) {
		text_printf(t, "    Address 0x%llx is %s", (unsigned long long)x->address,
			    x->kind == FAULT_MISALIGNED_ADDRESS || x->is_read_only || x->is_denied
				    ? ""
				    : "out of bounds and is ");
		add_lines(&x->whereabouts, t);
		text_puts(t, "\n");
	}
	finding_add_host(f, "launched", x->from);
	add_lines(&x->waiters, t);
}
