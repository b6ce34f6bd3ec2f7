/*
 * Located messages, in the manner of a compiler:
 *
 *     saxpy.ptx:12:9: error: operand 2 of add.s32 is .f32, expected .s32
 *        12 |         add.s32 %r1, %r2, %f1;
 *           |                           ^~~
 *     hint: add{.sat}.type d, a, b
 *
 * A `struct diag` collects or prints messages about any number of sources; nothing is printed
 * unless a sink writes. It is used by one thread at a time.
 */
#ifndef PL_DIAG_H
#define PL_DIAG_H

#include "src/base/base.h"
#include "src/base/text.h"

enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

/* One text that messages may point into. Borrowed: must outlive the messages about it. */
struct diag_source {
	const char *name; /* file name as the user gave it, or "<memory>" */
	const char *text; /* NULL: no line is shown */
	size_t size;
};

/* A place in a source: byte offsets, half open. Line and column are computed when printed. */
struct diag_span {
	u32 begin, end;
};

#define DIAG_NOWHERE ((struct diag_span){UINT32_MAX, UINT32_MAX})

/* What a sink receives. All strings are valid during the call only. */
struct diag_message {
	enum diag_level level;
	const char *file; /* NULL: no location */
	u32 line, column; /* from 1; 0: whole file */
	const char *text;
	const char *hint; /* NULL: none */
	/* the same in the words of ptxas, "error   : Unknown symbol 'x'"; NULL: none */
	const char *words;
	bool words_are_line;     /* all of a line of the driver's log */
	const char *source_line; /* NULL: not shown; not NUL-terminated */
	size_t source_line_len;
	u32 mark_len; /* characters to underline from `column` */
};

typedef void diag_sink(void *user, const struct diag_message *m);

struct diag {
	diag_sink *sink; /* NULL: count only */
	void *user;
	u32 error_limit; /* 0: none; errors past it are counted, not shown */
	u32 errors, warnings;
	bool quiet_warnings;
	struct text words; /* for the next message; owned */
	bool words_are_line;
	struct text first_error; /* "file:line:col: error: ..." of the first error; owned */
	/* Cache of the last line looked up, so many errors in one file stay linear. */
	const struct diag_source *seen_source;
	u32 seen_offset, seen_line, seen_line_start;
};

void diag_init(struct diag *d, diag_sink *sink, void *user);
void diag_fini(struct diag *d);

/*
 * Report at a span of src. src NULL or span DIAG_NOWHERE: a message without that part of the
 * location.
 * hint: a line of help or NULL.
 */
void diag_at(struct diag *d, enum diag_level level, const struct diag_source *src,
	     struct diag_span span, const char *hint, const char *fmt, ...) PL_PRINTF(6, 7);

/*
 * The wording of ptxas for the next message, for programs that search for it: "error : ..." or
 * "fatal : ...", with "line 12; " before it where ptxas names another line than the message does.
 * Sinks that show messages to people omit it.
 */
void diag_words(struct diag *d, const char *fmt, ...) PL_PRINTF(2, 3);
/* The same for messages of the driver without a location: the whole line of its log. */
void diag_words_line(struct diag *d, const char *fmt, ...) PL_PRINTF(2, 3);

/* True when the error limit is reached: parsers stop. */
bool diag_full(const struct diag *d);

/* Line and column, both from 1, of a byte offset. Columns count bytes. */
void diag_locate(const struct diag_source *src, u32 offset, u32 *line, u32 *column);

/*
 * Add a line of src, from 1, as messages show it, and a caret below its column; column 0: no caret.
 * Nothing when src has no such line.
 */
void diag_quote(struct text *t, const struct diag_source *src, u32 line, u32 column);

/* A sink that renders as above into the FILE * given as `user`, coloured when it is a terminal. */
void diag_print(void *user, const struct diag_message *m);
/* A sink that renders into the `struct text` given as `user`, never coloured. */
void diag_collect(void *user, const struct diag_message *m);

#endif
