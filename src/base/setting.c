/*
 * Reading the environment by setting.def.
 */
#include "src/base/setting.h"

#include "src/base/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define PREFIX "PTXLOOM_"
/* What stands for all words of a list. */
#define EVERY_WORD "all"

struct row {
	const char *name; /* with the prefix */
	enum setting_kind kind;
	u64 limit;
	const char *words, *value, *what;
};

static const struct row rows[] = {
#define SETTING(name, kind, limit, words, value, what)                                             \
	{PREFIX #name, SETTING_##kind, limit, words, value, what},
#include "src/base/setting.def"
#undef SETTING
};

static bool hidden[SETTING_COUNT];

const char *setting_text(enum setting s)
{
	const char *v = __atomic_load_n(&hidden[s], __ATOMIC_RELAXED) ? NULL : getenv(rows[s].name);

	return v && *v ? v : NULL;
}

void setting_hide(enum setting s)
{
	__atomic_store_n(&hidden[s], true, __ATOMIC_RELAXED);
}

void setting_show(enum setting s)
{
	__atomic_store_n(&hidden[s], false, __ATOMIC_RELAXED);
}

const char *setting_variable(enum setting s)
{
	return rows[s].name;
}

const char *setting_words(enum setting s)
{
	return rows[s].words;
}

/* ---- kinds ---- */

/* A number of digits at *s, which moves past them. */
static bool setting_digits(const char **s, u64 *out)
{
	char *end;

	if (**s < '0' || **s > '9')
		return false;
	errno = 0;
	*out = strtoull(*s, &end, 0);
	*s = end;
	return !errno;
}

static bool setting_parse_number(const struct row *r, const char *s, u64 *out)
{
	u64 v;

	if (!setting_digits(&s, &v) || *s || v > r->limit)
		return false;
	*out = v;
	return true;
}

static bool parse_time(const struct row *r, const char *s, u64 *out)
{
	static const struct {
		const char *unit;
		u64 ms;
	} units[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}};
	u64 v;

	if (!setting_digits(&s, &v))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(units[i].unit, s) != 0)
			continue;
		if (__builtin_mul_overflow(v, units[i].ms, &v) || v > r->limit)
			return false;
		*out = v;
		return true;
	}
	return false;
}

static bool setting_parse_size(const struct row *r, const char *s, u64 *out)
{
	static const char units[] = "KMGT";
	const char *unit;
	u64 v;

	if (!strcmp(s, r->words)) {
		*out = SETTING_SIZE_WORD;
		return true;
	}
	if (!setting_digits(&s, &v))
		return false;
	unit = *s ? strchr(units, *s) : NULL;
	for (const char *u = units; unit && u <= unit; u++)
		if (__builtin_mul_overflow(v, 1024, &v))
			return false;
	if (s[unit != NULL] || !v || v > r->limit)
		return false;
	*out = v;
	return true;
}

static u32 word_count(const char *words)
{
	u32 n = *words != 0;

	for (; *words; words++)
		n += *words == ',';
	return n;
}

/* The index of a word among words, their number when it is not one of them. */
static u32 find_word(const char *words, const char *s, size_t n)
{
	u32 i = 0;

	for (size_t len; *words; words += len + (words[len] == ','), i++) {
		len = strcspn(words, ",");
		if (len == n && !memcmp(words, s, n))
			return i;
	}
	return i;
}

static bool parse_choice(const struct row *r, const char *s, u64 *out)
{
	u32 i = find_word(r->words, s, strlen(s));

	if (i == word_count(r->words))
		return false;
	*out = i;
	return true;
}

static bool parse_period(const struct row *r, const char *s, u64 *out)
{
	u64 seconds;

	if (parse_choice(r, s, out))
		return true;
	if (!setting_digits(&s, &seconds) || (*s && strcmp(s, "s") != 0) || seconds > r->limit)
		return false;
	*out = SETTING_SECONDS | seconds;
	return true;
}

static bool setting_list(const struct row *r, const char *s, u64 *out)
{
	u64 mask = 0;

	for (size_t n; *s; s += n + (s[n] == ',')) {
		u32 i;

		n = strcspn(s, ",");
		i = find_word(r->words, s, n);
		if (i < word_count(r->words))
			mask |= (u64)1 << i;
		else if (n == strlen(EVERY_WORD) && !memcmp(s, EVERY_WORD, n))
			mask |= ((u64)1 << i) - 1;
		else
			return false;
	}
	*out = mask;
	return true;
}

