/*
 * Only braces, strings, comments and directives matter here. A body that has more than
 * instructions, labels, and variables of its own is left in its place, and so is one whose head is
 * unusual: the parser sees these with the rest of the module.
 */
#include "grammar/skim.h"

#include <string.h>

enum { IN_BODY = 1, OUTSIDE = 2, OF_WORD = 4 };

static const u8 classes[256] = {
	[(u8)SKIM_MARK] = IN_BODY | OUTSIDE,
	['{'] = IN_BODY | OUTSIDE,
	['}'] = IN_BODY | OUTSIDE,
	['"'] = IN_BODY | OUTSIDE,
	['/'] = IN_BODY | OUTSIDE,
	['@'] = IN_BODY | OUTSIDE,
	['.'] = IN_BODY | OUTSIDE,
	['('] = OUTSIDE,
	[')'] = OUTSIDE,
	[';'] = OUTSIDE,
	['0' ... '9'] = OF_WORD,
	['A' ... 'Z'] = OF_WORD,
	['a' ... 'z'] = OF_WORD,
	['_'] = OF_WORD,
	['$'] = OF_WORD,
	['%'] = OF_WORD,
};

struct skimmer {
	struct skim *s;
	const char *text, *at, *end;
	/* of the function whose head is being read; NULL: there is none */
	const char *item;
	const char *linkage; /* the directive that was the last one; NULL: another one was */
	u32 parens;
	u64 vars, locs;      /* of that function */
	const char *counted; /* commas before this are */
	bool apart;          /* its body can be read by itself */
};

/* Behind a comment, or the slash that begins none. False: the comment does not end. */
static bool skim_comment(struct skimmer *k)
{
	const char *p = k->at + 1;

	if (p < k->end && *p == '/') {
		p = memchr(p, '\n', (size_t)(k->end - p));
		k->at = p ? p : k->end;
		return true;
	}
	if (p >= k->end || *p != '*') {
		k->at = p;
		return true;
	}
	p = memmem(p + 1, (size_t)(k->end - p - 1), "*/", 2);
	k->at = p ? p + 2 : k->end;
	return p != NULL;
}

static bool skim_string(struct skimmer *k)
{
	const char *p = k->at + 1;

	while (p < k->end && *p != '"' && *p != '\n')
		p++;
	k->at = p + 1;
	return p < k->end && *p == '"';
}

/* What both parts of a module have. False: the text cannot be skimmed. */
static bool skim_common(struct skimmer *k)
{
	switch (*k->at) {
	case '/':
		return skim_comment(k);
	case '"':
		return skim_string(k);
	case '@':
		return ++k->at < k->end && *k->at != '@';
	default:
		return false;
	}
}

/* The next character of a class, or the end. */
static bool skim_next(struct skimmer *k, u8 class)
{
	const char *p = k->at;

	while (p < k->end && !(classes[(u8)*p] & class))
		p++;
	k->at = p;
	return p < k->end;
}

/* ---- directives ---- */

struct word {
	const char *at;
	size_t len;
};

/* A directive begins here, and no modifier: go behind it. */
static bool skim_directive(struct skimmer *k, struct word *w)
{
	bool is_modifier = k->at > k->text && classes[(u8)k->at[-1]] & OF_WORD;
	const char *p = ++k->at;

	if (is_modifier)
		return false;
	while (p < k->end && classes[(u8)*p] & OF_WORD)
		p++;
	*w = (struct word){k->at, (size_t)(p - k->at)};
	k->at = p;
	return true;
}

static bool is_word_of(const struct word *w, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == w->len && !memcmp(*names, w->at, w->len))
			return true;
	return false;
}

static const char *const of_linkage[] = {"visible", "weak", "extern", "common", NULL};
static const char *const of_function[] = {"entry", "func", NULL};
/* Where these follow, no head of a function is being read, or one that the parser is to see. */
static const char *const of_others[] = {
	"global",  "const",   "shared", "local",  "tex", "sreg",     "alias",        "file",
	"section", "version", "target", "pragma", "loc", "language", "address_size", NULL};
