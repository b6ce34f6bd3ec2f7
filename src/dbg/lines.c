/*
 * Lines and instructions. The index is a sorted array of pieces: one for each run of instructions
 * without a label in between that belong to the same line of the same inlined copy.
 */
#include "src/dbg/lines.h"

#include "src/base/vec.h"
#include "src/dbg/flow.h"
#include "src/ir/source.h"

#define PATH_PARTS 256

/* A run of instructions of a line. */
struct piece {
	u32 file, line; /* file: index in `files` of dbg_lines */
	u64 copy;       /* of which inlined copy; 0: none */
	u32 func, insn;
};

/* The step of an instruction. */
struct step {
	u32 file, line, column; /* file: number of .file; line 0: none */
	u32 depth;
};

struct file_row {
	u32 number;
	const char *path;
	bool toolkit;
};

struct dbg_lines {
	const struct ir_module *m;
	dbg_inline_fn *inlined;
	void *user;
	VEC(struct file_row) files;
	VEC(struct piece) pieces;
	struct step **steps; /* for each function an array; owned */
};

/* ---- paths ---- */

struct path_part {
	const char *at;
	size_t n;
};

/* Components with "." left out and ".." resolved; returns how many. */
static size_t split_path(const char *path, struct path_part *parts)
{
	size_t len = 0;

	for (const char *at = path; *at && len < PATH_PARTS;) {
		size_t n = strcspn(at, "/");

		if (n == 2 && !memcmp(at, "..", 2) && len)
			len--;
		else if (n && !(n == 1 && *at == '.'))
			parts[len++] = (struct path_part){at, n};
		at += n + (at[n] == '/');
	}
	return len;
}

bool dbg_path_ends_in(const char *path, const char *file)
{
	struct path_part p[PATH_PARTS], f[PATH_PARTS];
	size_t np = split_path(path, p), nf = split_path(file, f);

	if (!nf || nf > np || (*file == '/' && (nf != np || *path != '/')))
		return false;
	for (size_t i = 1; i <= nf; i++)
		if (p[np - i].n != f[nf - i].n || memcmp(p[np - i].at, f[nf - i].at, p[np - i].n))
			return false;
	return true;
}

/* The index of a file; false: there is no such .file. */
static bool find_line_file(const struct dbg_lines *l, u32 number, u32 *index)
{
	for (u32 i = 0; i < l->files.len; i++)
		if (l->files.at[i].number == number)
			return *index = i, true;
	return false;
}

/* ---- what surrounds an instruction ---- */

u32 dbg_lines_inlined(const struct ir_module *m, struct dbg_place at, struct dbg_inline *out)
{
	const struct ir_insn *in =
		at.insn < at.func->insns.len ? &at.func->insns.at[at.insn] : NULL;
	const struct ir_loc *l = in ? ir_loc_at(m, in->loc) : NULL;
	u64 id = 1;
	u32 n = 0;

	while (l && l->inlined_at != IR_NONE && n < DBG_INLINE_MAX) {
		l = ir_loc_at(m, l->inlined_at);
		if (l)
			out[n++] = (struct dbg_inline){0, l->file, l->line, l->column};
	}
	/* A copy is told by all the calls around it. */
	for (u32 i = n; i--;) {
		u64 key[] = {id, out[i].call_file, out[i].call_line, out[i].call_column};

		id = hash_bytes(key, sizeof(key)) | 1;
		out[i].id = id;
	}
	return n;
}

static u32 inlined_around(const struct dbg_lines *l, struct dbg_place at, struct dbg_inline *out)
{
	u32 n = l->inlined ? l->inlined(l->user, at, out) : 0;

	return n ? n : dbg_lines_inlined(l->m, at, out);
}

/* The lines an instruction belongs to, innermost first: its own, then those of the calls. */
struct around {
	struct {
		u32 file, line, column;
		u64 copy;
	} at[DBG_INLINE_MAX + 1];
	u32 len;
};

static void find_around(const struct dbg_lines *l, struct dbg_place at, struct around *a)
{
	const struct ir_loc *loc = ir_loc_at(l->m, at.func->insns.at[at.insn].loc);
	struct dbg_inline in[DBG_INLINE_MAX];
	u32 n;

	a->len = 0;
	if (!loc)
		return;
	n = inlined_around(l, at, in);
	a->at[0].file = loc->file;
	a->at[0].line = loc->line;
	a->at[0].column = loc->column;
	for (u32 i = 0; i < n; i++) {
		a->at[i].copy = in[i].id;
		a->at[i + 1].file = in[i].call_file;
		a->at[i + 1].line = in[i].call_line;
		a->at[i + 1].column = in[i].call_column;
	}
	a->at[n].copy = 0;
	a->len = n + 1;
}

/* ---- building ---- */

