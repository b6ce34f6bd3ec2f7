/*
 * ptxloom ls: what is in a CUDA binary. Text for people, JSON for programs (schema in
 * docs/images.md).
 */
#include "src/tools/images.h"

#include <getopt.h>
#include <inttypes.h>

const char tool_help_ls[] =
	"FILE is an executable, shared object, object, archive, fat binary, cubin or PTX text; - is\n"
	"standard input. For each image: its index, kind, target, PTX ISA version, stored and\n"
	"decompressed bytes, compression, and other attributes of its header.\n"
	"\n"
	"  --json      write JSON (schema \"ptxloom-ls-1\")\n"
	"  --kernels   list kernels too; the default for fewer than 64 images of less than 64 MiB,\n"
	"              because the images have to be decompressed for it\n"
	"  --scan      search all bytes of the file, not only the sections for images\n"
	"\n"
	"Exit status: 0; 1 when the file is damaged or has no image; 2 when it cannot be read.\n";

/* Up to here the kernels are listed without --kernels. */
#define DETAIL_IMAGES 64u
#define DETAIL_BYTES ((u64)64 << 20)

struct listing {
	struct tool_images *t;
	struct text out;
	bool kernels;
	bool damaged; /* an image could not be read */
};

/* What only the decompressed image tells. */
struct details {
	bool known; /* the image was read */
	struct image_bytes bytes;
	struct image_kernels kernels;
	u32 ptx_texts; /* of a cubin: in its debug sections */
};

static void read_details(struct listing *ls, const struct image *img, struct details *d)
{
	const struct image_list *l = &ls->t->list;
	enum image_result r;

	*d = (struct details){0};
	if (!ls->kernels)
		return;
	r = img->kind == IMAGE_PTX ? image_read_ptx(l, img, 0, &d->bytes)
				   : image_read(l, img, &d->bytes);
	ls->damaged |= r == IMAGE_BAD;
	if (r != IMAGE_OK)
		return;
	d->known = true;
	if (img->kind == IMAGE_PTX) {
		ls->damaged |=
			!image_scan_ptx((const char *)d->bytes.data, d->bytes.size, &d->kernels);
		return;
	}
	ls->damaged |= !image_scan_cubin(d->bytes.data, d->bytes.size, &d->kernels);
	d->ptx_texts = image_cubin_ptx_count(d->bytes.data, d->bytes.size);
}

static void free_details(struct details *d)
{
	image_bytes_fini(&d->bytes);
	image_kernels_fini(&d->kernels);
}

/* Bytes of the file for a terminal: control characters become visible. */
static void put_safe(struct text *t, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((u8)s[i] < ' ' || s[i] == 0x7f)
			text_printf(t, "\\x%02x", (u8)s[i]);
		else
			text_add(t, s + i, 1);
}

static void put_param(struct text *t, const struct image_param *p)
{
	if (p->type)
		put_safe(t, p->type, p->type_len);
	else
		text_puts(t, "?");
	if (p->elements)
		text_printf(t, "[%" PRIu64 "] align %u", p->elements, p->align);
	if (p->space) {
		text_puts(t, p->space_len ? " ptr " : " ptr");
		put_safe(t, p->space, p->space_len);
	}
}

static void put_kernels(struct text *t, const struct image_kernels *kernels)
{
	for (size_t i = 0; i < kernels->list.len; i++) {
		const struct image_kernel *k = &kernels->list.at[i];

		text_puts(t, "            kernel ");
		put_safe(t, k->name, k->name_len);
		for (u32 j = 0; j < k->param_count; j++) {
			text_puts(t, j ? ", " : "(");
			put_param(t, &k->params[j]);
		}
		text_puts(t, !k->has_params ? "\n" : k->param_count ? ")\n" : "()\n");
	}
}

