/*
 * From texts and counts to lines.
 *
 * Of each copy of code - a function of a text, or one that was inlined somewhere into it - a line
 * counts as often as its busiest block; the copies are added. An instruction that was inlined
 * counts for the line that it was inlined at, too.
 */
#include "src/cover/model_int.h"

#include "src/base/demangle.h"
#include "src/base/file.h"
#include "src/dev/module/module.h"
#include "src/ir/source.h"
#include "src/lower/sites.h"

#include <stdlib.h>
#include <unistd.h>

/* What one instruction adds to a line of one copy. */
struct part {
	u32 file, line;
	u64 copy;
	struct cover_tally tally;
};

struct build {
	struct cover_model *m;
	const struct cover_choice *choice;
	const struct ir_module *module;
	const struct ir_func *f;
	const struct exec_count *count; /* of f; NULL: it never ran */
	struct lower_sites sites;
	u32 whole;               /* the file that is the text, IR_NONE: there is .loc */
	u32 *file_of;            /* .file, by index -> file of the model */
	struct text line_starts; /* u32 offsets of the text's lines, if it is the source */
	VEC(struct part) parts;
	VEC(u64) places; /* of sites of f so far: their line, column and kind */
	bool failed;
};

/* ---- places ---- */

static u32 file_number(const struct build *b, u32 number)
{
	for (size_t i = 0; i < b->module->files.len; i++)
		if (b->module->files.at[i].number == number)
			return b->file_of[i];
	return IR_NONE;
}

static bool note_line_starts(struct build *b)
{
	const struct diag_source *s = &b->module->source;
	u32 at = 0;

	text_add(&b->line_starts, (const char *)&at, sizeof(at));
	for (at = 0; at < s->size && s->text[at]; at++)
		if (s->text[at] == '\n') {
			u32 next = at + 1;

			text_add(&b->line_starts, (const char *)&next, sizeof(next));
		}
	return !b->line_starts.failed;
}

static u32 line_of_offset(const struct build *b, u32 offset)
{
	const u32 *start = (const void *)b->line_starts.at;
	u32 lo = 0, hi = (u32)(b->line_starts.len / sizeof(u32));

	while (hi - lo > 1) {
		u32 mid = (lo + hi) / 2;

		*(start[mid] <= offset ? &lo : &hi) = mid;
	}
	return lo + 1;
}

/* Where an instruction is in the source, IR_NONE: nowhere. */
static u32 place_of_insn(const struct build *b, const struct ir_insn *in, u32 *line, u32 *column)
{
	const struct ir_loc *l;

	if (b->whole != IR_NONE) {
		*line = line_of_offset(b, in->begin);
		*column = 0;
		return b->whole;
	}
	l = ir_loc_at(b->module, in->loc);
	if (!l)
		return IR_NONE;
	*line = l->line;
	*column = l->column;
	return file_number(b, l->file);
}

/* Tells copies of inlined code apart: all the places that it is inlined at; 0: it is not. */
static u64 copy_of(const struct ir_module *m, const struct ir_loc *l)
{
	u32 at = l->inlined_at;
	u64 h = at < m->locs.len ? HASH_SEED : 0;

	for (u32 depth = 0; at < m->locs.len && depth < 64; depth++) {
		const struct ir_loc *x = &m->locs.at[at];
		u32 key[] = {x->file, x->line, x->column};

		h = hash_more(h, key, sizeof(key));
		at = x->inlined_at;
	}
	return h;
}

/* ---- lines ---- */

static void push_part(struct build *b, u32 file, u32 line, u64 copy, const struct cover_tally *t)
{
	struct part p = {file, line, copy, *t};

	if (file != IR_NONE && line && !VEC_PUSH(&b->parts, p))
		b->failed = true;
}

static void add_insn(struct build *b, const struct ir_insn *in, const struct cover_tally *t)
{
	const struct ir_loc *l;
	u32 line, column, file = place_of_insn(b, in, &line, &column), depth = 0;

	if (b->whole != IR_NONE) {
		push_part(b, file, line, 0, t);
		return;
	}
	l = in->loc < b->module->locs.len ? &b->module->locs.at[in->loc] : NULL;
	for (; l && depth < 64; depth++) {
		struct cover_tally outer = *t;

		/* Branches of what was inlined are not the caller's. */
		if (depth)
			outer.diverged = 0;
		push_part(b, file_number(b, l->file), l->line, copy_of(b->module, l), &outer);
		l = l->inlined_at < b->module->locs.len ? &b->module->locs.at[l->inlined_at] : NULL;
	}
}