static bool same_line_in(const struct around *a, const struct around *b, u32 level)
{
	for (u32 i = 0; i < b->len; i++)
		if (b->at[i].file == a->at[level].file && b->at[i].line == a->at[level].line &&
		    b->at[i].copy == a->at[level].copy)
			return true;
	return false;
}

static bool add_pieces(struct dbg_lines *l, const struct around *a, const struct around *before,
		       struct dbg_place at)
{
	u32 file;

	for (u32 i = 0; i < a->len; i++) {
		struct piece p = {0, a->at[i].line, a->at[i].copy, at.func->index, at.insn};

		if (!a->at[i].line || same_line_in(a, before, i) ||
		    !find_line_file(l, a->at[i].file, &file))
			continue;
		p.file = file;
		if (!VEC_PUSH(&l->pieces, p))
			return false;
	}
	return true;
}

static struct step step_of(const struct dbg_lines *l, const struct around *a)
{
	u32 file;

	for (u32 i = 0; i < a->len; i++)
		if (a->at[i].line && find_line_file(l, a->at[i].file, &file) &&
		    !l->files.at[file].toolkit)
			return (struct step){a->at[i].file, a->at[i].line, a->at[i].column,
					     a->len - 1 - i};
	return (struct step){0, 0, 0, 0};
}

/* Does code come to this instruction from elsewhere than the one before it? */
static void find_leaders(const struct ir_func *f, u8 *leader)
{
	for (size_t i = 0; i < f->labels.len; i++)
		leader[f->labels.at[i].insn] = 1;
}

static bool add_insns(struct dbg_lines *l, const struct ir_func *f, const u8 *leader)
{
	static const struct around nothing;
	struct around a[2] = {{.len = 0}, {.len = 0}};

	for (u32 i = 0; i < f->insns.len; i++) {
		struct dbg_place at = {f, i};

		find_around(l, at, &a[i & 1]);
		l->steps[f->index][i] = step_of(l, &a[i & 1]);
		if (!add_pieces(l, &a[i & 1], leader[i] ? &nothing : &a[!(i & 1)], at))
			return false;
	}
	return true;
}

static bool add_func(struct dbg_lines *l, const struct ir_func *f)
{
	u8 *leader;
	bool good;

	if (!f->insns.len)
		return true;
	l->steps[f->index] = calloc(f->insns.len, sizeof(struct step));
	leader = calloc(f->insns.len + 1, 1);
	if (leader)
		find_leaders(f, leader);
	good = leader && l->steps[f->index] && add_insns(l, f, leader);
	free(leader);
	return good;
}

#define COMPARE(field)                                                                             \
	if (a->field != b->field)                                                                  \
	return a->field < b->field ? -1 : 1

static int compare_pieces(const void *x, const void *y)
{
	const struct piece *a = x, *b = y;

	COMPARE(file);
	COMPARE(line);
	COMPARE(func);
	COMPARE(copy);
	COMPARE(insn);
	return 0;
}

static int compare_places(const void *x, const void *y)
{
	const struct dbg_found *a = x, *b = y;
	int by_path = strcmp(a->path, b->path);

	if (by_path)
		return by_path;
	COMPARE(place.func->index);
	COMPARE(place.insn);
	return 0;
}

static bool build_lines(struct dbg_lines *l)
{
	const struct ir_module *m = l->m;

	for (size_t i = 0; i < m->files.len; i++) {
		const char *path = m->files.at[i].path;
		struct file_row row = {m->files.at[i].number, path, ir_is_toolkit_path(path)};

		if (!VEC_PUSH(&l->files, row))
			return false;
	}
	l->steps = calloc(m->funcs.len + 1, sizeof(struct step *));
	if (!l->steps)
		return false;
	for (size_t i = 0; i < m->funcs.len; i++)
		if (!add_func(l, m->funcs.at[i]))
			return false;
	if (l->pieces.len)
		qsort(l->pieces.at, l->pieces.len, sizeof(*l->pieces.at), compare_pieces);
	return true;
}

struct dbg_lines *dbg_lines_new(const struct ir_module *m, dbg_inline_fn *inlined, void *user)
{
	struct dbg_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->m = m;
	l->inlined = inlined;
	l->user = user;
	if (!build_lines(l)) {
		dbg_lines_free(l);
		return NULL;
	}
	return l;
}

void dbg_lines_free(struct dbg_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; l->steps && i < l->m->funcs.len; i++)
		free(l->steps[i]);
	free(l->steps);
	VEC_FREE(&l->files);
	VEC_FREE(&l->pieces);
	free(l);
}

/* ---- from instructions ---- */

struct dbg_source dbg_lines_at(const struct dbg_lines *l, struct dbg_place at)
{
	const struct ir_insn *in =
		at.insn < at.func->insns.len ? &at.func->insns.at[at.insn] : NULL;
	const struct ir_loc *loc = in ? ir_loc_at(l->m, in->loc) : NULL;
	const char *path = loc ? ir_file_path(l->m, loc->file) : NULL;

