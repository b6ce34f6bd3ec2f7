/*
 * The ranges of NVTX, version 3, for profiles. NVTX is a header; it opens the library that
 * NVTX_INJECTION64_PATH names, which `ptxloom profile` sets, and calls the function below, which
 * puts ours in the place of those that do nothing.
 *
 * Source: the interface of nvToolsExt.h and nvtxDetail/nvtxTypes.h.
 */
#include "runtime/nvtx.h"
#include "runtime/process.h"
#include "src/profile/collect.h"
#include "src/profile/ranges.h"

#include <stdlib.h>
#include <wchar.h>

/* ---- what NVTX passes ---- */

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t bytes;
	/* The places of a module's functions, by number. */
	int (*functions)(int module, nvtx_function ****at, unsigned *len);
};

enum { NVTX_TABLE_CALLBACKS = 1, NVTX_CORE = 1, NVTX_CORE2 = 5 };

enum { NVTX_ASCII = 1, NVTX_WIDE, NVTX_REGISTERED };

struct nvtx_attributes {
	u16 version, bytes;
	u32 category;
	s32 color_kind;
	u32 color;
	s32 payload_kind, reserved;
	u64 payload;
	s32 message_kind;
	const void *message;
};

/* Handles of domains and of registered strings are our texts, which stay. */

static char *narrow_text(const wchar_t *s)
{
	struct text t = {0};

	text_puts(&t, "");
	for (; s && *s; s++) {
		u32 c = (u32)*s;

		if (c < 0x80)
			text_printf(&t, "%c", (int)c);
		else if (c < 0x800)
			text_printf(&t, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 63)));
		else
			text_printf(&t, "%c%c%c", (int)(0xe0 | c >> 12),
				    (int)(0x80 | (c >> 6 & 63)), (int)(0x80 | (c & 63)));
	}
	return t.at;
}

const char *nvtx_text(u32 type, const void *text, char **made)
{
	*made = NULL;
	if (!text)
		return "";
	if (type == NVTX_WIDE)
		return *made = narrow_text(text);
	return type == NVTX_ASCII || type == NVTX_REGISTERED ? text : "";
}

static const char *domain_name(const void *domain)
{
	return domain ? domain : RANGE_DOMAIN_DEFAULT;
}

static struct profile_ranges *ranges_now(void)
{
	struct profile_collect *c = the_process.is_forked ? NULL : the_process.profile;

	return c ? profile_ranges_of(c) : NULL;
}

/* *made: what has to be freed. */
static const char *message_of(const struct nvtx_attributes *a, char **made)
{
	*made = NULL;
	return a && a->bytes >= sizeof(*a) ? nvtx_text((u32)a->message_kind, a->message, made) : "";
}

/* ---- ranges ---- */

static int nvtx_domain_push(const void *domain, const struct nvtx_attributes *a)
{
	struct profile_ranges *r = ranges_now();
	char *made;
	const char *name = message_of(a, &made);
	int depth = r && name ? profile_ranges_push(r, domain_name(domain), name) : -1;

	free(made);
	return depth;
}

static int nvtx_domain_pop(const void *domain)
{
	struct profile_ranges *r = ranges_now();

	return r ? profile_ranges_pop(r, domain_name(domain)) : -1;
}

static u64 nvtx_domain_start(const void *domain, const struct nvtx_attributes *a)
{
	struct profile_ranges *r = ranges_now();
	char *made;
	const char *name = message_of(a, &made);
	u64 id = r && name ? profile_ranges_start(r, domain_name(domain), name) : 0;

	free(made);
	return id;
}

static void nvtx_domain_end(const void *domain, u64 id)
{
	struct profile_ranges *r = ranges_now();

	(void)domain;
	if (r)
		profile_ranges_end(r, id);
}

/* Those without a domain. */
static int nvtx_push(const struct nvtx_attributes *a)
{
	return nvtx_domain_push(NULL, a);
}

static int nvtx_push_text(const char *name)
{
	return nvtx_push(&(struct nvtx_attributes){.bytes = sizeof(struct nvtx_attributes),
						   .message_kind = NVTX_ASCII,
						   .message = name});
}

