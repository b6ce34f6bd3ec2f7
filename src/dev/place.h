/*
 * Places in a program: the instruction, the lines of the source that it comes of, who called whom.
 */
#ifndef PL_DEV_PLACE_H
#define PL_DEV_PLACE_H

#include "src/exec/exec.h"

/* An instruction of the PTX. */
struct place {
	const struct program_func *func; /* NULL: unknown */
	const struct ir_insn *in;        /* NULL: unknown */
	u32 line;                        /* of the PTX, from 1 */
};

struct place place_of(const struct program *p, u32 pc);
/* The same of the instruction that micro-ops name. */
struct place place_of_insn(const struct program *p, u32 func, u32 ir);

/* A line of the source. */
struct source_line {
	const char *file; /* as the compiler names it; NULL: unknown */
	u32 line, column; /* from 1; column 0: unknown */
};

/*
 * Where users would say that it is: in a function of theirs that has called one of the toolkit's
 * headers, where that one is a copy for this call (program.h); else the place itself. source: as
 * place_source.
 */
struct place place_for_users(const struct place *at, struct source_line *source);

/*
 * The line of the user's source that a place comes of: where it was inlined into code that is not a
 * toolkit's; where the compiler does not tell, the last such line before it. Else what .loc says.
 */
struct source_line place_source(const struct place *at);

/* Add "reduce.cu:21 (ld.shared.f32)", or "PTX line 34 (..)". */
void device_say_place(const struct program *p, u32 pc, struct text *out);

/* Is it code of the toolkit's headers, wherever it was inlined? Without lines: by the kernel. */
bool place_is_of_toolkit(const struct program *p, u32 pc);
bool place_kernel_is_of_toolkit(const struct program *p);

/* Add "called from scale.cu:30, in scale(..)\n" for each user's line it was inlined into. */
void place_say_callers(const struct program *p, u32 pc, struct text *out);

/* Add that line of the file with a mark below its column, if the file can be read. */
void place_quote(const struct source_line *s, struct text *out);

/*
 * Add "kernel.ptx:34: ld.global.f32 %f1, [%rd2];", or "PTX line 34: .." where the text has no file.
 */
void place_say_insn(const struct place *at, struct text *out);

/*
 * Add the lines of a fault's place: where in the source, with the line itself, or where in the PTX;
 * the functions that called; the kernel of this name. Each is indented and ends with \n.
 */
void place_say(const struct program *p, const struct fault *f, const char *kernel,
	       struct text *out);

#endif
