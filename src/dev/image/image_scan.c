/*
 * A light reader of PTX text: version, target, and the kernels with their parameters. It knows
 * comments, strings, words and brackets, nothing of instructions; what it cannot follow it leaves
 * out. PTX ISA, "Syntax" and "Kernel and Function Directives: .entry".
 */
#include "src/base/size.h"
#include "src/dev/image/image_int.h"

#include <inttypes.h>

struct token {
	const char *at; /* "" at the end */
	u32 len;
};

struct scanner {
	const char *at, *end;
	struct token token; /* the current one; len 0 at the end of the text */
};

static bool is_scan_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '%';
}

static bool is_scan_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Skip blanks and both kinds of comment. An unclosed comment reaches to the end. */
static const char *scan_skip_blanks(const char *p, const char *end)
{
	for (;;) {
		while (p < end && is_scan_blank(*p))
			p++;
		if (end - p < 2 || p[0] != '/' || (p[1] != '/' && p[1] != '*'))
			return p;
		if (p[1] == '/') {
			p = memchr(p, '\n', (size_t)(end - p));
			if (!p)
				return end;
			continue;
		}
		for (p += 2; end - p >= 2 && (p[0] != '*' || p[1] != '/'); p++)
			;
		p = end - p >= 2 ? p + 2 : end;
	}
}

static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && end - p >= 2)
			p++;
	return p < end ? p + 1 : end;
}

/* A word with an optional dot before it (".entry", "%r1", "80"), a string, or one character. */
static bool scan_next(struct scanner *s)
{
	const char *p = s->at = scan_skip_blanks(s->at, s->end), *end = s->end;

	s->token = (struct token){.at = p};
	if (p == end)
		return false;
	if (*p == '"') {
		p = skip_string(p, end);
	} else {
		if (*p == '.' && end - p >= 2 && is_scan_word_char(p[1]))
			p++;
		if (is_scan_word_char(*p))
			while (p < end && is_scan_word_char(*p))
				p++;
		else
			p++;
	}
	s->token.len = (u32)min_u64((u64)(p - s->at), UINT32_MAX);
	s->at = p;
	return true;
}

static bool token_is(const struct scanner *s, const char *text)
{
	return s->token.len == strlen(text) && !memcmp(s->token.at, text, s->token.len);
}

static bool token_is_name(const struct scanner *s)
{
	char c = s->token.len ? *s->token.at : 0;

	return is_scan_word_char(c) && !(c >= '0' && c <= '9');
}

/* Value of a decimal, hexadecimal or octal literal; 0 for anything else. */
static u64 token_number(const struct scanner *s)
{
	char buf[24] = {0};
	char *end;
	u64 n;

	if (!s->token.len || s->token.len >= sizeof(buf) || *s->token.at < '0' ||
	    *s->token.at > '9')
		return 0;
	memcpy(buf, s->token.at, s->token.len);
	n = strtoull(buf, &end, 0);
	return *end && strcmp(end, "U") ? 0 : n;
}

/* Bytes of a parameter type; 0: not a type. PTX ISA, "Types". */
static u32 type_bytes(const char *type, u32 len)
{
	static const struct {
		const char *name;
		u32 bytes;
	} types[] = {
		{".b8", 1},         {".u8", 1},      {".s8", 1},    {".b16", 2},    {".u16", 2},
		{".s16", 2},        {".f16", 2},     {".bf16", 2},  {".b32", 4},    {".u32", 4},
		{".s32", 4},        {".f32", 4},     {".f16x2", 4}, {".bf16x2", 4}, {".b64", 8},
		{".u64", 8},        {".s64", 8},     {".f64", 8},   {".b128", 16},  {".texref", 8},
		{".samplerref", 8}, {".surfref", 8},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, type, len))
			return types[i].bytes;
	return 0;
}

static void finish_param(struct image_param *p)
{
	u32 bytes = p->type ? type_bytes(p->type, p->type_len) : 0;

	if (!p->align)
		p->align = bytes;
	if (!size_mul(bytes, p->elements ? p->elements : 1, &p->bytes))
		p->bytes = 0;
}

/*
 * One parameter, up to the `,` or `)` after it:
 *     .param {.align n} .type {.ptr {.space} {.align n}} name {[n]}
 */
