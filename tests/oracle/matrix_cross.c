/*
 * Matrix instructions on random numbers, by the driver API of whatever libcuda it is given: digests
 * of the results, one line for each form, style of numbers and launch, so that the output of a GPU
 * and that of the emulated device can be compared line by line (matrix_cross.sh does). The kernels
 * make their numbers themselves, of the tile's index (matrix_forms.c).
 *
 * usage: matrix_cross [-t TILES] [-f TEXT] [-s STYLE] [-p PART/PARTS] LIBCUDA
 *        matrix_cross -c FILE [-p PART/PARTS] LIBCUDA
 *        matrix_cross -l FILE [-p PART/PARTS] LIBCUDA
 *        matrix_cross -f FORM -w FILE LIBCUDA STYLE BASE
 *
 * TILES of 16 x 8 for each form (10^6); TEXT: forms that contain it; PART of PARTS: every so many
 * forms.
 * -c: compares the first launches with those of a GPU (tests/vectors/matrix_cross.tsv; for each
 * form and style the lower half of a digest). -l: makes the launches of an earlier output, which
 * has to be sorted (LC_ALL=C), again and prints the lines that differ. -w: the words of one launch
 * into FILE.
 */
#include "tests/check.h"
#include "tests/oracle/matrix_forms.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARPS 4096u /* of a launch */
#define WGMMA_WARPS 512u
#define HEAD 8u /* warps of the short digest, which the committed results have */
#define TABLE_BYTES (3u * 8192u + 64u)

typedef int call();

static struct driver {
	call *init, *retain, *current, *load, *unload, *function, *alloc, *launch, *read, *write;
} cu;

static bool open_driver(const char *path)
{
	static const struct {
		const char *name;
		size_t at;
	} calls[] = {
		{"cuInit", offsetof(struct driver, init)},
		{"cuDevicePrimaryCtxRetain", offsetof(struct driver, retain)},
		{"cuCtxSetCurrent", offsetof(struct driver, current)},
		{"cuModuleLoadData", offsetof(struct driver, load)},
		{"cuModuleUnload", offsetof(struct driver, unload)},
		{"cuModuleGetFunction", offsetof(struct driver, function)},
		{"cuMemAlloc_v2", offsetof(struct driver, alloc)},
		{"cuLaunchKernel", offsetof(struct driver, launch)},
		{"cuMemcpyDtoH_v2", offsetof(struct driver, read)},
		{"cuMemcpyHtoD_v2", offsetof(struct driver, write)},
	};
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *context = NULL;

	if (!lib) {
		fprintf(stderr, "matrix_cross: %s\n", dlerror());
		return false;
	}
	for (u32 i = 0; i < ARRAY_LEN(calls); i++) {
		void *p = dlsym(lib, calls[i].name);

		if (!p)
			return false;
		memcpy((u8 *)&cu + calls[i].at, &p, sizeof(p));
	}
	return !cu.init(0u) && !cu.retain(&context, 0) && !cu.current(context);
}

struct expected;

/* A line of an earlier output. */
struct line {
	char name[FORM_TEXT], style[12], base[12];
	u64 digest;
};

struct run {
	u32 tiles, part, parts, seen, skip;
	const char *text, *file, *style, *digests, *list;
	u32 base; /* of the words to keep */
	u64 out, table;
	const struct expected *expected;
	u32 expected_count;
	struct line *lines;
	size_t line_count, same, differ;
	u32 *words;
	bool ok;
};

static u64 digest_of(const u32 *words, u32 n)
{
	u64 d = 0xcbf29ce484222325u;

	for (u32 i = 0; i < n; i++)
		d = (d ^ words[i]) * 0x100000001b3u;
	return d;
}

static bool keep(const struct run *r, u32 warps)
{
	FILE *file = fopen(r->file, "wb");
	bool ok = file && fwrite(r->words, 128, warps, file) == warps;

	if (file && fclose(file))
		ok = false;
	return ok;
}

static bool fill_tables(const struct run *r, const struct form *f, bool tiny)
{
	static u32 table[3][1024][2];
	u64 descriptors[8];

	form_table(f->a, 1, tiny, table[0]);
	form_table(f->b, 2, tiny, table[1]);
	form_table(f->c, 3, tiny, table[2]);
	form_descriptors(f, descriptors);
	return !cu.write(r->table, table, sizeof(table)) &&
	       !cu.write(r->table + sizeof(table), descriptors, sizeof(descriptors));
}

static bool launch(const struct run *r, const struct form *f, const struct style *s, void *function,
		   u32 warps, u32 base)
{
	u32 a[2], b[2], c[2], zeros = s->zeros;
	u64 out = r->out, table = r->table;
	void *args[] = {&out, &table, &base, &a[0], &a[1], &b[0], &b[1], &c[0], &c[1], &zeros};

	form_masks(f->a, s, &a[0], &a[1]);
	form_masks(f->b, s, &b[0], &b[1]);
	form_masks(f->c, s, &c[0], &c[1]);
	return !cu.launch(function, warps / form_warps(f), 1u, 1u, 32 * form_warps(f), 1u, 1u, 0u,
			  NULL, args, NULL) &&
	       !cu.read(r->words, out, (size_t)warps * 128);
}

