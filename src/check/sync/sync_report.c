/*
 * Findings of the check of synchronisation, in the words of synccheck.
 */
#include "src/check/sync/sync_int.h"

void sync_add_side(struct finding *f, const struct sync_launch *l, const struct sync_cta *c,
		   u32 thread, u32 pc, const char *what)
{
	struct finding_side *s = finding_add_side(f, what, l->program, pc);

	if (!s)
		return;
	s->has_thread = true;
	finding_unroll(thread, c->cta->env->block, s->thread);
	finding_unroll(c->number, c->cta->env->grid, s->block);
}

void sync_begin(struct finding *f, enum finding_kind kind, const struct sync_launch *l,
		const struct sync_cta *c, u32 thread, u32 pc, bool is_warning, const char *what)
{
	finding_init(f, kind);
	f->is_warning = is_warning;
	finding_set_kernel(f, l->program->funcs[0].func->name->text);
	sync_add_side(f, l, c, thread, pc, what);
}

void sync_say_head(struct finding *f, const char *headline)
{
	text_printf(&f->text, "%s%s\n    ", f->is_warning ? "Warning: " : "", headline);
	finding_say_side(&f->side[0], &f->text);
	text_puts(&f->text, "\n");
}

void sync_add(struct sync_launch *l, struct finding *f)
{
	finding_add_host(f, "launched", l->from);
	findings_add(l->found, f);
}
