/*
 * ptxloom ptx: take the PTX text out of a CUDA binary, byte for byte.
 */
#include "src/base/file.h"
#include "src/tools/images.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char tool_help_ptx[] =
	"Writes the PTX text of every image to standard output, or to DIR/FILE.INDEX.sm_XX.ptx.\n"
	"For containers without a PTX image: the text that -lineinfo or -G left in their machine code.\n"
	"\n"
	"  -o, --output=DIR  one file per image in DIR, which is created if necessary\n"
	"  --index=N         only image N of `ptxloom ls`\n"
	"  --arch=sm_XX      only the image that this device would use, one per container\n"
	"  --scan            search all bytes of the file, not only the sections for images\n"
	"\n"
	"Exit status: 0; 1 when the file is damaged or there is no PTX; 2 when a file cannot be read\n"
	"or written. A file that could not be written completely is removed.\n";

struct extraction {
	const struct tool_command *self;
	struct tool_images t;
	const char *dir; /* NULL: standard output */
	s64 index;       /* -1: not given */
	u32 sm;          /* 0: not given */
	u32 written;
	int status;
};

static void raise_status(struct extraction *x, int status)
{
	if (status > x->status)
		x->status = status;
}

static void write_error(struct extraction *x, const char *path)
{
	fprintf(stderr, "ptxloom %s: %s: %s\n", x->self->name, path, strerror(errno));
	raise_status(x, TOOL_USAGE);
}

/* DIR/FILE.INDEX.sm_XX.ptx; further texts of a device link: DIR/FILE.INDEX-NUMBER.sm_XX.ptx */
static void output_path(const struct extraction *x, u32 index, u32 number, struct text *path)
{
	const struct image *img = &x->t.list.images.at[index];
	const char *base = file_base_name(x->t.name);

	if (!strcmp(base, "<stdin>"))
		base = "stdin";
	text_printf(path, "%s/%s.%u", x->dir, base, index);
	if (number)
		text_printf(path, "-%u", number);
	text_printf(path, ".sm_%u%.1s.ptx", img->target.sm, &img->target.suffix);
}

static void write_text(struct extraction *x, u32 index, u32 number, const struct image_bytes *b)
{
	struct text path = {0};

	x->written++;
	if (!x->dir) {
		if (fwrite(b->data, 1, b->size, stdout) != b->size)
			raise_status(x, TOOL_USAGE);
		return;
	}
	output_path(x, index, number, &path);
	if (path.failed || !file_put(path.at, b->data, b->size))
		write_error(x, path.failed ? x->dir : path.at);
	text_fini(&path);
}

/* Write the PTX of one image, all texts of it. Returns IMAGE_NONE when it has none. */
static enum image_result extract(struct extraction *x, u32 index)
{
	enum image_result r = IMAGE_OK;
	struct image_bytes b;
	u32 number = 0;

	while (r == IMAGE_OK) {
		r = image_read_ptx(&x->t.list, &x->t.list.images.at[index], number, &b);
		if (r == IMAGE_OK)
			write_text(x, index, number++, &b);
		image_bytes_fini(&b);
	}
	if (r == IMAGE_BAD)
		raise_status(x, TOOL_FINDINGS);
	return r == IMAGE_NONE && number ? IMAGE_OK : r;
}

static void no_ptx(struct extraction *x, u32 container)
{
	struct text what = {0}, hint = {0};

	image_explain_no_ptx(&x->t.list, container, x->sm, &what, &hint);
	diag_at(&x->t.diag, DIAG_ERROR, &x->t.list.source, DIAG_NOWHERE, hint.at, "%s",
		what.at ? what.at : "no PTX");
	text_fini(&what);
	text_fini(&hint);
	raise_status(x, TOOL_FINDINGS);
}