static void tally_max(struct cover_tally *to, const struct cover_tally *from)
{
	to->count = max_u64(to->count, from->count);
	to->warps = max_u64(to->warps, from->warps);
	to->full = max_u64(to->full, from->full);
	to->diverged += from->diverged;
	to->mask |= from->mask;
	to->missing = from->missing > to->missing ? from->missing : to->missing;
}

static int compare_parts(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->copy < b->copy ? -1 : a->copy > b->copy;
}

static void push_line(struct build *b, u32 file, u32 line, const struct cover_tally *t,
		      struct cover_function *f)
{
	struct cover_line x = {file, line, *t};

	b->failed |= !VEC_PUSH(&b->m->lines, x);
	if (f && b->choice->instances)
		b->failed |= !VEC_PUSH(&f->lines, x);
}

/* The parts of a function become lines: the most of each copy, and their sum. */
static void gather_lines(struct build *b, struct cover_function *f)
{
	if (b->parts.len)
		qsort(b->parts.at, b->parts.len, sizeof(*b->parts.at), compare_parts);
	for (size_t i = 0, k; i < b->parts.len; i = k) {
		const struct part *p = &b->parts.at[i];
		struct cover_tally all = {0}, one = {0};

		for (k = i; k < b->parts.len && b->parts.at[k].file == p->file &&
			    b->parts.at[k].line == p->line;
		     k++) {
			if (k > i && b->parts.at[k].copy != b->parts.at[k - 1].copy) {
				cover_tally_add(&all, &one);
				one = (struct cover_tally){0};
			}
			tally_max(&one, &b->parts.at[k].tally);
		}
		cover_tally_add(&all, &one);
		push_line(b, p->file, p->line, &all, f);
		if (p->file == f->file && p->line > f->end && !p->copy)
			f->end = p->line;
	}
	b->parts.len = 0;
}

/* ---- branches ---- */

static u64 *ways_of(const struct lower_site *s, const struct exec_count *c, u32 *n)
{
	u64 *taken;

	*n = s->kind == SITE_INDEX ? s->counts : 2;
	taken = calloc(*n + 1, sizeof(*taken));
	if (!taken || !c)
		return taken;
	if (s->kind == SITE_INDEX) {
		for (u32 i = 0; i < s->counts; i++)
			taken[i] = c[i].lanes;
	} else {
		taken[0] = c->lanes;
		taken[1] = c->others;
	}
	return taken;
}

/* Which of the sites of its kind at a place of the function it is. */
static u32 ordinal_of(struct build *b, u32 file, u32 line, u32 column, u32 kind, u64 copy)
{
	u32 key[] = {file, line, column, kind};
	u64 place = hash_more(copy, key, sizeof(key));
	u32 n = 0;

	for (size_t i = 0; i < b->places.len; i++)
		n += b->places.at[i] == place;
	b->failed |= !VEC_PUSH(&b->places, place);
	return n;
}

static void gather_site(struct build *b, const struct lower_site *s)
{
	const struct ir_insn *in = &b->f->insns.at[s->ir];
	const struct exec_count *c = b->count ? b->count + s->at : NULL;
	const struct ir_loc *l = ir_loc_at(b->module, in->loc);
	struct cover_site x = {.kind = s->kind};

	x.file = place_of_insn(b, in, &x.line, &x.column);
	if (x.file == IR_NONE)
		return;
	x.ordinal = ordinal_of(b, x.file, x.line, x.column, x.kind,
			       l && b->whole == IR_NONE ? copy_of(b->module, l) : 0);
	x.taken = ways_of(s, c, &x.ways);
	for (u32 i = 0; x.taken && i < x.ways; i++)
		x.reached |= x.taken[i] != 0;
	if (c) {
		x.all = c->all;
		x.none = s->kind == SITE_INDEX ? 0 : c->none;
		x.diverged = s->kind == SITE_INDEX ? c->none : c->warps - c->all;
	}
	if (!x.taken || !VEC_PUSH(&b->m->sites, x)) {
		free(x.taken);
		b->failed = true;
	}
}

static u64 diverged_at(const struct lower_site *s, const struct exec_count *c)
{
	return s->kind == SITE_INDEX ? c->none : s->kind == SITE_BRANCH ? c->warps - c->all : 0;
}

/* ---- functions ---- */

