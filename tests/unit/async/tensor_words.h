/* The shape of a tensor map, as words (tests/unit/words.h) describe it. */
#ifndef PL_TESTS_UNIT_TENSOR_WORDS_H
#define PL_TESTS_UNIT_TENSOR_WORDS_H

#include "src/async/tensor.h"
#include "tests/unit/words.h"

static inline struct tensor_shape tensor_of_words(const char *words)
{
	struct tensor_shape s = {
		.address = word_number(words, "base"),
		.im2col = *word_get(words, "kind") == 'i',
		.type = (u32)word_number(words, "dt"),
		.rank = (u32)word_number(words, "rank"),
		.interleave = (u32)word_number(words, "inter"),
		.swizzle = (u32)word_number(words, "swz"),
		.promotion = (u32)word_number(words, "l2"),
		.fill = (u32)word_number(words, "oob"),
		.channels = (u32)word_number(words, "cpp"),
		.pixels = (u32)word_number(words, "ppc"),
	};
	s64 v[8] = {0};

	for (u32 i = 0, n = word_list(words, "dim", v, 5); i < n; i++)
		s.dim[i] = (u64)v[i];
	for (u32 i = 0, n = word_list(words, "stride", v, 4); i < n; i++)
		s.stride[i] = (u64)v[i];
	for (u32 i = 0, n = word_list(words, "box", v, 5); i < n; i++)
		s.box[i] = (u32)v[i];
	for (u32 i = 0, n = word_list(words, "es", v, 5); i < n; i++)
		s.step[i] = (u32)v[i];
	for (u32 i = 0, n = word_list(words, "lower", v, 3); i < n; i++)
		s.lower[i] = (s32)v[i];
	for (u32 i = 0, n = word_list(words, "upper", v, 3); i < n; i++)
		s.upper[i] = (s32)v[i];
	return s;
}

#endif