static bool run_style(struct run *r, const struct form *f, const struct style *s, void *function)
{
	u32 warps = f->wgmma ? WGMMA_WARPS : WARPS, per = f->wgmma ? f->n / 8 : f->m * f->n / 128;
	u32 each = r->tiles / STYLES / (f->wgmma ? 32 : 1), launches;

	launches = each / (warps * (per ? per : 1)) + 1;
	if (!fill_tables(r, f, s->tiny))
		return false;
	for (u32 i = 0; i < launches; i++) {
		u32 base = i * warps;

		if (r->file && base != r->base)
			continue;
		if (!launch(r, f, s, function, warps, base))
			return false;
		if (r->file)
			return keep(r, warps);
		printf("%s\t%s\t%u\t%016llx\n", f->name, s->name, base,
		       (unsigned long long)digest_of(r->words, warps * 32));
		if (!i)
			printf("%s\t%s\thead\t%016llx\n", f->name, s->name,
			       (unsigned long long)digest_of(r->words, HEAD * 32));
	}
	return true;
}

/* ---- launches of an earlier output ---- */

/* Of lines, which begin with their names. */
static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The first line of this form; NULL: there is none. */
static struct line *find_lines(const struct run *r, const char *name)
{
	struct line key, *at;

	memcpy(key.name, name, strlen(name) + 1);
	at = bsearch(&key, r->lines, r->line_count, sizeof(key), compare_names);
	while (at && at > r->lines && !strcmp(at[-1].name, name))
		at--;
	return at;
}

static bool read_lines(struct run *r, const char *path)
{
	FILE *file = fopen(path, "r");
	struct line l;
	unsigned long long digest;

	if (!file)
		return false;
	while (fscanf(file, "%119s %11s %11s %llx", l.name, l.style, l.base, &digest) == 4) {
		if (!(r->line_count & (r->line_count + 1)))
			r->lines = realloc(r->lines, (2 * r->line_count + 1) * sizeof(l));
		if (!r->lines)
			break;
		l.digest = digest;
		r->lines[r->line_count++] = l;
	}
	fclose(file);
	return r->line_count > 0;
}

static bool repeat_style(struct run *r, const struct form *f, const struct style *s, void *function)
{
	u32 warps = f->wgmma ? WGMMA_WARPS : WARPS;
	const struct line *l = find_lines(r, f->name), *end = r->lines + r->line_count;

	if (!fill_tables(r, f, s->tiny))
		return false;
	for (; l < end && !strcmp(l->name, f->name); l++) {
		bool head = !strcmp(l->base, "head");
		u64 digest;

		if (strcmp(l->style, s->name) != 0)
			continue;
		if (!launch(r, f, s, function, warps, head ? 0 : (u32)strtoul(l->base, NULL, 10)))
			return false;
		digest = digest_of(r->words, (head ? HEAD : warps) * 32);
		r->same += digest == l->digest;
		r->differ += digest != l->digest;
		if (digest != l->digest)
			printf("%s\t%s\t%s\t%016llx\n", l->name, l->style, l->base,
			       (unsigned long long)digest);
	}
	return true;
}

static bool run_form(const struct form *f, void *data)
{
	static char ptx[FORM_PTX];
	struct run *r = data;
	void *module = NULL, *random = NULL, *table = NULL;
	bool ok;

	if (r->lines && !find_lines(r, f->name))
		return true;
	if ((r->text && (r->file ? strcmp(f->name, r->text) != 0 : !strstr(f->name, r->text))) ||
	    r->seen++ % r->parts != r->part || r->seen <= r->skip)
		return true;
	form_write(f, ptx);
	ok = !cu.load(&module, ptx) && !cu.function(&random, module, "random") &&
	     !cu.function(&table, module, "table");
	for (u32 i = 0; ok && i < STYLES; i++)
		if (!r->style || !strcmp(r->style, styles[i].name))
			ok = (r->lines ? repeat_style : run_style)(
				r, f, &styles[i], styles[i].table ? table : random);
	if (!ok)
		printf("%s\tfails\n", f->name);
	if (module)
		cu.unload(module);
	fflush(stdout);
	r->ok = ok;
	return ok;
}

/* ---- against committed digests ---- */

/* One line of the file: a form, and a digest for each style. */
struct expected {
	char name[FORM_TEXT];
	u32 digest[STYLES], styles;
};

static bool check_form(const struct form *f, void *data)
{
	static char ptx[FORM_PTX];
	struct run *r = data;
	const struct expected *e =
		bsearch(f->name, r->expected, r->expected_count, sizeof(*e), compare_names);
	void *module = NULL, *random = NULL, *table = NULL;
	u32 warps = f->wgmma ? WGMMA_WARPS : HEAD, same = 0;

	if (!e || r->seen++ % r->parts != r->part)
		return true;
	form_write(f, ptx);
	r->ok = !cu.load(&module, ptx) && !cu.function(&random, module, "random") &&
		!cu.function(&table, module, "table");
	for (u32 i = 0; r->ok && i < e->styles; i++) {
		r->ok = fill_tables(r, f, styles[i].tiny) &&
			launch(r, f, &styles[i], styles[i].table ? table : random, warps, 0);
		same += (u32)digest_of(r->words, warps * 32) == e->digest[i];
	}
	if (module)
		cu.unload(module);
	CHECK_MSG(r->ok && e->styles && same == e->styles, f->name);
	return true;
}