static void tally_of(struct cover_tally *t, const struct exec_count *c)
{
	*t = (struct cover_tally){.count = c->lanes,
				  .warps = c->warps,
				  .full = c->all,
				  .mask = c->mask,
				  .missing = c->missing};
}

/* Its first place that is not inlined, or else what it is inlined at. */
static bool begin_function(struct build *b, struct cover_function *x)
{
	for (size_t i = 0; i < b->f->insns.len; i++) {
		const struct ir_insn *in = &b->f->insns.at[i];
		const struct ir_loc *l;
		u32 column;

		x->file = place_of_insn(b, in, &x->line, &column);
		l = b->whole == IR_NONE && in->loc < b->module->locs.len
			    ? &b->module->locs.at[in->loc]
			    : NULL;
		while (l && l->inlined_at < b->module->locs.len) {
			l = &b->module->locs.at[l->inlined_at];
			x->file = file_number(b, l->file);
			x->line = l->line;
		}
		if (x->file != IR_NONE && x->line)
			return true;
	}
	return false;
}

/*
 * A block that only jumps on and has no .loc of its own joins others: it is not of the line before.
 */
static bool is_joint(const struct build *b, u32 i)
{
	const struct ir_insn *in = &b->f->insns.at[i];

	return b->whole == IR_NONE && i && ir_opcode(in) == OPCODE_bra && in->guard == IR_NONE &&
	       in[-1].loc == in->loc;
}

static void walk_insns(struct build *b)
{
	struct cover_tally block = {0}, t;
	u32 s = 0;

	for (u32 i = 0; i < b->f->insns.len; i++) {
		bool begins = false;

		t = block;
		for (; s < b->sites.len && b->sites.at[s].ir == i; s++) {
			const struct lower_site *x = &b->sites.at[s];
			const struct exec_count *c = b->count ? &b->count[x->at] : NULL;

			if (x->kind == SITE_BLOCK && c) {
				tally_of(&block, c);
				t = block;
			} else if (x->kind == SITE_GUARD && c) {
				tally_of(&t, c);
				t.full = 0;
			}
			begins |= x->kind == SITE_BLOCK;
			if (x->kind == SITE_BLOCK)
				continue;
			t.diverged += c ? diverged_at(x, c) : 0;
			gather_site(b, x);
		}
		if (!begins || !is_joint(b, i))
			add_insn(b, &b->f->insns.at[i], &t);
	}
}

static void gather_function(struct build *b, const struct exec_count *count)
{
	struct cover_function x = {.copies = 1, .file = IR_NONE};
	struct text shown = {0};

	b->count = count;
	b->places.len = 0;
	if (begin_function(b, &x)) {
		x.end = x.line;
		x.count = count ? count[0].lanes : 0;
		demangle(b->f->name->text, &shown);
		x.name = strdup(b->f->name->text);
		x.shown = shown.failed ? NULL : shown.at;
		b->failed |= !x.name || !x.shown;
	}
	walk_insns(b);
	gather_lines(b, &x);
	if (x.name && x.shown && VEC_PUSH(&b->m->functions, x))
		return;
	free(x.name);
	text_fini(&shown);
	VEC_FREE(&x.lines);
}

/* ---- texts ---- */

static const struct cover_entry *counts_of_function(const struct cover_input *in,
						    struct cover_hash hash, const char *name)
{
	return cover_profile_find((struct cover_profile *)(uintptr_t)&in->profile, hash, name);
}

static bool functions_of(struct build *b, const struct cover_input *in, struct cover_hash hash,
			 const char *path)
{
	for (size_t i = 0; i < b->module->funcs.len && !b->failed; i++) {
		const struct ir_func *f = b->module->funcs.at[i];
		const struct cover_entry *e;

		if (!f->has_body)
			continue;
		b->f = f;
		b->failed |= !lower_sites_find(&b->sites, f);
		e = counts_of_function(in, hash, f->name->text);
		if (e && e->counts != b->sites.counts) {
			fprintf(stderr,
				"ptxloom: error: %s: function %s has %u counts, but %u were expected: the "
				"versions of ptxloom differ\n",
				path, f->name->text, e->counts, b->sites.counts);
			lower_sites_free(&b->sites);
			return false;
		}
		gather_function(b, e ? e->count : NULL);
		lower_sites_free(&b->sites);
	}
	return true;
}

