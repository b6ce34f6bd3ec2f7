/*
 * From images (executables, fatbins, cubins, PTX) to the texts of a program, and whether a device
 * can take them.
 */
#include "src/dev/device.h"
#include "src/dev/image/image.h"

#include <stdlib.h>

/* IMAGE_NONE: there are not so many texts. */
static enum image_result add_text(const struct image_list *l, const struct image *img, u32 number,
				  const char *name, struct device_text *out)
{
	struct image_bytes b = {0};
	enum image_result r = image_read_ptx(l, img, number, &b);

	if (r != IMAGE_OK)
		return r;
	*out = (struct device_text){
		.name = name, .text = (const char *)b.data, .size = b.size, .owned = b.owned};
	if (!b.owned) {
		/* The image is only borrowed. */
		out->owned = malloc(b.size + 1);
		if (out->owned)
			memcpy(out->owned, b.data, b.size);
		out->text = out->owned;
	}
	if (!out->text)
		diag_at(l->diag, DIAG_ERROR, &l->source, DIAG_NOWHERE, NULL, "out of memory");
	return out->text ? IMAGE_OK : IMAGE_BAD;
}

/*
 * The device's runtime comes as PTX with programs that launch from kernels. Its functions are built
 * in (nested.h); its own, lower ones are known by this beginning of their names.
 */
static bool is_device_runtime_text(const struct device_text *t)
{
	static const char name[] = "cnpGetParameterBuffer";

	return memmem(t->text, t->size, name, sizeof(name) - 1) != NULL;
}

struct texts {
	VEC(struct device_text) list;
};

/*
 * The texts of the containers from `first` up to `end` that have one for the device. False: one is
 * damaged.
 */
static bool gather_range(struct image_list *l, struct device *dev, const char *name, size_t first,
			 size_t end, struct texts *to)
{
	enum image_result r = IMAGE_NONE;
	struct image_choice choice;
	struct device_text t;

	for (size_t c = first; c < end && r == IMAGE_NONE; c++) {
		if (image_select(l, (u32)c, (u32)dev->arch->sm, &choice) != IMAGE_OK)
			continue;
		for (u32 n = 0;
		     (r = add_text(l, &l->images.at[choice.image], n, name, &t)) == IMAGE_OK; n++)
			if (is_device_runtime_text(&t) || !VEC_PUSH(&to->list, t))
				free(t.owned);
	}
	return r == IMAGE_NONE;
}

static void drop_texts(struct texts *all)
{
	for (size_t i = 0; i < all->list.len; i++)
		free(all->list.at[i].owned);
	VEC_FREE(&all->list);
}

/* With -G linked machine code has the units' texts as well: they are not to be taken twice. */
static enum status gather_texts(struct image_list *l, struct device *dev, const char *name,
				struct device_text **texts, u32 *len)
{
	struct text what = {0}, hint = {0};
	struct texts all = {0};

	/* What is damaged has been reported; the rest would be a program that lacks something. */
	if (!gather_range(l, dev, name, l->linked, l->containers.len, &all) ||
	    (!all.list.len && l->linked && !gather_range(l, dev, name, 0, 1, &all))) {
		drop_texts(&all);
		return STATUS_INVALID_IMAGE;
	}
	*texts = all.list.at;
	*len = (u32)all.list.len;
	if (*len)
		return STATUS_SUCCESS;
	image_explain_no_ptx(l, UINT32_MAX, (u32)dev->arch->sm, &what, &hint);
	diag_at(l->diag, DIAG_ERROR, &l->source, DIAG_NOWHERE, hint.at, "%s",
		what.at ? what.at : "no PTX for this device");
	text_fini(&what);
	text_fini(&hint);
	return STATUS_NO_BINARY_FOR_GPU;
}

enum status device_image_texts(struct device *dev, const void *image, size_t size, const char *name,
			       struct diag *d, struct device_text **texts, u32 *len)
{
	enum status status = STATUS_INVALID_IMAGE;
	enum image_result found;
	struct image_list l;
	u32 errors = d->errors;

	*texts = NULL;
	*len = 0;
	image_list_init(&l, d, name);
	found = size ? image_list_add(&l, image, size, 0) : image_list_add_pointer(&l, image);
	if (found == IMAGE_OK)
		status = gather_texts(&l, dev, name, texts, len);
	else if (d->errors == errors)
		diag_at(d, DIAG_ERROR, &l.source, DIAG_NOWHERE, NULL,
			"this is neither PTX nor a file that can hold it");
	image_list_fini(&l);
	return status;
}

/* ---- machine code ---- */

static void add_code(void *user, const struct image_code *c)
{
	struct device_program *p = user;
	struct device_code one = {
		.name = arena_strdup(&p->arena, c->name, strlen(c->name)),
		.bytes = (u32)min_u64(c->bytes, UINT32_MAX),
		.registers = c->registers,
		.constant_loads = c->constant_loads,
	};

	if (one.name)
		(void)VEC_PUSH(&p->codes, one);
}