static void scan_param(struct scanner *s, struct image_param *p)
{
	bool in_ptr = false;

	*p = (struct image_param){0};
	while (s->token.len && !token_is(s, ",") && !token_is(s, ")")) {
		if (token_is(s, ".align")) {
			scan_next(s);
			if (!in_ptr) /* after .ptr it is the alignment of what is pointed to */
				p->align = (u32)token_number(s);
		} else if (token_is(s, ".ptr")) {
			in_ptr = true;
			p->space = "";
		} else if (token_is(s, "[")) {
			scan_next(s);
			p->elements = token_number(s);
		} else if (!p->type && type_bytes(s->token.at, s->token.len)) {
			p->type = s->token.at;
			p->type_len = s->token.len;
		} else if (in_ptr && *s->token.at == '.') {
			p->space = s->token.at;
			p->space_len = s->token.len;
		} else if (token_is_name(s)) {
			p->name = s->token.at;
			p->name_len = s->token.len;
		}
		scan_next(s);
	}
	finish_param(p);
}

/* The parameter list; the current token is its `(`. Leaves the `)` or the end as current. */
static bool scan_params(struct scanner *s, struct image_kernels *out, struct image_kernel *k)
{
	VEC(struct image_param) v = {0};
	bool ok = true;

	scan_next(s);
	while (ok && s->token.len && !token_is(s, ")")) {
		struct image_param p;

		scan_param(s, &p);
		if (p.type || p.name)
			ok = VEC_PUSH(&v, p);
		if (token_is(s, ","))
			scan_next(s);
	}
	k->param_count = (u32)v.len;
	if (ok && v.len)
		ok = (k->params = arena_copy(&out->arena, v.at, v.len * sizeof(*v.at))) != NULL;
	VEC_FREE(&v);
	return ok;
}

bool image_scan_ptx(const char *text, size_t size, struct image_kernels *out)
{
	struct scanner s = {.at = text, .end = text + size};
	bool ok = true;
	u64 depth = 0; /* of braces: .entry is a directive at depth 0 only */

	while (ok && scan_next(&s)) {
		struct image_kernel k = {.has_params = true};

		depth += token_is(&s, "{");
		depth -= depth && token_is(&s, "}");
		if (depth || !token_is(&s, ".entry") || !scan_next(&s) || !token_is_name(&s))
			continue;
		k.name = s.token.at;
		k.name_len = s.token.len;
		s.at = scan_skip_blanks(s.at, s.end);
		if (s.at < s.end && *s.at == '(') {
			scan_next(&s);
			ok = scan_params(&s, out, &k);
		}
		ok = ok && VEC_PUSH(&out->list, k);
	}
	return ok;
}

/* ".version 9.0": the two numbers reach us as "9", ".0". */
static void scan_version(struct scanner *s, struct image *img)
{
	scan_next(s);
	img->isa_major = (u16)token_number(s);
	scan_next(s);
	if (s->token.len >= 2 && *s->token.at == '.') {
		s->token.at++;
		s->token.len--;
		img->isa_minor = (u16)token_number(s);
	}
}

static void scan_target(struct scanner *s, struct image *img)
{
	char word[24] = {0};

	while (scan_next(s) && (token_is_name(s) || token_is(s, ","))) {
		if (token_is(s, "debug"))
			img->debug = true;
		if (img->target.sm || s->token.len >= sizeof(word))
			continue;
		memcpy(word, s->token.at, s->token.len);
		word[s->token.len] = 0;
		image_target_parse(word, &img->target);
	}
}

void image_scan_header(const char *text, size_t size, struct image *img)
{
	struct scanner s = {.at = text, .end = text + size};

	while (scan_next(&s) && !token_is(&s, ".target"))
		if (token_is(&s, ".version"))
			scan_version(&s, img);
	if (token_is(&s, ".target"))
		scan_target(&s, img);
}

bool image_is_ptx(const u8 *p, size_t size)
{
	struct scanner s = {.at = (const char *)p, .end = (const char *)p + size};

	return scan_next(&s) && token_is(&s, ".version");
}

void image_kernels_fini(struct image_kernels *k)
{
	arena_fini(&k->arena);
	VEC_FREE(&k->list);
}
