/*
 * Reading the PTX of a program's file.
 */
#include "src/tools/debug/code.h"

#include "src/dev/module/module.h"
#include "src/dev/record/record.h"
#include "src/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs with more than that are not read in advance: their code is known when it is loaded. */
#define CODE_BYTES_MAX ((u64)64 << 20)

static bool add_code_text(struct code *c, struct diag *d, struct image_bytes *bytes,
			  const char *name)
{
	struct device_program *p = &c->program;
	struct diag_source *source = &p->sources[p->len];

	*source = (struct diag_source){
		.name = name, .text = (const char *)bytes->data, .size = bytes->size};
	p->units[p->len] = module_parse(source, MODULE_LOAD, d);
	if (!p->units[p->len] || !VEC_PUSH(&c->texts, *bytes)) {
		ir_module_free(p->units[p->len]);
		image_bytes_fini(bytes);
		return false;
	}
	p->len++;
	return true;
}

/* The text of each container that a device of this sm would take. */
static void add_code_texts(struct code *c, struct diag *d, const char *name, u32 sm)
{
	struct image_choice choice;
	struct image_bytes bytes;
	u64 total = 0;

	for (u32 i = 0; i < c->list.containers.len; i++) {
		if (image_select(&c->list, i, sm, &choice) != IMAGE_OK ||
		    image_read_ptx(&c->list, &c->list.images.at[choice.image], 0, &bytes) !=
			    IMAGE_OK)
			continue;
		total += bytes.size;
		if (total > CODE_BYTES_MAX) {
			image_bytes_fini(&bytes);
			return;
		}
		add_code_text(c, d, &bytes, name);
	}
}

static bool has_kernel_with_lines(const struct code *c, u32 but, const char *name)
{
	for (u32 i = 0; i < c->program.len; i++) {
		const struct ir_module *m = c->program.units[i];
		const struct ir_func *f = i != but && m->locs.len ? ir_find_func(m, name) : NULL;

		if (f && f->is_entry)
			return true;
	}
	return false;
}

/* Are all kernels of a text without lines in texts that have some? */
static bool is_copy_without_lines(const struct code *c, u32 unit)
{
	const struct ir_module *m = c->program.units[unit];
	bool any = false;

	for (size_t i = 0; !m->locs.len && i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];

		if (!f->is_entry)
			continue;
		if (!has_kernel_with_lines(c, unit, f->name->text))
			return false;
		any = true;
	}
	return any;
}

/*
 * What nvcc has linked at build time (-rdc=true) has a text of its own; what runs are its parts.
 */
static void drop_copies(struct code *c)
{
	struct device_program *p = &c->program;

	for (u32 i = p->len; i-- > 0;) {
		u32 behind = p->len - i - 1;

		if (!is_copy_without_lines(c, i))
			continue;
		ir_module_free(p->units[i]);
		memmove(&p->units[i], &p->units[i + 1], behind * sizeof(*p->units));
		memmove(&p->sources[i], &p->sources[i + 1], behind * sizeof(*p->sources));
		p->len--;
	}
}

static bool prepare_code(struct code *c, size_t n)
{
	c->program.units = calloc(n, sizeof(*c->program.units));
	c->program.sources = calloc(n, sizeof(*c->program.sources));
	return c->program.units && c->program.sources;
}

static void add_record_texts(struct code *c, struct diag *d)
{
	u32 n = replay_texts(c->replay, NULL, 0);
	struct device_text *texts = calloc(n, sizeof(*texts));

	if (texts && prepare_code(c, n)) {
		replay_texts(c->replay, texts, n);
		for (u32 i = 0; i < n; i++)
			add_code_text(c, d,
				      &(struct image_bytes){.data = (const u8 *)texts[i].text,
							    .size = texts[i].size},
				      texts[i].name);
	}
	free(texts);
}

/* Of an image; if it is not one, of a recorded launch. */
static void add_file_texts(struct code *c, struct diag *d, const char *path, const char *name,
			   u32 sm)
{
	struct text why = {0};

	image_list_add(&c->list, c->file->data, c->file->size, 0);
	if (c->list.containers.len) {
		if (prepare_code(c, c->list.containers.len))
			add_code_texts(c, d, name, sm);
		drop_copies(c);
		return;
	}
	c->replay = replay_open(path, &why);
	if (c->replay)
		add_record_texts(c, d);
	text_fini(&why);
}

struct code *code_open(const char *path, const char *name, u32 sm)
{
	struct code *c = calloc(1, sizeof(*c));
	struct diag d;

	if (!c)
		return NULL;
	diag_init(&d, NULL, NULL);
	image_list_init(&c->list, &d, name);
	c->file = calloc(1, sizeof(*c->file));
	if (c->file && file_open(c->file, path))
		add_file_texts(c, &d, path, name, sm);
	c->list.diag = NULL;
	diag_fini(&d);
	if (c->program.len)
		return c;
	code_close(c);
	return NULL;
}

void code_close(struct code *c)
{
	if (!c)
		return;
	for (u32 i = 0; i < c->program.len; i++)
		ir_module_free(c->program.units[i]);
	for (size_t i = 0; i < c->texts.len; i++)
		image_bytes_fini(&c->texts.at[i]);
	VEC_FREE(&c->texts);
	free(c->program.units);
	free(c->program.sources);
	image_list_fini(&c->list);
	if (c->file)
		file_close(c->file);
	free(c->file);
	replay_close(c->replay);
	free(c);
}