static void extract_index(struct extraction *x)
{
	size_t count = x->t.list.images.len;

	if ((u64)x->index >= count) {
		diag_at(&x->t.diag, DIAG_ERROR, &x->t.list.source, DIAG_NOWHERE, NULL,
			"no image %lld; there are %zu", (long long)x->index, count);
		raise_status(x, TOOL_FINDINGS);
	} else if (extract(x, (u32)x->index) == IMAGE_NONE) {
		diag_at(&x->t.diag, DIAG_ERROR, &x->t.list.source, DIAG_NOWHERE,
			"`ptxloom ls` shows which images have PTX",
			"image %lld is %s without PTX text", (long long)x->index,
			image_kind_name(x->t.list.images.at[x->index].kind));
		raise_status(x, TOOL_FINDINGS);
	}
}

static void extract_best(struct extraction *x)
{
	const struct image_list *l = &x->t.list;
	struct image_choice choice;
	char target[24];

	for (u32 i = 0; i < l->containers.len; i++) {
		enum image_result r = image_select(l, i, x->sm, &choice);

		if (r == IMAGE_BAD)
			raise_status(x, TOOL_FINDINGS);
		if (r != IMAGE_OK)
			continue;
		if (choice.match == IMAGE_MATCH_ABOVE)
			diag_at(&x->t.diag, DIAG_NOTE, &l->source, DIAG_NOWHERE, NULL,
				"container %u has no PTX for sm_%u or lower; %s is the nearest", i,
				x->sm, image_target_name(&l->images.at[choice.image], target));
		extract(x, choice.image);
	}
}

/* All PTX images; of containers without any, the text in their cubins. */
static void extract_all(struct extraction *x)
{
	const struct image_list *l = &x->t.list;

	for (size_t i = 0; i < l->containers.len; i++) {
		const struct image_container *c = &l->containers.at[i];
		enum image_kind kind = IMAGE_SASS;

		for (u32 j = c->first; j < c->first + c->count; j++)
			if (l->images.at[j].kind == IMAGE_PTX)
				kind = IMAGE_PTX;
		for (u32 j = c->first; j < c->first + c->count; j++)
			if (l->images.at[j].kind == kind)
				extract(x, j);
	}
}

static int run_extraction(struct extraction *x, const char *path, u32 flags)
{
	x->status = tool_images_open(&x->t, path, flags);
	if (x->dir && x->status != TOOL_USAGE && mkdir(x->dir, 0777) && errno != EEXIST)
		write_error(x, x->dir);
	else if (x->index >= 0 && x->t.list.images.len)
		extract_index(x);
	else if (x->sm)
		extract_best(x);
	else
		extract_all(x);
	if (!x->written && !x->t.diag.errors && x->status == TOOL_OK)
		no_ptx(x, UINT32_MAX);
	if (!x->dir && x->written > 1)
		diag_at(&x->t.diag, DIAG_NOTE, &x->t.list.source, DIAG_NOWHERE, NULL,
			"%u texts one after the other; -o DIR writes one file each", x->written);
	tool_images_close(&x->t);
	return x->status;
}

static bool parse_index(const char *s, s64 *out)
{
	char *end;

	errno = 0;
	*out = strtol(s, &end, 10);
	return *s >= '0' && *s <= '9' && !*end && !errno;
}

int tool_main_ptx(const struct tool_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'}, {"index", required_argument, NULL, 'i'},
		{"arch", required_argument, NULL, 'a'},   {"scan", no_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},         {0},
	};
	struct extraction x = {.self = self, .index = -1};
	struct image_target target = {0};
	u32 flags = 0;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help(self);
		if (c == '?' || c == ':')
			return tool_usage(self,
					  c == ':' ? "option '%s' needs a value"
						   : "unknown option '%s'",
					  argv[optind - 1]);
		if (c == 'o')
			x.dir = optarg;
		if (c == 'i' && !parse_index(optarg, &x.index))
			return tool_usage(self, "'%s' is not an image index", optarg);
		if (c == 'a' && !image_target_parse(optarg, &target))
			return tool_usage(self, "'%s' is not a target such as sm_80", optarg);
		flags |= c == 's' ? IMAGE_SCAN : 0;
	}
	x.sm = target.sm;
	if (x.sm && x.index >= 0)
		return tool_usage(self, "--index and --arch exclude each other");
	if (argc - optind != 1)
		return tool_usage(self,
				  argc == optind ? "no file given" : "more than one file given");
	return run_extraction(&x, argv[optind], flags);
}
