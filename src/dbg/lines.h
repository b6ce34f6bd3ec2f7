/*
 * Lines of the source and instructions of one module, both ways, out of .loc and, where compilers
 * tell it there alone, out of the inlined functions of DWARF.
 *
 * A line is a step, one that a person would stop at, unless the compiler made the code up (line 0)
 * or it lies in a header that users have not written (ir_is_toolkit_path). An instruction that was
 * inlined from such a header counts as the user's line that it was inlined at.
 *
 * A breakpoint on a line has one place for each copy of the code: instances of templates, several
 * kernels, inlined copies. Of code that the compiler laid out in several pieces only those count
 * that can be come to without passing another of them, so a `for` stops once, before its loop.
 */
#ifndef PL_DBG_LINES_H
#define PL_DBG_LINES_H

#include "src/dbg/dbg.h"

#define DBG_INLINE_MAX 32

/* A function that is inlined around an instruction. */
struct dbg_inline {
	u64 id;                   /* tells copies apart; never 0 */
	u32 call_file, call_line; /* where it was called: number of a .file */
	u32 call_column;          /* 0: unknown */
};

/*
 * The functions inlined around a place, innermost first; returns how many, at most DBG_INLINE_MAX.
 */
typedef u32 dbg_inline_fn(void *user, struct dbg_place at, struct dbg_inline *out);

struct dbg_source {
	const char *path; /* as the compiler wrote it; NULL: unknown */
	u32 line, column; /* from 1; 0: unknown */
};

struct dbg_lines;

/*
 * m: borrowed, must outlive it. inlined: NULL when .loc alone tells. Returns NULL when memory is
 * out.
 */
struct dbg_lines *dbg_lines_new(const struct ir_module *m, dbg_inline_fn *inlined, void *user);
void dbg_lines_free(struct dbg_lines *l);

/* What .loc says of an instruction, {NULL, 0, 0} for the compiler's own code. */
struct dbg_source dbg_lines_at(const struct dbg_lines *l, struct dbg_place at);
/*
 * The line that a step sees there; path NULL: none. *depth, when not NULL: how many functions are
 * inlined around that line.
 */
struct dbg_source dbg_lines_step(const struct dbg_lines *l, struct dbg_place at, u32 *depth);
/* The inlined functions around an instruction by .loc alone, as dbg_inline_fn. */
u32 dbg_lines_inlined(const struct ir_module *m, struct dbg_place at, struct dbg_inline *out);

/* A line found: path, the line itself or the next one with code, and its places. */
struct dbg_found {
	struct dbg_place place;
	const char *path;
	u32 line;
};

struct dbg_finds {
	struct dbg_found *at; /* owned; in order of path, function and instruction */
	size_t len;
};

/*
 * The places of a line of the files whose path ends in `file`, whole components ("b.cu" and
 * "a/b.cu" find "/x/a/b.cu"). A line without code means the next one that has some. None: len is 0.
 * Returns false when memory is out. The caller calls dbg_finds_free in any case.
 */
bool dbg_lines_find(const struct dbg_lines *l, const char *file, u32 line, struct dbg_finds *out);
void dbg_finds_free(struct dbg_finds *f);

/* The one file of the kernels' own lines, NULL: there are several, or none. */
const char *dbg_lines_main_file(const struct dbg_lines *l);
/*
 * The instruction that a breakpoint on the function stops at: where its first statement begins,
 * after parameters were fetched.
 */
u32 dbg_lines_body(const struct dbg_lines *l, const struct ir_func *f);

/* Does the path, "." and ".." resolved, end in these components? */
bool dbg_path_ends_in(const char *path, const char *file);

#endif
