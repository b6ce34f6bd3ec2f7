/*
 * UTF-8, and text for XML.
 */
#include "src/base/utf8.h"

size_t utf8_len(const u8 *s)
{
	size_t n = 0;

	if (s[0] < 0x80)
		n = 1;
	else if (s[0] >= 0xc2 && s[0] < 0xe0)
		n = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] < 0xf5)
		n = 4;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
		return 0;
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

bool utf8_is_valid(const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		u8 next[5] = {0};
		size_t n;

		memcpy(next, s + i, len - i < 4 ? len - i : 4);
		n = utf8_len(next);
		if (!n)
			return false;
		i += n;
	}
	return true;
}

/* XML 1.0, 2.2: no other control characters, and neither U+FFFE nor U+FFFF. */
static size_t xml_character_len(const char *s)
{
	if (((u8)*s < 0x20 && *s != '\n' && *s != '\t') || !strncmp(s, "\xef\xbf\xbe", 3) ||
	    !strncmp(s, "\xef\xbf\xbf", 3))
		return 0;
	return utf8_len((const u8 *)s);
}

void text_xml(struct text *t, const char *s)
{
	while (*s) {
		size_t n = xml_character_len(s);

		if (*s == '&')
			text_puts(t, "&amp;");
		else if (*s == '<')
			text_puts(t, "&lt;");
		else if (*s == '>')
			text_puts(t, "&gt;");
		else if (*s == '"')
			text_puts(t, "&quot;");
		else if (n)
			text_add(t, s, n);
		else
			text_puts(t, "\xef\xbf\xbd");
		s += n ? n : 1;
	}
}