/* What cannot be read is not known: the program is there already. */
static void read_codes(struct device_program *p, const void *image, size_t size)
{
	struct image_list l;
	struct image_bytes b;
	struct diag quiet;
	u32 at;

	diag_init(&quiet, NULL, NULL);
	image_list_init(&l, &quiet, "");
	if ((size ? image_list_add(&l, image, size, 0) : image_list_add_pointer(&l, image)) ==
	    IMAGE_OK)
		for (size_t c = 0; c < l.containers.len; c++)
			if (image_select_code(&l, (u32)c, (u32)p->dev->arch->sm, &at) &&
			    image_read(&l, &l.images.at[at], &b) == IMAGE_OK) {
				image_scan_code(b.data, b.size, add_code, p);
				image_bytes_fini(&b);
			}
	image_list_fini(&l);
	diag_fini(&quiet);
}

static enum status load_image_as(struct device *dev, const void *image, size_t size,
				 const char *name, bool later, struct diag *d,
				 struct device_program **out)
{
	struct device_text *texts;
	enum status status;
	u32 len;

	*out = NULL;
	status = device_image_texts(dev, image, size, name, d, &texts, &len);
	for (u32 i = 0; i < len; i++)
		texts[i].later = later;
	if (status == STATUS_SUCCESS)
		status = device_program_load(dev, texts, len,
					     len == 1 ? IR_LINK_WHOLE : IR_LINK_PARTS, d, out);
	if (status == STATUS_SUCCESS && dev->reads_code)
		read_codes(*out, image, size);
	free(texts);
	return status;
}

enum status device_program_load_image(struct device *dev, const void *image, size_t size,
				      const char *name, struct diag *d, struct device_program **out)
{
	return load_image_as(dev, image, size, name, false, d, out);
}

enum status device_program_load_registered(struct device *dev, const void *image, size_t size,
					   const char *name, struct diag *d,
					   struct device_program **out)
{
	return load_image_as(dev, image, size, name, true, d, out);
}

/* What nvcc can compile for at least: its PTX may be newer than an old device. */
#define LOWEST_TARGET 75u
#define NEWEST_ISA 9u

enum status device_image_check(struct device *dev, const void *image, size_t size, const char *name,
			       struct diag *d)
{
	enum status status = STATUS_SUCCESS;
	const struct image *img;
	struct image_list l;
	u32 sm = (u32)dev->arch->sm, most = sm > LOWEST_TARGET ? sm : LOWEST_TARGET;

	image_list_init(&l, d, name);
	if ((size ? image_list_add(&l, image, size, 0) : image_list_add_pointer(&l, image)) !=
	    IMAGE_OK)
		goto out;
	img = l.images.len == 1 ? &l.images.at[0] : NULL;
	if (!img || img->kind != IMAGE_PTX || img->data != (const u8 *)image)
		goto out;
	if (img->isa_major > NEWEST_ISA) {
		diag_at(d, DIAG_ERROR, &l.source, DIAG_NOWHERE, NULL,
			"PTX ISA version %u.%u is not known; the newest is %u", img->isa_major,
			img->isa_minor, NEWEST_ISA);
		status = STATUS_UNSUPPORTED_PTX_VERSION;
	} else if (img->target.sm > most) {
		diag_at(d, DIAG_ERROR, &l.source, DIAG_NOWHERE,
			"choose a newer device with PTXLOOM_DEVICE or `ptxloom run -d`",
			"this PTX is for sm_%u and newer, the device is sm_%u", img->target.sm, sm);
		status = STATUS_INVALID_PTX;
	}
out:
	image_list_fini(&l);
	return status;
}

/*
 * An instruction that is kept although it cannot be run: does the table of instructions not have it
 * at all?
 */
static bool is_unknown(const struct diag_source *source, u32 at, struct diag *d)
{
	const char *opcode = source->text + at;
	size_t n = 0;
	struct arena arena;
	struct isa_complaint c;
	bool known;

	while (at + n < source->size && !strchr(" \t\r\n;/", opcode[n]))
		n++;
	arena_init(&arena, 0);
	known = isa_match(&arena, opcode, n);
	arena_fini(&arena);
	if (known)
		return false;
	isa_explain(opcode, n, &c);
	diag_words(d, "error   : %s", c.words.at ? c.words.at : "");
	diag_at(d, DIAG_ERROR, source, (struct diag_span){at + c.begin, at + c.end},
		c.row ? c.row->hint : NULL, "%s", c.text.at ? c.text.at : "out of memory");
	isa_complaint_fini(&c);
	return true;
}

bool device_program_is_whole(const struct device_program *p, struct diag *d)
{
	bool whole = true;

	for (u32 u = 0; u < p->len; u++) {
		const struct ir_module *m = p->units[u];

		for (size_t i = 0; i < m->funcs.len && m->version < 10 * (NEWEST_ISA + 1); i++) {
			const struct ir_func *f = m->funcs.at[i];

			for (size_t k = 0; k < f->poisons.len; k++)
				whole &= !is_unknown(&p->sources[u],
						     f->insns.at[f->poisons.at[k].insn].begin, d);
		}
	}
	return whole;
}
