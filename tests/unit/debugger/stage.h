/*
 * Runs a kernel and, where it comes to a line, commands: for tests of what the debugger shows.
 */
#ifndef PL_TEST_STAGE_H
#define PL_TEST_STAGE_H

#include "src/base/file.h"
#include "src/debugger/look.h"
#include "tests/check.h"
#include "tests/unit/debug_run.h"

struct stage {
	struct debug_run run;
	struct debugger *x;
	struct device dev;
	struct device_program program;
	struct exec_unit unit;
	struct debug_hooks hooks;
	struct text text, out;
	/* Where to stop: the n-th time (from 1) that lanes come to this line, or at any fault. */
	u32 line, nth;
	void (*stopped)(struct stage *s);
	u32 stops, came;
};

/* What a command prints; valid until the next. */
static inline const char *stage_run(struct stage *s, const char *line)
{
	text_fini(&s->out);
	text_puts(&s->out, "");
	debugger_command(s->x, line, &s->out);
	return s->out.at ? s->out.at : "";
}

/* Does what it prints hold this? */
static inline bool stage_has(struct stage *s, const char *line, const char *wanted)
{
	const char *got = stage_run(s, line);
	bool good = strstr(got, wanted) != NULL;

	if (!good)
		printf("# %s: no \"%s\" in:\n# %s\n", line, wanted, got);
	return good;
}

#define PRINTS(s, line, expected) CHECK_STR(stage_run(s, line), expected)
#define HAS(s, line, wanted) CHECK_MSG(stage_has(s, line, wanted), line ": " wanted)

static inline void stage_look(struct stage *s, struct debug_grid *d, struct standing at)
{
	struct debugger *x = s->x;

	s->stops++;
	x->grid = d;
	x->launch = 1;
	x->at = at;
	x->focus = (struct focus){.valid = true,
				  .launch = 1,
				  .cta = at.cta,
				  .warp = at.warp,
				  .lane = (u32)__builtin_ctz(at.lanes)};
	s->stopped(s);
	x->grid = NULL;
	x->focus.valid = false;
}

static inline enum debug_verdict stage_step(void *user, struct debug_grid *d, struct gang *g,
					    const struct uop *in)
{
	struct stage *s = user;
	struct dbg_place at = loaded_place(s->run.p, (u32)(in - g->uops));
	struct loaded *l = loaded_of(s->x, at.func);
	const char *path = l ? dbg_lines_at(l->lines, at).path : NULL;
	struct dbg_finds finds = {0};
	bool here = !path && l && loaded_ptx_line(l, at) == s->line;

	if (path && s->line && dbg_lines_find(l->lines, path, s->line, &finds))
		for (size_t i = 0; i < finds.len; i++)
			here |= finds.at[i].place.func == at.func &&
				finds.at[i].place.insn == at.insn;
	dbg_finds_free(&finds);
	if (here && ++s->came == s->nth)
		stage_look(s, d,
			   (struct standing){.kind = STOPPED_STEP,
					     .gang = g,
					     .in = in,
					     .cta = g->cta->number,
					     .warp = g->first_warp + g->warp,
					     .lanes = exec_step_mask(g, 0),
					     .time = debug_time(d)});
	return DEBUG_GO_ON;
}

static inline enum debug_verdict stage_fault(void *user, struct debug_grid *d,
					     const struct fault *f)
{
	struct stage *s = user;
	struct cta *c = debug_resident(d, 0);

	if (!s->line && c)
		stage_look(s, d,
			   (struct standing){.kind = STOPPED_FAULT,
					     .cta = c->number,
					     .warp = f->warp,
					     .lanes = f->lanes ? f->lanes : 1,
					     .fault = f,
					     .time = debug_time(d)});
	return DEBUG_GO_ON;
}

static inline bool stage_open(struct stage *s)
{
	s->hooks = (struct debug_hooks){.user = s, .step = stage_step, .fault = stage_fault};
	s->run.hooks = &s->hooks;
	s->x = debugger_new();
	if (!s->x || !mem_init(&s->dev.mem, 64 << 20))
		return false;
	s->run.mem = &s->dev.mem;
	s->dev.arch = arch_find("h200");
	if (!debug_run_open(&s->run))
		return false;
	s->program = (struct device_program){.dev = &s->dev,
					     .len = 1,
					     .units = &s->run.m,
					     .exec_units = &s->unit,
					     .sources = &s->run.source};
	return loaded_add(s->x, &s->program, 0);
}

/* A PTX file of tests/unit/dbg/data. */
static inline bool stage_open_file(struct stage *s, const char *name)
{
	const char *root = getenv("srcdir");
	char path[4096];
	struct file f;

	snprintf(path, sizeof(path), "%s/tests/unit/dbg/data/%s", root ? root : ".", name);
	if (!file_open(&f, path))
		return false;
	text_add(&s->text, (const char *)f.data, f.size);
	file_close(&f);
	s->run.ptx = s->text.at;
	return stage_open(s);
}

/* Run to a line (0: to a fault) and have `stopped` called there. */
static inline void stage_go(struct stage *s, u32 line, u32 nth, void (*stopped)(struct stage *s))
{
	s->line = line;
	s->nth = nth;
	s->came = s->stops = 0;
	s->stopped = stopped;
	CHECK(debug_run_go(&s->run));
	CHECK_EQ(s->stops, 1);
}

static inline void stage_close(struct stage *s)
{
	debugger_free(s->x);
	debug_run_close(&s->run);
	mem_fini(&s->dev.mem);
	text_fini(&s->text);
	text_fini(&s->out);
}

#endif
