/*
 * Entry points by the names they report to profilers: each refers to its own. A name that two
 * functions refer to, or a function that refers to two, says nothing.
 */
#include "src/signature/find_int.h"

#define LEAST_BYTES 16u /* of a function that reports itself */
#define LEA_BYTES 7u

struct named {
	u64 start;
	const u8 *name;  /* in the image: the same string is the same address, but for copies */
	u32 bytes, size; /* of the name, of the function */
};

struct find_naming {
	struct find *f;
	find_wanted *wanted;
	void *user;
	VEC(struct named) all;
};

/* The bytes of a wanted name at an address, 0: there is none. */
static u32 wanted_name(struct find_naming *n, u64 address, const u8 **out)
{
	const u8 *first = code_at(n->f->c, address, 8), *s;
	char name[SIGNATURE_MAX_NAME + 1];
	u32 bytes = 0;

	if (!first || (memcmp(first, "cuda", 4) && memcmp(first, "__cuda", 6)))
		return 0;
	while (bytes <= SIGNATURE_MAX_NAME && (s = code_at(n->f->c, address + bytes, 1)) && *s)
		name[bytes < SIGNATURE_MAX_NAME ? bytes : 0] = (char)*s, bytes++;
	if (bytes >= SIGNATURE_MAX_NAME || !code_at(n->f->c, address, bytes))
		return 0;
	name[bytes] = 0;
	*out = first;
	return n->wanted(name, n->user) ? bytes : 0;
}

/* lea name(%rip), register */
static void read_function_names(struct find_naming *n, u64 start, const u8 *code, u64 bytes)
{
	for (u64 i = 0; i + LEA_BYTES <= bytes; i++) {
		struct named new = {.start = start, .size = (u32)bytes};
		s32 distance;

		if ((code[i] & 0xfb) != 0x48 || code[i + 1] != 0x8d || (code[i + 2] & 0xc7) != 5)
			continue;
		memcpy(&distance, code + i + 3, 4);
		new.bytes = wanted_name(n, start + i + LEA_BYTES + (u64)(s64)distance, &new.name);
		if (new.bytes && !VEC_PUSH(&n->all, new))
			n->f->no_memory = true;
	}
}

static int by_function(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return memcmp(x->name, y->name, x->bytes);
}

static int by_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	order = memcmp(x->name, y->name, x->bytes);
	return order ? order : (x->start > y->start) - (x->start < y->start);
}

static bool same_named(const struct named *a, const struct named *b)
{
	return a->bytes == b->bytes && !memcmp(a->name, b->name, a->bytes);
}

/* Keep each function once, and those with several names not at all. */
static void drop_several(struct find_naming *n)
{
	size_t kept = 0, end;

	if (n->all.len)
		qsort(n->all.at, n->all.len, sizeof(*n->all.at), by_function);
	for (size_t i = 0; i < n->all.len; i = end) {
		bool one = true;

		for (end = i + 1; end < n->all.len && n->all.at[end].start == n->all.at[i].start;
		     end++)
			one &= same_named(&n->all.at[end], &n->all.at[i]);
		if (one)
			n->all.at[kept++] = n->all.at[i];
	}
	n->all.len = kept;
}

static bool is_found(const struct found *f, size_t sorted, const struct named *n)
{
	for (size_t i = 0; i < sorted; i++)
		if (f->functions.at[i].address == n->start ||
		    (strlen(f->functions.at[i].name) == n->bytes &&
		     !memcmp(f->functions.at[i].name, n->name, n->bytes)))
			return true;
	return false;
}

static void add_named(struct find *f, const struct named *n)
{
	struct found_function new = {.address = n->start, .size = n->size, .by_name = true};

	find_add(f, (const char *)n->name, n->bytes, &new);
}

/* Add names with one candidate; `within`: with one in [low, high] of several. */
static void add_names(struct find_naming *n, size_t sorted, bool within, u64 low, u64 high)
{
	size_t end;

	for (size_t i = 0; i < n->all.len; i = end) {
		const struct named *one = NULL;
		u32 count = 0;

		for (end = i; end < n->all.len && same_named(&n->all.at[end], &n->all.at[i]); end++)
			if (!within ||
			    (n->all.at[end].start >= low && n->all.at[end].start <= high)) {
				one = &n->all.at[end];
				count++;
			}
		if (within ? end == i + 1 : count != 1)
			continue;
		if (count == 1 && !is_found(n->f->out, sorted, one))
			add_named(n->f, one);
		else if (count > 1)
			n->f->out->ambiguous++;
	}
}

void find_names(struct find *f, u64 low, u64 high, find_wanted *wanted, void *user)
{
	struct find_naming n = {f, wanted, user, {0}};
	size_t before = f->out->functions.len;

	for (size_t i = code_start_from(f->c, low);
	     i + 1 < f->c->starts.len && f->c->starts.at[i] < high; i++) {
		u64 start = f->c->starts.at[i], bytes = f->c->starts.at[i + 1] - start;
		const u8 *code =
			bytes <= SIGNATURE_MAX_BYTES ? code_executable(f->c, start, bytes) : NULL;

		if (code && bytes >= LEAST_BYTES)
			read_function_names(&n, start, code, bytes);
	}
	drop_several(&n);
	if (n.all.len)
		qsort(n.all.at, n.all.len, sizeof(*n.all.at), by_named);
	add_names(&n, before, false, 0, 0);
	/* The library's own functions, which may speak of the runtime's, are beside it. */
	if (find_region(f, 0, &low, &high))
		add_names(&n, before, true, low, high);
	VEC_FREE(&n.all);
}