static bool read_module(struct build *b, const struct cover_input *in, struct cover_hash hash,
			const char *path)
{
	const struct ir_module *m = b->module;
	bool ok = true;

	b->whole = m->locs.len ? IR_NONE : cover_file_whole(b->m, path);
	b->file_of = calloc(m->files.len + 1, sizeof(*b->file_of));
	b->failed |= !b->file_of;
	for (size_t i = 0; b->file_of && i < m->files.len; i++)
		b->file_of[i] = cover_file_of(b->m, b->choice, m->files.at[i].path);
	b->m->is_optimised |= !m->debug && m->locs.len;
	if (b->whole != IR_NONE)
		b->failed |= !note_line_starts(b);
	ok = !b->failed && functions_of(b, in, hash, path);
	text_fini(&b->line_starts);
	VEC_FREE(&b->parts);
	VEC_FREE(&b->places);
	free(b->file_of);
	return ok && !b->failed;
}

/* What is wrong with a text; NULL: it was taken. */
static const char *add_module(struct cover_model *m, const struct cover_choice *c,
			      const struct cover_input *in, struct cover_hash hash,
			      const char *path)
{
	struct build b = {.m = m, .choice = c, .whole = IR_NONE};
	struct cover_hash is;
	struct diag_source source;
	struct ir_module *module;
	struct text copy = {0};
	struct file f;
	struct diag d;
	const char *wrong = NULL;

	if (!file_open(&f, path))
		return "cannot be read; it belongs to the profile";
	is = cover_hash_of((const char *)f.data, f.size);
	if (is.at[0] != hash.at[0] || is.at[1] != hash.at[1]) {
		file_close(&f);
		return "is not the text that was counted: its hash is another";
	}
	text_add(&copy, (const char *)f.data, f.size);
	file_close(&f);
	source = (struct diag_source){
		.name = path, .text = copy.at ? copy.at : "", .size = copy.len};
	diag_init(&d, NULL, NULL);
	module = copy.failed ? NULL : module_parse(&source, MODULE_LOAD, &d);
	b.module = module;
	if (!module)
		wrong = "is no PTX that can be read";
	else if (!read_module(&b, in, hash, path))
		wrong = "could not be taken";
	if (module)
		ir_module_free(module);
	diag_fini(&d);
	text_fini(&copy);
	return wrong;
}

char *cover_module_path(const struct cover_input *in, struct cover_hash hash)
{
	char name[COVER_HASH_TEXT];
	struct text path = {0};

	cover_hash_text(hash, name);
	for (size_t i = 0; i < in->folders.len; i++) {
		text_fini(&path);
		path = (struct text){0};
		text_printf(&path, "%s/modules/%s.ptx", in->folders.at[i], name);
		if (path.failed || !access(path.at, F_OK))
			break;
	}
	return path.at;
}

static void add_texts(struct cover_model *m, const struct cover_choice *c,
		      const struct cover_input *in)
{
	for (size_t i = 0; i < in->profile.entries.len; i++) {
		const struct cover_entry *e = &in->profile.entries.at[i];
		const char *wrong;
		char *path;

		if (*e->name)
			continue;
		path = cover_module_path(in, e->module);
		wrong = path ? add_module(m, c, in, e->module, path) : "has no memory";
		if (wrong) {
			fprintf(stderr, "ptxloom: error: %s %s\n", path ? path : "a text", wrong);
			m->damaged++;
		}
		free(path);
	}
}

/* ---- the whole ---- */

bool cover_model_make(struct cover_model *m, const struct cover_input *in,
		      const struct cover_choice *c)
{
	*m = (struct cover_model){0};
	demangle_prepare();
	if (!cover_find_root(m, c))
		return false;
	add_texts(m, c, in);
	if (!cover_merge(m, c->instances))
		return false;
	cover_read_sources(m);
	cover_note_files(m);
	return true;
}

void cover_model_free(struct cover_model *m)
{
	for (size_t i = 0; i < m->files.len; i++) {
		free(m->files.at[i].path);
		free(m->files.at[i].source);
		free(m->files.at[i].text);
		free(m->files.at[i].at);
	}
	for (size_t i = 0; i < m->sites.len; i++)
		free(m->sites.at[i].taken);
	for (size_t i = 0; i < m->functions.len; i++)
		cover_function_free(&m->functions.at[i]);
	for (size_t i = 0; i < m->left_out.len; i++)
		free(m->left_out.at[i]);
	VEC_FREE(&m->files);
	VEC_FREE(&m->lines);
	VEC_FREE(&m->sites);
	VEC_FREE(&m->functions);
	VEC_FREE(&m->left_out);
	free(m->root);
}