static int nvtx_push_wide(const wchar_t *name)
{
	return nvtx_push(&(struct nvtx_attributes){.bytes = sizeof(struct nvtx_attributes),
						   .message_kind = NVTX_WIDE,
						   .message = name});
}

static int nvtx_pop(void)
{
	return nvtx_domain_pop(NULL);
}

static u64 nvtx_start(const struct nvtx_attributes *a)
{
	return nvtx_domain_start(NULL, a);
}

static u64 nvtx_start_text(const char *name)
{
	return nvtx_start(&(struct nvtx_attributes){.bytes = sizeof(struct nvtx_attributes),
						    .message_kind = NVTX_ASCII,
						    .message = name});
}

static u64 nvtx_start_wide(const wchar_t *name)
{
	return nvtx_start(&(struct nvtx_attributes){.bytes = sizeof(struct nvtx_attributes),
						    .message_kind = NVTX_WIDE,
						    .message = name});
}

static void nvtx_end(u64 id)
{
	nvtx_domain_end(NULL, id);
}

/* ---- names that stay ---- */

static const void *nvtx_domain_create(const char *name)
{
	return strdup(name ? name : "");
}

static const void *nvtx_domain_create_wide(const wchar_t *name)
{
	return narrow_text(name);
}

static const void *nvtx_register(const void *domain, const char *text)
{
	(void)domain;
	return strdup(text ? text : "");
}

static const void *nvtx_register_wide(const void *domain, const wchar_t *text)
{
	(void)domain;
	return narrow_text(text);
}

/* ---- the door ---- */

#define NVTX_ROW(module, number, function)                                                         \
	{                                                                                          \
		module, number, (nvtx_function *)(function)                                        \
	}

static const struct {
	int module;
	unsigned number;
	nvtx_function *function;
} nvtx_rows[] = {
	NVTX_ROW(NVTX_CORE, 4, nvtx_start),
	NVTX_ROW(NVTX_CORE, 5, nvtx_start_text),
	NVTX_ROW(NVTX_CORE, 6, nvtx_start_wide),
	NVTX_ROW(NVTX_CORE, 7, nvtx_end),
	NVTX_ROW(NVTX_CORE, 8, nvtx_push),
	NVTX_ROW(NVTX_CORE, 9, nvtx_push_text),
	NVTX_ROW(NVTX_CORE, 10, nvtx_push_wide),
	NVTX_ROW(NVTX_CORE, 11, nvtx_pop),
	NVTX_ROW(NVTX_CORE2, 2, nvtx_domain_start),
	NVTX_ROW(NVTX_CORE2, 3, nvtx_domain_end),
	NVTX_ROW(NVTX_CORE2, 4, nvtx_domain_push),
	NVTX_ROW(NVTX_CORE2, 5, nvtx_domain_pop),
	NVTX_ROW(NVTX_CORE2, 10, nvtx_register),
	NVTX_ROW(NVTX_CORE2, 11, nvtx_register_wide),
	NVTX_ROW(NVTX_CORE2, 12, nvtx_domain_create),
	NVTX_ROW(NVTX_CORE2, 13, nvtx_domain_create_wide),
};

/*
 * Called once, at the program's first call of NVTX; the memory extension (nvtx.c) has a function of
 * its own. What is not put in place does nothing.
 */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*table)(u32));
int InitializeInjectionNvtx2(const void *(*table)(u32))
{
	const struct nvtx_callbacks *c = table ? table(NVTX_TABLE_CALLBACKS) : NULL;

	rt_get();
	if ((!ranges_now() && !the_process.checks) || !c || c->bytes < sizeof(*c))
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(nvtx_rows); i++) {
		nvtx_function ***at = NULL;
		unsigned len = 0;

		/* Names of memory (nvtx.c) may be registered strings. */
		if (!ranges_now() && nvtx_rows[i].function != (nvtx_function *)nvtx_register &&
		    nvtx_rows[i].function != (nvtx_function *)nvtx_register_wide)
			continue;
		if (c->functions(nvtx_rows[i].module, &at, &len) && at &&
		    nvtx_rows[i].number < len && at[nvtx_rows[i].number])
			*at[nvtx_rows[i].number] = nvtx_rows[i].function;
	}
	return 1;
}
