/*
 * Do with some bytes everything that can be done with a binary: find images, read them, list
 * kernels, select, explain. Used with damaged files by the unit tests and the fuzzer; a
 * sanitizer, the guard page behind the bytes and the checks here say whether anything was wrong.
 */
#ifndef PL_TEST_IMAGE_EXERCISE_H
#define PL_TEST_IMAGE_EXERCISE_H

#include "src/dev/image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory that ends where the last byte does: one byte more is a fault, in libraries too. */
struct guarded {
	u8 *map, *end;
	size_t bytes; /* of the mapping */
};

static inline void guarded_init(struct guarded *g, size_t max)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	g->bytes = align_up(max, page) + page;
	g->map = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (g->map == MAP_FAILED)
		abort();
	g->end = g->map + g->bytes - page;
	if (mprotect(g->end, page, PROT_NONE))
		abort();
}

static inline void guarded_fini(struct guarded *g)
{
	munmap(g->map, g->bytes);
}

static inline u8 *guarded_put(struct guarded *g, const void *data, size_t size)
{
	if (size)
		memcpy(g->end - size, data, size);
	return g->end - size;
}

static inline void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "image invariant broken: %s\n", what);
	abort();
}

static inline bool is_inside(const void *p, u64 n, const u8 *data, size_t size)
{
	return (const u8 *)p >= data && (u64)((const u8 *)p - data) <= size &&
	       n <= size - (u64)((const u8 *)p - data);
}

static inline void exercise_image(const struct image_list *l, const struct image *img)
{
	struct image_kernels k = {0};
	struct image_bytes b;
	char name[24];

	require(strlen(image_target_name(img, name)) > 3, "target name");
	if (image_read(l, img, &b) == IMAGE_OK && img->kind == IMAGE_SASS) {
		require(image_scan_cubin(b.data, b.size, &k), "memory");
		for (size_t i = 0; i < k.list.len; i++)
			require(is_inside(k.list.at[i].name, k.list.at[i].name_len, b.data, b.size),
				"kernel name inside the cubin");
		image_cubin_ptx_count(b.data, b.size);
	}
	image_kernels_fini(&k);
	image_bytes_fini(&b);
	for (u32 i = 0; i < 3 && image_read_ptx(l, img, i, &b) == IMAGE_OK; i++) {
		require(image_scan_ptx((const char *)b.data, b.size, &k), "memory");
		for (size_t j = 0; j < k.list.len; j++)
			require(is_inside(k.list.at[j].name, k.list.at[j].name_len, b.data, b.size),
				"kernel name inside the text");
		image_kernels_fini(&k);
		image_bytes_fini(&b);
	}
}

/* Returns the result of image_list_add and the errors it gave. */
static inline enum image_result exercise(const u8 *data, size_t size, u32 flags, u32 *errors,
					 struct text *first_error)
{
	static const u32 devices[] = {60, 80, 90, 103};
	struct text what = {0}, hint = {0};
	struct image_choice choice;
	enum image_result r;
	struct image_list l;
	struct diag d;

	diag_init(&d, NULL, NULL);
	image_list_init(&l, &d, "test");
	r = image_list_add(&l, data, size, flags);
	*errors = d.errors;
	if (first_error && d.first_error.len)
		text_puts(first_error, d.first_error.at);
	for (size_t i = 0; i < l.images.len; i++) {
		const struct image *img = &l.images.at[i];

		require(is_inside(img->data, img->stored_bytes, data, size),
			"image inside the file");
		require(!img->options || is_inside(img->options, img->options_len, data, size),
			"options inside the file");
		require(!img->source || is_inside(img->source, img->source_len, data, size),
			"source inside the file");
		require(img->offset == (u64)(img->data - data), "offset");
		require(img->container < l.containers.len, "container");
		exercise_image(&l, img);
	}
	for (u32 i = 0; i < l.containers.len; i++)
		for (size_t j = 0; j < ARRAY_LEN(devices); j++)
			if (image_select(&l, i, devices[j], &choice) == IMAGE_OK)
				require(l.images.at[choice.image].container == i,
					"choice inside its container");
	image_explain_no_ptx(&l, UINT32_MAX, 80, &what, &hint);
	text_fini(&what);
	text_fini(&hint);
	image_list_fini(&l);
	diag_fini(&d);
	return r;
}

#endif