static bool parse_flag(const struct row *r, const char *s, u64 *out)
{
	(void)r;
	if ((*s != '0' && *s != '1') || s[1])
		return false;
	*out = *s == '1';
	return true;
}

static bool setting_parse_text(const struct row *r, const char *s, u64 *out)
{
	(void)r, (void)s, (void)out;
	return true;
}

/* ---- messages ---- */

static void say_words(const char *words, const char *more, struct text *out)
{
	u32 n = word_count(words) + (*more != 0), i = 0;

	for (size_t len; *words; words += len + (words[len] == ','), i++) {
		len = strcspn(words, ",");
		text_printf(out, "%s%.*s", !i ? "" : i + 1 == n ? " or " : ", ", (int)len, words);
	}
	if (*more)
		text_printf(out, " or %s", more);
}

static void say_wrong_value(const struct row *r, const char *shown, const char *value,
			    struct text *why)
{
	text_printf(why, "%s takes ", shown);
	switch (r->kind) {
	case SETTING_TEXT:
		text_puts(why, r->value);
		break;
	case SETTING_NUMBER:
		text_printf(why, "a number up to %llu", (unsigned long long)r->limit);
		break;
	case SETTING_SIZE:
		text_printf(why, "a size in bytes, or with a unit: 64M, 2G, or %s", r->words);
		break;
	case SETTING_TIME:
		text_puts(why, "a time in milliseconds, or with a unit: 5000, 500ms, 5s, 2m, 1h");
		break;
	case SETTING_CHOICE:
		say_words(r->words, "", why);
		break;
	case SETTING_PERIOD:
		say_words(r->words, "a number of seconds", why);
		break;
	case SETTING_LIST:
		if (word_count(r->words) > 1)
			text_puts(why, "a list of ");
		say_words(r->words, EVERY_WORD, why);
		break;
	case SETTING_FLAG:
		text_puts(why, "0 or 1");
		break;
	}
	text_printf(why, ", not '%s'", value);
}

static void say_unknown_setting(const char *name, size_t len, struct text *why)
{
	struct nearest n;

	text_printf(why, "there is no variable %.*s", (int)len, name);
	nearest_init(&n, name + strlen(PREFIX), len - strlen(PREFIX));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		nearest_offer(&n, rows[i].name + strlen(PREFIX),
			      strlen(rows[i].name) - strlen(PREFIX));
	if (n.best)
		text_printf(why, "; did you mean " PREFIX "%s?", n.best);
	else
		text_puts(why, "; ptxloom(1) lists those that there are");
}

/* ---- the doors ---- */

bool setting_parse(enum setting s, const char *shown, const char *value, u64 *out, struct text *why)
{
	static bool (*const parse[])(const struct row *, const char *, u64 *) = {
		[SETTING_TEXT] = setting_parse_text, [SETTING_NUMBER] = setting_parse_number,
		[SETTING_SIZE] = setting_parse_size, [SETTING_TIME] = parse_time,
		[SETTING_CHOICE] = parse_choice,     [SETTING_PERIOD] = parse_period,
		[SETTING_LIST] = setting_list,       [SETTING_FLAG] = parse_flag,
	};
	const struct row *r = &rows[s];

	if (parse[r->kind](r, value, out))
		return true;
	say_wrong_value(r, shown, value, why);
	return false;
}

bool setting_read(enum setting s, u64 *out, struct text *why)
{
	const char *v = setting_text(s);

	return !v || setting_parse(s, rows[s].name, v, out, why);
}

u64 setting_number(enum setting s, u64 otherwise)
{
	struct text why = {0};

	setting_read(s, &otherwise, &why);
	text_fini(&why);
	return otherwise;
}

bool setting_has(enum setting s, const char *word)
{
	u32 i = find_word(rows[s].words, word, strlen(word));

	return setting_number(s, 0) >> i & 1;
}

bool settings_check(struct text *why)
{
	u64 ignored;

	for (char **e = environ; e && *e; e++) {
		size_t len = strcspn(*e, "="), i = 0;

		if (strncmp(*e, PREFIX, strlen(PREFIX)) != 0)
			continue;
		while (i < ARRAY_LEN(rows) &&
		       (strlen(rows[i].name) != len || memcmp(rows[i].name, *e, len)))
			i++;
		if (i == ARRAY_LEN(rows)) {
			say_unknown_setting(*e, len, why);
			return false;
		}
		if (!setting_read((enum setting)i, &ignored, why))
			return false;
	}
	return true;
}