	return path ? (struct dbg_source){path, loc->line, loc->column}
		    : (struct dbg_source){NULL, 0, 0};
}

struct dbg_source dbg_lines_step(const struct dbg_lines *l, struct dbg_place at, u32 *depth)
{
	const struct step *s =
		at.insn < at.func->insns.len ? &l->steps[at.func->index][at.insn] : NULL;

	if (depth)
		*depth = s ? s->depth : 0;
	return s && s->line ? (struct dbg_source){ir_file_path(l->m, s->file), s->line, s->column}
			    : (struct dbg_source){NULL, 0, 0};
}

/* ---- from lines ---- */

/* The first piece at or after (file, line). */
static size_t first_piece(const struct dbg_lines *l, u32 file, u32 line)
{
	size_t low = 0, high = l->pieces.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct piece *p = &l->pieces.at[mid];

		if (p->file < file || (p->file == file && p->line < line))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct finding {
	struct dbg_found *at;
	size_t len, cap;
};

/*
 * A jump over what the line's statement did not need: nvcc gives it the line of the statement,
 * though threads that skip the statement come there, too.
 */
static bool is_jump(const struct ir_func *f, u32 insn)
{
	const struct ir_insn *in = &f->insns.at[insn];

	return ir_opcode(in) == OPCODE_bra && in->guard == IR_NONE;
}

/* The pieces [begin, end) are of one copy in one function: keep those no other one comes before. */
static bool keep_first(const struct dbg_lines *l, size_t begin, size_t end, struct finding *out)
{
	const struct piece *p = l->pieces.at;
	const struct ir_func *f = l->m->funcs.at[p[begin].func];
	u8 *walls = calloc(f->insns.len, 1), *reached = calloc(f->insns.len, 1);
	bool good = walls && reached;

	for (size_t i = begin; i < end && good; i++) {
		struct dbg_found found = {{f, p[i].insn}, l->files.at[p[i].file].path, p[i].line};

		/* The lowest one stands for code that nothing reaches. */
		if (i > begin) {
			if (is_jump(f, p[i].insn))
				continue;
			memset(reached, 0, f->insns.len);
			good = flow_reach(f, walls, reached);
			if (!reached[p[i].insn])
				continue;
		}
		walls[p[i].insn] = 1;
		good = good && VEC_PUSH(out, found);
	}
	free(walls);
	free(reached);
	return good;
}

static bool find_in_file(const struct dbg_lines *l, u32 file, u32 line, struct finding *out)
{
	size_t begin = first_piece(l, file, line), end;
	const struct piece *p = l->pieces.at;

	if (begin == l->pieces.len || p[begin].file != file)
		return true;
	line = p[begin].line;
	for (; begin < l->pieces.len && p[begin].file == file && p[begin].line == line;
	     begin = end) {
		for (end = begin + 1; end < l->pieces.len && p[end].file == file &&
				      p[end].line == line && p[end].func == p[begin].func &&
				      p[end].copy == p[begin].copy;)
			end++;
		if (!keep_first(l, begin, end, out))
			return false;
	}
	return true;
}

bool dbg_lines_find(const struct dbg_lines *l, const char *file, u32 line, struct dbg_finds *out)
{
	struct finding found = {0};
	bool good = true;

	for (u32 i = 0; i < l->files.len && good; i++)
		if (dbg_path_ends_in(l->files.at[i].path, file))
			good = find_in_file(l, i, line, &found);
	if (found.len)
		qsort(found.at, found.len, sizeof(*found.at), compare_places);
	*out = (struct dbg_finds){found.at, found.len};
	return good;
}

void dbg_finds_free(struct dbg_finds *f)
{
	free(f->at);
	*f = (struct dbg_finds){NULL, 0};
}

const char *dbg_lines_main_file(const struct dbg_lines *l)
{
	const char *only = NULL;

	for (size_t i = 0; i < l->m->funcs.len; i++) {
		const struct ir_func *f = l->m->funcs.at[i];
		const char *path = NULL;

		for (u32 k = 0; f->is_entry && k < f->insns.len && !path; k++)
			path = dbg_lines_step(l, (struct dbg_place){f, k}, NULL).path;
		if (path && only && strcmp(path, only) != 0)
			return NULL;
		only = path ? path : only;
	}
	return only;
}

u32 dbg_lines_body(const struct dbg_lines *l, const struct ir_func *f)
{
	struct dbg_source first = {NULL, 0, 0};

	for (u32 i = 0; i < f->insns.len; i++) {
		struct dbg_source s = dbg_lines_step(l, (struct dbg_place){f, i}, NULL);

		if (s.path && !first.path)
			first = s;
		else if (s.path && (s.line != first.line || s.column != first.column))
			return i;
		/* What may branch is a statement already. */
		if (ir_opcode(&f->insns.at[i]) == OPCODE_bra)
			break;
	}
	return 0;
}