/* What a body declares for itself. */
static const char *const of_variables[] = {"param", "reg", "shared", "local", NULL};

/* In a body: are these of others, or do they belong outside? */
static bool is_foreign(const struct word *w)
{
	static const char *const own[] = {"shared", "local", "pragma", "loc", NULL};

	return (is_word_of(w, of_others) && !is_word_of(w, own)) || is_word_of(w, of_linkage) ||
	       is_word_of(w, of_function);
}

/* One variable, and one more for each comma. */
static void count_variables(struct skimmer *k)
{
	const char *begin = k->at;

	k->vars++;
	if (k->counted > k->at)
		k->at = k->counted;
	while (k->at < k->end && *k->at != ';' && *k->at != '{')
		if (*k->at == '/')
			skim_comment(k);
		else
			k->vars += *k->at++ == ',';
	k->counted = k->at;
	k->at = begin;
}

static void body_directive(struct skimmer *k)
{
	static const char *const loc[] = {"loc", NULL};
	struct word w;

	if (!skim_directive(k, &w))
		return;
	if (is_word_of(&w, of_variables))
		count_variables(k);
	else if (is_word_of(&w, loc))
		k->locs++;
	else if (is_foreign(&w))
		k->apart = false;
}

/* From an opening brace behind the closing one. */
static bool skim_braces(struct skimmer *k)
{
	u32 depth = 0;

	while (skim_next(k, IN_BODY)) {
		if (*k->at == '.') {
			body_directive(k);
		} else if (*k->at == '{') {
			depth++;
			k->at++;
		} else if (*k->at == '}') {
			k->at++;
			if (!--depth)
				return true;
		} else if (!skim_common(k)) {
			return false;
		}
	}
	return false;
}

/* ---- the module ---- */

static void skim_function(struct skimmer *k, const char *at)
{
	k->item = k->linkage ? k->linkage : at;
	k->linkage = NULL;
	k->vars = k->locs = 0;
	k->apart = true;
}

static void outer_directive(struct skimmer *k)
{
	const char *at = k->at;
	struct word w;

	if (!skim_directive(k, &w))
		return;
	if (is_word_of(&w, of_variables) && k->parens) {
		count_variables(k);
	} else if (k->parens) {
		return;
	} else if (is_word_of(&w, of_linkage)) {
		k->linkage = at;
		k->item = NULL;
	} else if (is_word_of(&w, of_function)) {
		skim_function(k, at);
	} else if (is_word_of(&w, of_others)) {
		k->item = k->linkage = NULL;
	}
}

static bool take_braces(struct skimmer *k)
{
	struct skim_body b = {.begin = (u32)(k->at - k->text)};
	const char *item = k->parens ? NULL : k->item;

	k->item = k->linkage = NULL;
	if (!skim_braces(k))
		return false;
	if (!item || !k->apart)
		return true;
	b.item = (u32)(item - k->text);
	b.end = (u32)(k->at - k->text);
	k->s->vars += k->vars;
	k->s->locs += k->locs;
	return VEC_PUSH(&k->s->bodies, b);
}

static bool skim_outside(struct skimmer *k)
{
	switch (*k->at) {
	case '.':
		outer_directive(k);
		return true;
	case '{':
		return take_braces(k);
	case '(':
		k->parens++;
		k->at++;
		return true;
	case ')':
		k->at++;
		return k->parens-- > 0;
	case ';':
		k->item = k->linkage = NULL;
		k->at++;
		return !k->parens;
	default:
		return skim_common(k);
	}
}

bool skim_module(struct skim *s, const char *text, size_t n)
{
	struct skimmer k = {.s = s, .text = text, .at = text, .end = text + n, .counted = text};

	while (skim_next(&k, OUTSIDE))
		if (!skim_outside(&k))
			return false;
	return !k.parens;
}