static bool read_expected(FILE *file, struct expected *e)
{
	char text[256], *at = text, *end;

	if (!fgets(text, sizeof(text), file) || sscanf(text, "%119s", e->name) != 1)
		return false;
	at += strlen(e->name);
	for (e->styles = 0; e->styles < STYLES; e->styles++, at = end) {
		e->digest[e->styles] = (u32)strtoul(at, &end, 16);
		if (end == at)
			break;
	}
	return true;
}

static int check_file(struct run *r, const char *path)
{
	static struct expected all[1024];
	FILE *file = fopen(path, "r");

	if (!file) {
		fprintf(stderr, "matrix_cross: %s: no such file\n", path);
		return 2;
	}
	while (r->expected_count < ARRAY_LEN(all) && read_expected(file, &all[r->expected_count]))
		r->expected_count++;
	fclose(file);
	qsort(all, r->expected_count, sizeof(all[0]), compare_names);
	r->expected = all;
	forms_visit(check_form, r);
	CHECK(r->seen > 0 && r->seen == r->expected_count);
	return check_done();
}

static bool read_options(int argc, char **argv, struct run *r)
{
	int o;

	while ((o = getopt(argc, argv, "t:f:p:w:n:s:l:c:")) != -1) {
		if (o == 't')
			r->tiles = (u32)strtoul(optarg, NULL, 10);
		else if (o == 'f')
			r->text = optarg;
		else if (o == 'c')
			r->digests = optarg;
		else if (o == 'n')
			r->skip = (u32)strtoul(optarg, NULL, 10);
		else if (o == 's')
			r->style = optarg;
		else if (o == 'l')
			r->list = optarg;
		else if (o == 'w')
			r->file = optarg;
		else if (o != 'p' || sscanf(optarg, "%u/%u", &r->part, &r->parts) != 2 || !r->parts)
			return false;
	}
	if (r->file && argc - optind == 3) {
		r->style = argv[optind + 1];
		r->base = (u32)strtoul(argv[optind + 2], NULL, 10);
	}
	return r->file ? r->style != NULL : argc - optind == 1;
}

/* After a fault the context is of no use: a fresh process does the rest. */
static int go_on(const struct run *r, char **argv)
{
	char skip[16], tiles[16], part[32], *args[16];
	u32 n = 0;

	snprintf(skip, sizeof(skip), "%u", r->seen);
	snprintf(tiles, sizeof(tiles), "%u", r->tiles);
	snprintf(part, sizeof(part), "%u/%u", r->part, r->parts);
	args[n++] = argv[0];
	args[n++] = "-t", args[n++] = tiles;
	args[n++] = "-p", args[n++] = part;
	args[n++] = "-n", args[n++] = skip;
	if (r->text)
		args[n++] = "-f", args[n++] = (char *)r->text;
	if (r->style)
		args[n++] = "-s", args[n++] = (char *)r->style;
	if (r->list)
		args[n++] = "-l", args[n++] = (char *)r->list;
	args[n++] = argv[optind];
	args[n] = NULL;
	execv("/proc/self/exe", args);
	return 1;
}

int main(int argc, char **argv)
{
	struct run r = {.tiles = 1000000, .parts = 1, .ok = true};

	if (!read_options(argc, argv, &r)) {
		fprintf(stderr,
			"usage: matrix_cross [-t TILES] [-f TEXT] [-s STYLE] [-p PART/PARTS] LIBCUDA\n"
			"       matrix_cross -c FILE [-p PART/PARTS] LIBCUDA\n"
			"       matrix_cross -l FILE [-p PART/PARTS] LIBCUDA\n"
			"       matrix_cross [-t TILES] -f FORM -w FILE LIBCUDA STYLE BASE\n");
		return 2;
	}
	r.words = malloc((size_t)WARPS * 128);
	if (!r.words || !open_driver(argv[optind]) || cu.alloc(&r.out, (size_t)WARPS * 128) ||
	    cu.alloc(&r.table, (size_t)TABLE_BYTES)) {
		fprintf(stderr, "matrix_cross: no device\n");
		return 77;
	}
	if (r.digests)
		return check_file(&r, r.digests);
	if (r.list && !read_lines(&r, r.list)) {
		fprintf(stderr, "matrix_cross: %s: no lines\n", r.list);
		return 2;
	}
	forms_visit(run_form, &r);
	if (r.list)
		printf("%zu launches agree, %zu differ\n", r.same, r.differ);
	free(r.words);
	free(r.lines);
	return r.ok ? 0 : r.file ? 1 : go_on(&r, argv);
}
