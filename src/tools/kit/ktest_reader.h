/*
 * What the parts share that read a table of tests: a reader, its words and its messages.
 */
#ifndef PL_TOOLS_KIT_KTEST_READER_H
#define PL_TOOLS_KIT_KTEST_READER_H

#include "src/tools/kit/ktest.h"
#include "src/tools/kit/many.h"

#define KTEST_VARIABLES 16u

struct ktest_span {
	const char *at;
	size_t len;
};

struct ktest_variable {
	struct ktest_span name;
	VEC(struct ktest_span) values;
	size_t now; /* the value of the case that is made */
};

struct ktest_reader {
	struct diag_source source;
	struct diag *diag;
	struct ktest *out;
	const char *at, *end; /* of the line that is read */
	bool failed;          /* and said so */
	/* what the next tests are about */
	struct ktest_span kernel;
	u32 image;
	bool has_kernel;
	VEC(struct ktest_span) devices;
	struct seed_list seeds;
	struct ktest_span checks, timeout;
	/* the test that is read: its name, and its lines */
	struct ktest_span name;
	VEC(struct ktest_span) lines;
	struct ktest_variable variable[KTEST_VARIABLES];
	u32 variables;
	ktest_words numbers; /* of ranges: values of variables */
	u64 bytes;           /* of words of cases */
};

/* Report at this place, once; `failed` is then set. */
void ktest_wrong(struct ktest_reader *r, struct ktest_span at, const char *hint, const char *fmt,
		 ...) PL_PRINTF(4, 5);
struct diag_span ktest_span_in(const struct ktest_reader *r, struct ktest_span at);

bool ktest_is_blank(char c);
/* Up to the next word of the line; false: there is none. */
bool ktest_skip(struct ktest_reader *r);
/* The next word, quotes and all; of length 0 at the end of the line. */
struct ktest_span ktest_word(struct ktest_reader *r);
bool ktest_is(struct ktest_span w, const char *s);
/* What is left of the line, without a comment and blanks at its ends. */
struct ktest_span ktest_rest(struct ktest_reader *r);
/* Add the text with the values of its variables; quotes_go: without quotes around words. */
void ktest_expand(struct ktest_reader *r, struct ktest_span w, bool quotes_go, struct text *out);
/* Add a copy of s, which w stands for. */
void ktest_push(struct ktest_reader *r, ktest_words *to, struct ktest_span w, const char *s);

/* The options that the lines of the test stand for, with the variables' values of now. */
void ktest_options(struct ktest_reader *r, ktest_words *to);

#endif
