/*
 * The trace of accesses and waits. Lines of several workers do not mix; their order is that of one
 * worker only.
 */
#include "src/watch/trace.h"

#include "src/ir/source.h"

static const char *const kinds[] = {
	[ACCESS_LOAD] = "load",
	[ACCESS_STORE] = "store",
	[ACCESS_ATOM] = "atom",
	[ACCESS_RED] = "red",
	[ACCESS_COPY_READ] = "copy-read",
	[ACCESS_COPY_WRITE] = "copy-write",
	[ACCESS_COPY_DONE] = "copy-done",
	[ACCESS_MATRIX_LOAD] = "matrix-load",
	[ACCESS_MATRIX_STORE] = "matrix-store",
};

static const char *const spaces[] = {
	[MEM_GENERIC] = "generic", [MEM_GLOBAL] = "global", [MEM_CONST] = "const",
	[MEM_SHARED] = "shared",   [MEM_LOCAL] = "local",   [MEM_PARAM] = "param",
};

static void put_where(struct text *t, const struct cta *c, u32 warp, u32 mask, const struct uop *in)
{
	const struct program *p = c->env->program;
	const struct program_func *f = &p->funcs[in->func];
	u32 line = 0;

	if (in->ir < f->func->insns.len)
		line = ir_line_of(f->module, f->func->insns.at[in->ir].begin);
	text_printf(t, " | cta %u,%u,%u warp %u lanes %08x | %s+%u line %u |", c->id[0], c->id[1],
		    c->id[2], warp, mask, f->func->name->text, (u32)(in - p->uop) - f->first, line);
}

static void write_line(struct watch_trace *t, struct text *line)
{
	text_puts(line, "\n");
	if (line->at) {
		pthread_mutex_lock(&t->lock);
		fwrite(line->at, 1, line->len, t->to);
		pthread_mutex_unlock(&t->lock);
	}
	text_fini(line);
}

static void trace_access(void *user, const struct exec_access *a)
{
	struct text line = {0};

	text_printf(&line, "%s %s %u", kinds[a->kind], spaces[a->space], a->size);
	if (a->count > 1)
		text_printf(&line, "x%u", a->count);
	put_where(&line, a->cta, a->warp, a->mask, a->in);
	for (u32 m = a->mask; m; m &= m - 1)
		text_printf(&line, " 0x%llx", (unsigned long long)a->address[__builtin_ctz(m)]);
	write_line(user, &line);
}

static void trace_sync(void *user, const struct exec_sync *s)
{
	const struct isa_form *form = exec_form(s->cta->env->program, s->in);
	struct text line = {0};

	text_printf(&line, "sync %s", form ? form->row->name[form->name] : "?");
	put_where(&line, s->cta, s->warp, s->mask, s->in);
	write_line(user, &line);
}

void watch_trace_init(struct watch_trace *t, FILE *to)
{
	t->to = to;
	pthread_mutex_init(&t->lock, NULL);
	t->observer = (struct exec_observer){.user = t, .access = trace_access, .sync = trace_sync};
}

void watch_trace_fini(struct watch_trace *t)
{
	pthread_mutex_destroy(&t->lock);
}
