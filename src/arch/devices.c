/*
 * Lists of devices ("8xv100", "a100,./my.profile") and the links between them.
 */
#include "src/arch/arch_int.h"

#include "src/base/diag.h"

#include <stdlib.h>

/*
 * State of one parse. Offsets count from the start of the specification, which messages show as a
 * source line.
 */
struct parser {
	struct diag_source src;
	struct diag *diag;
	struct arch_devices *out;
};

static bool devices_fail(struct parser *p, size_t at, size_t len, const char *hint, const char *fmt,
			 ...) PL_PRINTF(5, 6);

static bool devices_fail(struct parser *p, size_t at, size_t len, const char *hint, const char *fmt,
			 ...)
{
	struct text t = {0};
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	diag_at(p->diag, DIAG_ERROR, &p->src, (struct diag_span){(u32)at, (u32)(at + len)}, hint,
		"%s", t.at ? t.at : "out of memory");
	text_fini(&t);
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Length of a leading "8x", with blanks before the x; 0 when there is none. */
static size_t count_prefix(const char *s, size_t n, u64 *count)
{
	size_t i = 0;

	*count = 0;
	for (; i < n && is_digit(s[i]); i++)
		*count = min_u64(*count * 10 + (u64)(s[i] - '0'), UINT32_MAX);
	if (!i)
		return 0;
	while (i < n && s[i] == ' ')
		i++;
	return i < n && (s[i] == 'x' || s[i] == 'X') ? i + 1 : 0;
}

/*
 * The profile of one entry: built in, loaded before for this list, or loaded now. NULL after
 * reporting.
 */
static const struct arch *entry_profile(struct parser *p, size_t at, size_t len)
{
	char *name = strndup(p->src.text + at, len);
	const struct arch *a = NULL;
	struct arch *loaded;

	if (!name) {
		devices_fail(p, at, len, NULL, "out of memory");
		return NULL;
	}
	if (!arch_name_is_path(name, len)) {
		a = arch_find(name);
		if (!a)
			devices_fail(
				p, at, len,
				"`ptxloom devices` lists the names; a file needs a '/' or the suffix .profile",
				"no device '%s'", name);
	} else if (p->out->owned_len < ARCH_DEVICES_MAX && (loaded = arch_load(name, p->diag))) {
		p->out->owned[p->out->owned_len++] = loaded;
		a = loaded;
	}
	free(name);
	return a;
}

static bool entry(struct parser *p, size_t at, size_t len)
{
	const char *s = p->src.text;
	const struct arch *a;
	u64 count = 1;
	size_t prefix;

	while (len && s[at] == ' ') {
		at++;
		len--;
	}
	while (len && s[at + len - 1] == ' ')
		len--;
	prefix = count_prefix(s + at, len, &count);
	if (!prefix)
		count = 1;
	if (!count)
		return devices_fail(p, at, prefix, NULL, "the count is 0");
	if (count + p->out->len > ARCH_DEVICES_MAX)
		return devices_fail(p, at, len, NULL, "more than %u devices", ARCH_DEVICES_MAX);
	at += prefix;
	len -= prefix;
	while (len && s[at] == ' ') {
		at++;
		len--;
	}
	if (!len)
		return devices_fail(p, at, 1, "for example: a100, 8xv100, 2xh100,t4",
				    "a device name is missing");
	a = entry_profile(p, at, len);
	for (u64 i = 0; a && i < count; i++)
		p->out->at[p->out->len++] = a;
	return a;
}

bool arch_devices_parse(struct arch_devices *out, const char *spec, struct diag *d)
{
	struct parser p = {.src = {"device", spec, strlen(spec)}, .diag = d, .out = out};
	size_t at = 0;
	bool ok = true;

	*out = (struct arch_devices){0};
	if (strspn(spec, " ") == p.src.size) {
		out->at[out->len++] = arch_default();
		return true;
	}
	while (ok && at <= p.src.size) {
		size_t len = strcspn(spec + at, ",");

		ok = entry(&p, at, len);
		at += len + 1;
	}
	d->seen_source = NULL; /* p.src ends here */
	if (!ok)
		arch_devices_fini(out);
	return ok;
}

bool arch_devices_limit(struct arch_devices *devices, u64 bytes)
{
	for (u32 i = 0; i < devices->len; i++) {
		const struct arch *from = devices->at[i];
		struct arch *to;

		if ((u64)from->memory_bytes <= bytes)
			continue;
		to = malloc(sizeof(*to));
		if (!to)
			return false;
		*to = *from;
		to->memory_bytes = (s64)bytes;
		to->board_memory_mib = (s32)(bytes >> 20);
		devices->limited[devices->limited_len++] = to;
		for (u32 k = i; k < devices->len; k++)
			if (devices->at[k] == from)
				devices->at[k] = to;
	}
	return true;
}

void arch_devices_fini(struct arch_devices *devices)
{
	for (u32 i = 0; i < devices->owned_len; i++)
		arch_free(devices->owned[i]);
	for (u32 i = 0; i < devices->limited_len; i++)
		free(devices->limited[i]);
	*devices = (struct arch_devices){0};
}

u32 arch_devices_links(const struct arch_devices *devices, u32 i, u32 j)
{
	const struct arch *a;
	const char *topology;

	if (i >= devices->len || j >= devices->len || i == j || devices->at[i] != devices->at[j])
		return 0;
	a = devices->at[i];
	topology = a->nvlink_topology ? a->nvlink_topology : "none";
	if (!strcmp(topology, "switch") || (!strcmp(topology, "pair") && (i ^ 1) == j))
		return (u32)a->nvlink_links;
	if (!strcmp(topology, "mesh") && i < 8 && j < 8 && a->nvlink_mesh.len == 64)
		return (u32)a->nvlink_mesh.at[i * 8 + j];
	return 0;
}
