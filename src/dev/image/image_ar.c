/*
 * Static archives (ar): every member that is an ELF file is searched. Both the System V and the
 * BSD way of writing long names are read. Thin archives hold no members, only names, and are
 * refused.
 */
#include "src/base/size.h"
#include "src/dev/image/image_int.h"

#define MAGIC "!<arch>\n"
#define THIN_MAGIC "!<thin>\n"
#define MAGIC_BYTES 8u

/*
 * Member header: name 16, date 12, uid 6, gid 6, mode 8, size 10, end mark 2; text, filled with
 * blanks.
 */
#define MEMBER_HEADER_BYTES 60u
#define SIZE_AT 48u
#define SIZE_DIGITS 10u
#define END_AT 58u
#define NAME_MAX_BYTES 1024u

struct member {
	const u8 *data;
	size_t size;
	const char *name;
	size_t name_len;
};

bool image_is_archive(const u8 *p, size_t size)
{
	return size >= MAGIC_BYTES &&
	       (!memcmp(p, MAGIC, MAGIC_BYTES) || !memcmp(p, THIN_MAGIC, MAGIC_BYTES));
}

/* A decimal number of at most `digits` characters, filled up with blanks. */
static bool read_decimal(const u8 *p, size_t digits, u64 *out)
{
	size_t i = 0;
	u64 n = 0;

	for (; i < digits && p[i] >= '0' && p[i] <= '9'; i++)
		n = n * 10 + (u64)(p[i] - '0');
	*out = n;
	if (!i)
		return false;
	for (; i < digits; i++)
		if (p[i] != ' ')
			return false;
	return true;
}

/*
 * Resolve the name: "name/", "/123" into the table of long names, or "#1/12" in front of the
 * data.
 */
static void resolve_name(struct member *m, const u8 *header, const char *table, size_t table_len)
{
	const char *name = (const char *)header;
	size_t len = 16;
	u64 n;

	if (name[0] == '/' && read_decimal(header + 1, 15, &n) && n < table_len) {
		name = table + n;
		len = table_len - (size_t)n;
		for (size_t i = 0; i < len; i++)
			if (name[i] == '\n')
				len = i;
	} else if (!memcmp(name, "#1/", 3) && read_decimal(header + 3, 13, &n) && n <= m->size) {
		name = (const char *)m->data;
		len = (size_t)n;
		m->data += n;
		m->size -= (size_t)n;
	}
	while (len && (name[len - 1] == ' ' || !name[len - 1]))
		len--;
	if (len > 1 && name[len - 1] == '/')
		len--;
	m->name = name;
	m->name_len = len;
}

static enum image_result add_member(struct image_list *l, const struct member *m)
{
	enum image_result r;
	char *name;

	if (!image_is_elf(m->data, m->size))
		return IMAGE_OK;
	name = arena_strdup(&l->arena, m->name, min_u64(m->name_len, NAME_MAX_BYTES));
	if (!name)
		return image_no_memory(l);
	for (char *c = name; *c; c++) /* the name goes to terminals */
		if ((u8)*c < ' ' || *c == 0x7f)
			*c = '?';
	l->member = name;
	r = image_add_elf(l, m->data, m->size);
	l->member = NULL;
	return r;
}

enum image_result image_add_archive(struct image_list *l, const u8 *p, size_t size)
{
	enum image_result r = IMAGE_OK;
	size_t at = MAGIC_BYTES, table_len = 0;
	const char *table = NULL;

	if (!memcmp(p, THIN_MAGIC, MAGIC_BYTES))
		return image_error(
			l, NULL,
			"a thin archive holds only the names of its members; give those files instead");
	while (r == IMAGE_OK && at < size) {
		const u8 *h = p + at;
		struct member m;
		u64 bytes;

		if (size - at < MEMBER_HEADER_BYTES || h[END_AT] != '`' || h[END_AT + 1] != '\n' ||
		    !read_decimal(h + SIZE_AT, SIZE_DIGITS, &bytes))
			return image_error(l, h, "a damaged archive member header");
		if (!size_inside(at + MEMBER_HEADER_BYTES, bytes, 0, size))
			return image_error(l, h, "an archive member ends past the end of the file");
		m = (struct member){.data = h + MEMBER_HEADER_BYTES, .size = (size_t)bytes};
		at += MEMBER_HEADER_BYTES + (size_t)align_up(bytes, 2);
		if (!memcmp(h, "// ", 3)) {
			table = (const char *)m.data;
			table_len = m.size;
			continue;
		}
		if (!memcmp(h, "/ ", 2) || !memcmp(h, "/SYM64/ ", 8))
			continue;
		resolve_name(&m, h, table, table_len);
		r = add_member(l, &m);
	}
	return r;
}
