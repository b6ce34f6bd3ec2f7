/*
 * The PTXLOOM_* variables of the environment, and options that take the same values: one table
 * (setting.def), one parser. A name that is not in the table, or a value that its row does not
 * allow, is an error, so that no setting is silently ignored.
 */
#ifndef PL_SETTING_H
#define PL_SETTING_H

#include "src/base/text.h"

/* The words of PTXLOOM_CHECK, in their order in setting.def. */
enum check {
	CHECK_MEM = 1 << 0,
	CHECK_RACE = 1 << 1,
	CHECK_INIT = 1 << 2,
	CHECK_SYNC = 1 << 3,
	CHECK_LEAK = 1 << 4,
	CHECK_API = 1 << 5,
};

/* The first word of a SIZE, as a value. */
#define SETTING_SIZE_WORD UINT64_MAX

/* In the value of a PERIOD: the rest is seconds, not a word. */
#define SETTING_SECONDS ((u64)1 << 63)

/* The words of PTXLOOM_AFTER_FAULT. */
enum after_fault { AFTER_FAULT_STICK, AFTER_FAULT_RESET, AFTER_FAULT_EXIT, AFTER_FAULT_CONTINUE };

enum setting_kind {
	SETTING_TEXT,   /* anything */
	SETTING_NUMBER, /* decimal, 0x.., 0.. */
	SETTING_SIZE,   /* a number of bytes, perhaps with K, M, G or T, or one of the words */
	SETTING_TIME,   /* a number and ms (the default), s, m or h; as milliseconds */
	SETTING_CHOICE, /* one of the words; as its index */
	SETTING_PERIOD, /* the same, or a number: SETTING_SECONDS with it */
	SETTING_LIST,   /* words separated by commas; as a mask, bit i for word i */
	SETTING_FLAG,   /* 0 or 1 */
};

enum setting {
#define SETTING(name, kind, limit, words, value, what) SETTING_##name,
#include "src/base/setting.def"
#undef SETTING
	SETTING_COUNT,
};

/*
 * What the variable holds; NULL when it is not set or empty. Valid until the environment changes.
 */
const char *setting_text(enum setting s);

/* From now on it is as if it were not set, in this process. */
void setting_hide(enum setting s);
void setting_show(enum setting s); /* it is set again, if it was */

/*
 * Parse a value as the row of s says. shown: the name in messages ("PTXLOOM_TIMEOUT", "--timeout").
 * False, with one line without a newline added to `why`, when it is not allowed; *out is kept then.
 * Rows of kind TEXT allow everything and leave *out as it is.
 */
bool setting_parse(enum setting s, const char *shown, const char *value, u64 *out,
		   struct text *why);

/* The same for the variable; one that is not set leaves *out as it is. */
bool setting_read(enum setting s, u64 *out, struct text *why);

/* The variable, or `otherwise` when it is not set or not allowed (settings_check says so). */
u64 setting_number(enum setting s, u64 otherwise);

/* "PTXLOOM_SEED" */
const char *setting_variable(enum setting s);

/* The words that the row of s allows, separated by commas. */
const char *setting_words(enum setting s);

/* Is this word in the variable, a LIST? */
bool setting_has(enum setting s, const char *word);

/*
 * Check the whole environment: are all names that begin with PTXLOOM_ in the table, and all their
 * values allowed? False after the first that is not, with a line about it added to `why`.
 */
bool settings_check(struct text *why);

#endif