static void put_image(struct listing *ls, u32 index)
{
	const struct image *img = &ls->t->list.images.at[index];
	struct text *t = &ls->out;
	char target[24], isa[16] = "-";
	struct details d;

	read_details(ls, img, &d);
	if (img->kind == IMAGE_PTX)
		snprintf(isa, sizeof(isa), "%u.%u", img->isa_major, img->isa_minor);
	text_printf(t, "%7u  %-4s  %-12s  %-4s  %10" PRIu64 "  %10" PRIu64 "  %s", index,
		    image_kind_name(img->kind), image_target_name(img, target), isa,
		    img->stored_bytes, img->raw_bytes, image_codec_name(img->codec));
	if (img->debug)
		text_puts(t, "  debug");
	if (d.ptx_texts == 1)
		text_puts(t, "  with PTX text");
	else if (d.ptx_texts)
		text_printf(t, "  with %u PTX texts", d.ptx_texts);
	if (img->source_len) {
		text_puts(t, "  source ");
		put_safe(t, img->source, img->source_len);
	}
	if (img->options_len) {
		text_puts(t, "  options ");
		put_safe(t, img->options, img->options_len);
	}
	text_puts(t, "\n");
	put_kernels(t, &d.kernels);
	free_details(&d);
}

static void put_text(struct listing *ls)
{
	const struct image_list *l = &ls->t->list;

	text_printf(&ls->out, "%s: %zu image%s in %zu container%s\n", ls->t->name, l->images.len,
		    l->images.len == 1 ? "" : "s", l->containers.len,
		    l->containers.len == 1 ? "" : "s");
	if (l->images.len)
		text_printf(&ls->out, "%7s  %-4s  %-12s  %-4s  %10s  %10s  %s\n", "index", "kind",
			    "target", "isa", "stored", "raw", "packing");
	for (size_t i = 0; i < l->containers.len; i++) {
		const struct image_container *c = &l->containers.at[i];

		text_printf(&ls->out, "container %zu at 0x%" PRIx64 "%s%s\n", i, c->offset,
			    c->member ? " in member " : "", c->member ? c->member : "");
		for (u32 j = 0; j < c->count; j++)
			put_image(ls, c->first + j);
	}
}

/* A JSON string of n bytes, or null. */
static void json_slice(struct text *t, const char *s, size_t n)
{
	struct text copy = {0};

	if (!s) {
		text_puts(t, "null");
		return;
	}
	text_add(&copy, s, n);
	if (copy.failed)
		t->failed = true;
	else
		text_json_string(t, copy.at);
	text_fini(&copy);
}

static void json_params(struct text *t, const struct image_kernel *k)
{
	text_puts(t, "[");
	for (u32 i = 0; i < k->param_count; i++) {
		const struct image_param *p = &k->params[i];

		text_puts(t, i ? ", {\"name\": " : "{\"name\": ");
		json_slice(t, p->name, p->name_len);
		text_puts(t, ", \"type\": ");
		json_slice(t, p->type, p->type_len);
		text_printf(t,
			    ", \"elements\": %" PRIu64 ", \"bytes\": %" PRIu64
			    ", \"align\": %u, \"pointer\": ",
			    p->elements, p->bytes, p->align);
		json_slice(t, p->space, p->space_len);
		text_puts(t, "}");
	}
	text_puts(t, "]");
}

static void json_kernels(struct text *t, const struct details *d)
{
	if (!d->known) {
		text_puts(t, "null");
		return;
	}
	text_puts(t, "[");
	for (size_t i = 0; i < d->kernels.list.len; i++) {
		const struct image_kernel *k = &d->kernels.list.at[i];

		text_puts(t, i ? ",\n      {\"name\": " : "\n      {\"name\": ");
		json_slice(t, k->name, k->name_len);
		text_puts(t, ", \"params\": ");
		if (k->has_params)
			json_params(t, k);
		else
			text_puts(t, "null");
		text_puts(t, "}");
	}
	text_puts(t, "]");
}

