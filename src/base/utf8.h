/*
 * UTF-8, and text for XML.
 */
#ifndef PL_BASE_UTF8_H
#define PL_BASE_UTF8_H

#include "src/base/text.h"

/* Length of the well-formed sequence at s, which ends with a zero; 0: there is none. */
size_t utf8_len(const u8 *s);
bool utf8_is_valid(const char *s, size_t len);
/* s as text or attribute of XML or HTML. What is no character of XML becomes U+FFFD. */
void text_xml(struct text *t, const char *s);

#endif
