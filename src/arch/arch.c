/*
 * Profiles by name, fields by name or number, values as text, and the checks that every profile
 * passes.
 */
#include "src/arch/arch_int.h"

#include "src/base/diag.h"

#include <inttypes.h>
#include <strings.h>

static const struct arch_field_info fields[] = {
#define ARCH_FIELD(group, name, type, unit, min, max, meaning)                                     \
	{#group, #name, unit, meaning, ARCH_##type, min, max, offsetof(struct arch, name)},
#include "src/arch/fields.def"
#undef ARCH_FIELD
};

/* Two fields of which the first must not be larger. Source: each pair is a part and its whole. */
static const struct {
	enum arch_field part, whole;
} orders[] = {
	{ARCH_FIELD_sms, ARCH_FIELD_sms_full_chip},
	{ARCH_FIELD_threads_per_cta_max, ARCH_FIELD_threads_per_sm_max},
	{ARCH_FIELD_registers_per_cta_max, ARCH_FIELD_registers_per_sm},
	{ARCH_FIELD_smem_static_max_bytes, ARCH_FIELD_smem_per_cta_bytes},
	{ARCH_FIELD_smem_per_cta_bytes, ARCH_FIELD_smem_per_cta_optin_bytes},
	{ARCH_FIELD_smem_per_cta_optin_bytes, ARCH_FIELD_smem_per_sm_bytes},
	{ARCH_FIELD_smem_per_sm_bytes, ARCH_FIELD_l1_smem_bytes},
	{ARCH_FIELD_l1_bytes_max, ARCH_FIELD_l1_smem_bytes},
	{ARCH_FIELD_l2_persisting_max_bytes, ARCH_FIELD_l2_bytes},
	{ARCH_FIELD_cluster_ctas_portable, ARCH_FIELD_cluster_ctas_max},
	{ARCH_FIELD_nvlink_link_mbps, ARCH_FIELD_nvlink_mbps},
};

/* True when `name` is one of the blank-separated words. */
static bool has_word(const char *words, const char *name)
{
	size_t n = strlen(name);

	for (const char *w = words; w && *w; w += strspn(w, " ")) {
		size_t len = strcspn(w, " ");

		if (len == n && !strncasecmp(w, name, n))
			return true;
		w += len;
	}
	return false;
}

const struct arch *arch_find(const char *name)
{
	if (!*name || strchr(name, ' '))
		return NULL;
	for (const struct arch *const *a = arch_profiles; *a; a++)
		if (!strcasecmp((*a)->id, name) || has_word((*a)->aliases, name))
			return *a;
	return NULL;
}

const struct arch *arch_nth(u32 i)
{
	for (const struct arch *const *a = arch_profiles; *a; a++, i--)
		if (!i)
			return *a;
	return NULL;
}

const struct arch *arch_default(void)
{
	return arch_find("ga100");
}

const struct arch_field_info *arch_field_info(enum arch_field f)
{
	return &fields[f];
}

enum arch_field arch_field_find(const char *name, size_t n)
{
	u32 f;

	for (f = 0; f < ARCH_FIELD_COUNT; f++)
		if (strlen(fields[f].name) == n && !memcmp(fields[f].name, name, n))
			break;
	return (enum arch_field)f;
}

bool arch_is_known(const struct arch *a, enum arch_field f)
{
	return a->source[f];
}

const char *arch_source(const struct arch *a, enum arch_field f)
{
	return a->source[f];
}

/* ---- Values as text ---- */

static void format_list(struct text *t, const struct arch_list *list, const char *between)
{
	for (u32 i = 0; i < list->len; i++)
		text_printf(t, "%s%d", i ? between : "", list->at[i]);
}

static void format_shapes(struct text *t, const struct arch_shapes *shapes, const char *quote,
			  const char *between)
{
	for (u32 i = 0; i < shapes->len; i++) {
		const struct arch_shape *s = &shapes->at[i];

		text_printf(t, "%s%sm%un%uk%u%s", i ? between : "", quote, s->m, s->n, s->k, quote);
	}
}

/* The value of a scalar field, or the length of the others. */
static s64 scalar(const struct arch *a, enum arch_field f)
{
	const void *p = arch_member(a, f);

	switch (fields[f].type) {
	case ARCH_INT:
		return *(const s32 *)p;
	case ARCH_SIZE:
		return (s64)min_u64(*(const u64 *)p, INT64_MAX);
	case ARCH_BOOL:
		return *(const bool *)p;
	case ARCH_TEXT:
		return (s64)strlen(*(const char *const *)p);
	case ARCH_LIST:
		return ((const struct arch_list *)p)->len;
	case ARCH_SHAPES:
		return ((const struct arch_shapes *)p)->len;
	}
	return 0;
}

void arch_format(struct text *t, const struct arch *a, enum arch_field f)
{
	const void *p = arch_member(a, f);

	if (!a->source[f])
		text_puts(t, "unknown");
	else if (fields[f].type == ARCH_TEXT)
		text_puts(t, *(const char *const *)p);
	else if (fields[f].type == ARCH_LIST)
		format_list(t, p, " ");
	else if (fields[f].type == ARCH_SHAPES)
		format_shapes(t, p, "", " ");
	else if (fields[f].type == ARCH_BOOL)
		text_puts(t, *(const bool *)p ? "true" : "false");
	else
		text_printf(t, "%" PRId64, scalar(a, f));
}

void arch_format_json(struct text *t, const struct arch *a, enum arch_field f)
{
	const void *p = arch_member(a, f);

	if (!a->source[f]) {
		text_puts(t, "null");
	} else if (fields[f].type == ARCH_TEXT) {
		text_json_string(t, *(const char *const *)p);
	} else if (fields[f].type == ARCH_LIST) {
		text_puts(t, "[");
		format_list(t, p, ", ");
		text_puts(t, "]");
	} else if (fields[f].type == ARCH_SHAPES) {
		text_puts(t, "[");
		format_shapes(t, p, "\"", ", ");
		text_puts(t, "]");
	} else {
		arch_format(t, a, f);
	}
}

/* ---- Checks ---- */

/* Reports one violation; always false. */
static bool violation(struct diag *d, const struct diag_source *src, const char *fmt, ...)
	PL_PRINTF(3, 4);

static bool violation(struct diag *d, const struct diag_source *src, const char *fmt, ...)
{
	struct text t = {0};
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	diag_at(d, DIAG_ERROR, src, DIAG_NOWHERE, NULL, "%s", t.at ? t.at : "out of memory");
	text_fini(&t);
	return false;
}

static bool shape_in(const struct arch_shape *s, s64 min, s64 max)
{
	return s->m >= min && s->m <= max && s->n >= min && s->n <= max && s->k >= min &&
	       s->k <= max;
}

bool arch_in_range(const struct arch *a, enum arch_field f)
{
	const struct arch_field_info *info = &fields[f];
	const void *p = arch_member(a, f);
	bool ok = true;

	if (info->type == ARCH_LIST) {
		const struct arch_list *list = p;

		for (u32 i = 0; i < list->len; i++)
			ok &= list->at[i] >= info->min && list->at[i] <= info->max;
	} else if (info->type == ARCH_SHAPES) {
		const struct arch_shapes *shapes = p;

		for (u32 i = 0; i < shapes->len; i++)
			ok &= shape_in(&shapes->at[i], info->min, info->max);
	} else {
		ok = scalar(a, f) >= info->min && scalar(a, f) <= info->max;
	}
	return ok;
}

static bool check_carveouts(const struct arch *a, const struct diag_source *src, struct diag *d)
{
	const struct arch_list *list = &a->smem_carveouts_kib;

	if (!arch_is_known(a, ARCH_FIELD_smem_carveouts_kib))
		return true;
	if (!list->len)
		return violation(d, src, "smem_carveouts_kib is empty");
	for (u32 i = 1; i < list->len; i++)
		if (list->at[i] <= list->at[i - 1])
			return violation(d, src, "smem_carveouts_kib does not rise");
	if (arch_is_known(a, ARCH_FIELD_smem_per_sm_bytes) &&
	    (s64)list->at[list->len - 1] * 1024 != a->smem_per_sm_bytes)
		return violation(
			d, src,
			"the last of smem_carveouts_kib, %d KiB, is not smem_per_sm_bytes, %d",
			list->at[list->len - 1], a->smem_per_sm_bytes);
	return true;
}

/* Links form pairs of eight devices and no device has more than nvlink_links. */
static bool check_mesh(const struct arch *a, const struct diag_source *src, struct diag *d)
{
	const struct arch_list *mesh = &a->nvlink_mesh;

	if (!arch_is_known(a, ARCH_FIELD_nvlink_mesh))
		return true;
	if (mesh->len != 64)
		return violation(d, src, "nvlink_mesh has %u numbers, 8 x 8 are needed", mesh->len);
	for (u32 i = 0; i < 8; i++) {
		s32 sum = 0;

		for (u32 j = 0; j < 8; j++) {
			sum += mesh->at[i * 8 + j];
			if (mesh->at[i * 8 + j] != mesh->at[j * 8 + i] ||
			    (i == j && mesh->at[i * 8 + j]))
				return violation(d, src, "nvlink_mesh: devices %u and %u disagree",
						 i, j);
		}
		if (arch_is_known(a, ARCH_FIELD_nvlink_links) && sum > a->nvlink_links)
			return violation(d, src,
					 "nvlink_mesh: device %u has %d links, nvlink_links is %d",
					 i, sum, a->nvlink_links);
	}
	return true;
}

static bool check_topology(const struct arch *a, const struct diag_source *src, struct diag *d)
{
	static const char *const words[] = {"none", "pair", "mesh", "switch"};

	if (!arch_is_known(a, ARCH_FIELD_nvlink_topology))
		return true;
	for (u32 i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(a->nvlink_topology, words[i]))
			return true;
	return violation(d, src, "nvlink_topology '%s' is not one of none, pair, mesh, switch",
			 a->nvlink_topology);
}

static bool check_relations(const struct arch *a, const struct diag_source *src, struct diag *d)
{
	bool ok = check_carveouts(a, src, d);

	ok &= check_mesh(a, src, d);
	for (u32 i = 0; i < ARRAY_LEN(orders); i++) {
		enum arch_field part = orders[i].part, whole = orders[i].whole;

		if (a->source[part] && a->source[whole] && scalar(a, part) > scalar(a, whole))
			ok = violation(d, src, "%s, %" PRId64 ", is larger than %s, %" PRId64,
				       fields[part].name, scalar(a, part), fields[whole].name,
				       scalar(a, whole));
	}
	if (a->source[ARCH_FIELD_threads_per_sm_max] && a->source[ARCH_FIELD_warps_per_sm_max] &&
	    a->source[ARCH_FIELD_warp_size] &&
	    a->threads_per_sm_max != a->warps_per_sm_max * a->warp_size)
		ok = violation(d, src,
			       "threads_per_sm_max, %d, is not warps_per_sm_max x warp_size, %d",
			       a->threads_per_sm_max, a->warps_per_sm_max * a->warp_size);
	if (a->source[ARCH_FIELD_sm] && a->source[ARCH_FIELD_cc_major] &&
	    a->source[ARCH_FIELD_cc_minor] && a->sm != a->cc_major * 10 + a->cc_minor)
		ok = violation(d, src, "sm, %d, is not compute capability %d.%d", a->sm,
			       a->cc_major, a->cc_minor);
	return check_topology(a, src, d) && ok;
}

bool arch_check(const struct arch *a, const struct diag_source *src, struct diag *d)
{
	bool ok = true;

	for (u32 f = 0; f < ARCH_FIELD_COUNT; f++)
		if (a->source[f] && !arch_in_range(a, (enum arch_field)f))
			ok = violation(d, src, "%s is outside %" PRId64 "..%" PRId64,
				       fields[f].name, fields[f].min, fields[f].max);
	return ok && check_relations(a, src, d);
}