static void json_image(struct listing *ls, u32 index)
{
	static const char *const kinds[] = {
		[IMAGE_PTX] = "ptx", [IMAGE_SASS] = "sass", [IMAGE_LTO] = "lto"};
	const struct image *img = &ls->t->list.images.at[index];
	const char *member = ls->t->list.containers.at[img->container].member;
	struct text *t = &ls->out;
	struct details d;
	char target[24];

	read_details(ls, img, &d);
	text_printf(t, "    {\"index\": %u, \"container\": %u, \"member\": ", index,
		    img->container);
	json_slice(t, member, member ? strlen(member) : 0);
	text_printf(t, ", \"kind\": \"%s\", \"target\": \"%s\", \"isa\": ", kinds[img->kind],
		    image_target_name(img, target));
	if (img->kind == IMAGE_PTX)
		text_printf(t, "\"%u.%u\"", img->isa_major, img->isa_minor);
	else
		text_puts(t, "null");
	text_printf(t,
		    ", \"offset\": %" PRIu64 ", \"stored_bytes\": %" PRIu64
		    ", \"raw_bytes\": %" PRIu64,
		    img->offset, img->stored_bytes, img->raw_bytes);
	text_printf(t, ", \"compression\": \"%s\", \"debug\": %s, \"source\": ",
		    image_codec_name(img->codec), img->debug ? "true" : "false");
	json_slice(t, img->source, img->source_len);
	text_puts(t, ", \"options\": ");
	json_slice(t, img->options, img->options_len);
	text_printf(t, ", \"has_ptx\": %s",
		    img->kind == IMAGE_PTX || d.ptx_texts ? "true"
		    : img->kind == IMAGE_SASS && !d.known ? "null"
							  : "false");
	text_puts(t, ",\n     \"kernels\": ");
	json_kernels(t, &d);
	text_puts(t, "}");
	free_details(&d);
}

static void put_json(struct listing *ls)
{
	const struct image_list *l = &ls->t->list;
	struct text *t = &ls->out;

	text_puts(t, "{\"schema\": \"ptxloom-ls-1\",\n \"file\": ");
	text_json_string(t, ls->t->name);
	text_printf(t, ",\n \"containers\": %zu,\n \"images\": [", l->containers.len);
	for (size_t i = 0; i < l->images.len; i++) {
		text_puts(t, i ? ",\n" : "\n");
		json_image(ls, (u32)i);
	}
	text_puts(t, "],\n \"error\": ");
	if (ls->t->diag.first_error.len)
		text_json_string(t, ls->t->diag.first_error.at);
	else
		text_puts(t, "null");
	text_puts(t, "}\n");
}

static bool is_small(const struct image_list *l)
{
	u64 bytes = 0;

	for (size_t i = 0; i < l->images.len && bytes < DETAIL_BYTES; i++)
		bytes += l->images.at[i].raw_bytes;
	return l->images.len < DETAIL_IMAGES && bytes < DETAIL_BYTES;
}

static int list_file(const struct tool_command *self, const char *path, bool json, bool kernels,
		     u32 flags)
{
	struct tool_images t;
	struct listing ls = {.t = &t};
	int status = tool_images_open(&t, path, flags);

	if (json || t.list.containers.len) {
		ls.kernels = kernels || is_small(&t.list);
		(json ? put_json : put_text)(&ls);
		if (ls.damaged && status == TOOL_OK)
			status = TOOL_FINDINGS;
		if (ls.out.failed) {
			fprintf(stderr, "ptxloom %s: out of memory\n", self->name);
			status = TOOL_USAGE;
		} else {
			fwrite(ls.out.at, 1, ls.out.len, stdout);
		}
	}
	text_fini(&ls.out);
	tool_images_close(&t);
	return status;
}

int tool_main_ls(const struct tool_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"kernels", no_argument, NULL, 'k'},
		{"scan", no_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	bool json = false, kernels = false;
	u32 flags = 0;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help(self);
		if (c == '?')
			return tool_usage(self, "unknown option '%s'", argv[optind - 1]);
		json |= c == 'j';
		kernels |= c == 'k';
		flags |= c == 's' ? IMAGE_SCAN : 0;
	}
	if (argc - optind != 1)
		return tool_usage(self,
				  argc == optind ? "no file given" : "more than one file given");
	return list_file(self, argv[optind], json, kernels, flags);
}
