/*
 * Every form of the instructions of registers, and random programs, by the driver API of whatever
 * libcuda it is given: digests of the results, so that a GPU and the emulated device can be
 * compared line by line (form_cross.sh does). What differs can be dumped by one and examined by the
 * other.
 *
 * usage: form_cross LIBCUDA [options]
 *   -l N        of rows with more spellings a choice of N (2000)
 *   -f TEXT     only forms that contain it
 *   -p N        N random programs instead, and -r N for each row of memory and warps
 *   -s N        the first program's seed
 *   -j N        processes
 *   -w FILE     compare with these lines, print those that differ; with -d DIR write their results there
 *   -x DIR      show where the results in DIR, of another machine, differ
 *   -m LIBCUDA  of programs that differ from FILE, show what is needed for it; the lines are of this one
 *   -T SECONDS  what has not begun by then is left out
 *   -P DIR      write the modules as text
 * Lines: form or program, a tab, the digest of its results. Exit status 0: all ran, and none
 * differs.
 */
#include "grammar/parse.h"
#include "tests/fuzz/formgen.h"
#include "tests/fuzz/progen.h"
#include "tests/oracle/cross.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32u
#define FILL 0xcdu
#define STACK_BYTES 16384u
#define UNIT_SECONDS 40u
#define MINIMISE_TRIES 80u

enum state { WAITING, DONE, REFUSED, FAILS };

/* One line: a form or a program. */
struct unit {
	char *name;
	u32 form, row; /* of a program: ISA_ROWS, or the row that it is about */
	u64 seed;
	u32 expected;
	bool has_expected;
};

struct result {
	u32 state, digest, code;
};

struct options {
	const char *library, *other, *only, *expected, *dump, *examine, *print;
	u32 limit, jobs, seconds;
	u64 programs, for_row, seed;
};

static struct {
	struct options o;
	struct formgen_list forms;
	VEC(struct unit) units;
	struct result *results; /* shared by the processes */
	u64 *next;              /* of each process: the unit that comes next */
	struct cross_driver cu, other;
	u32 differ, fail, compared;
	time_t started;
} all;

static u32 digest_of(const u64 *words, size_t n)
{
	u64 d = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		d = (d ^ words[i]) * 0x9fb21c651e98df25u, d ^= d >> 29;
	return (u32)(d ^ d >> 32);
}

/* ---- what differs ---- */

static void dump_path(char *path, size_t size, const char *dir, const struct unit *u)
{
	snprintf(path, size, "%s/%016llx", dir, (unsigned long long)formgen_hash(u->name));
}

static bool differs(const struct unit *u, const struct result *r)
{
	return u->has_expected && u->expected != r->digest;
}

static void dump(const struct unit *u, const void *data, size_t bytes)
{
	char path[4096];
	FILE *f;

	dump_path(path, sizeof(path), all.o.dump, u);
	f = fopen(path, "wb");
	if (!f)
		return;
	fwrite(data, 1, bytes, f);
	fclose(f);
}

/* ---- forms ---- */

struct batch {
	struct unit *unit[BATCH];
	struct formgen_kernel kernel[BATCH];
	u32 n, ins, outs;
	struct text ptx;
};

static void show_thread(const struct formgen_kernel *k, u32 variant, u32 thread, const u64 *in,
			const u64 *want, const u64 *got)
{
	printf("    thread %u:", thread);
	for (u32 i = 0; i < k->ins; i++)
		printf(" %llx", (unsigned long long)in[(size_t)i * FORMGEN_THREADS + thread]);
	printf(" ->");
	for (u32 i = k->first_out[variant]; i < k->first_out[variant + 1]; i++)
		printf(" %llx (here %llx)",
		       (unsigned long long)want[(size_t)i * FORMGEN_THREADS + thread],
		       (unsigned long long)got[(size_t)i * FORMGEN_THREADS + thread]);
	printf("\n");
}

/* Compare with the results of another machine, word by word. */
static void examine(const struct unit *u, const struct formgen_kernel *k, const u64 *in,
		    const u64 *got)
{
	size_t words = (size_t)k->outs * FORMGEN_THREADS;
	u64 *want = malloc(words * 8);
	char path[4096];
	FILE *f;

	dump_path(path, sizeof(path), all.o.examine, u);
	f = fopen(path, "rb");
	if (!f || !want || fread(want, 8, words, f) != words)
		words = 0;
	for (u32 v = 0; words && v < FORMGEN_VARIANTS; v++) {
		u32 bad = 0;

		for (u32 t = 0; t < FORMGEN_THREADS; t++) {
			bool same = true;

			for (u32 i = k->first_out[v]; i < k->first_out[v + 1]; i++)
				same &= want[(size_t)i * FORMGEN_THREADS + t] ==
					got[(size_t)i * FORMGEN_THREADS + t];
			if (same)
				continue;
			if (!bad++)
				printf("%s variant %u\n", u->name, v);
			if (bad <= 4)
				show_thread(k, v, t, in, want, got);
		}
		if (bad)
			printf("    %u threads\n", bad);
	}
	if (f)
		fclose(f);
	free(want);
}

static void judge_form(const struct batch *b, u32 i, const u64 *in, const u64 *out)
{
	const struct formgen_kernel *k = &b->kernel[i];
	struct unit *u = b->unit[i];
	struct result *r = &all.results[u - all.units.at];

	r->digest = digest_of(out, (size_t)k->outs * FORMGEN_THREADS);
	r->state = DONE;
	if (all.o.dump && differs(u, r))
		dump(u, out, (size_t)k->outs * FORMGEN_THREADS * 8);
	if (all.o.examine)
		examine(u, k, in, out);
}

static void set_state(const struct batch *b, u32 state, int code)
{
	for (u32 i = 0; i < b->n; i++) {
		struct result *r = &all.results[b->unit[i] - all.units.at];

		r->state = state;
		r->code = (u32)code;
	}
}

static void make_batch(struct batch *b)
{
	b->ins = b->outs = 0;
	b->ptx.len = 0;
	formgen_head(&b->ptx);
	for (u32 i = 0; i < b->n;) {
		struct unit *u = b->unit[i];

		if (!formgen_kernel(&all.forms.forms.at[u->form], i, &b->kernel[i], &b->ptx)) {
			all.results[u - all.units.at].state = REFUSED;
			b->unit[i] = b->unit[--b->n];
			continue;
		}
		b->ins += b->kernel[i].ins;
		b->outs += b->kernel[i++].outs;
	}
}

/* Launch all kernels, each on memory of its own. Returns a CUresult. */
static int run_kernels(const struct batch *b, void *module, u64 in_at, u64 out_at)
{
	u8 bytes[FORMGEN_PARAM_BYTES];
	int code = 0;

	for (u32 i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)(i * 37 + 11);
	for (u32 i = 0; i < b->n && !code; i++) {
		void *args[] = {&in_at, &out_at, bytes}, *function = NULL;
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		code = all.cu.function(&function, module, name);
		if (!code)
			code = all.cu.launch(function, FORMGEN_THREADS / FORMGEN_BLOCK, 1u, 1u,
					     FORMGEN_BLOCK, 1u, 1u, 0u, NULL, args, NULL);
		in_at += (u64)b->kernel[i].ins * FORMGEN_THREADS * 8;
		out_at += (u64)b->kernel[i].outs * FORMGEN_THREADS * 8;
	}
	return code ? code : all.cu.sync();
}

/* Returns false when the context is lost. */
static bool run_batch(struct batch *b)
{
	size_t line = (size_t)FORMGEN_THREADS * 8, in_len = b->ins * line, out_len = b->outs * line;
	u64 *in = malloc(in_len + 8), *out = malloc(out_len + 8), in_at = 0, out_at = 0;
	void *module = NULL;
	int code = all.cu.load(&module, b->ptx.at);

	if (code) {
		set_state(b, REFUSED, code);
		goto out;
	}
	for (u32 i = 0, at = 0; i < b->n; at += b->kernel[i++].ins)
		formgen_inputs(&all.forms.forms.at[b->unit[i]->form], &b->kernel[i],
			       in + (size_t)at * FORMGEN_THREADS);
	code = all.cu.alloc(&in_at, in_len + 8);
	code = code ? code : all.cu.alloc(&out_at, out_len + 8);
	code = code ? code : all.cu.to_device(in_at, in, in_len);
	code = code ? code : all.cu.fill(out_at, FILL, out_len);
	code = code ? code : run_kernels(b, module, in_at, out_at);
	code = code ? code : all.cu.to_host(out, out_at, out_len);
	if (code)
		set_state(b, FAILS, code);
	for (u32 i = 0, at = 0, from = 0; i < b->n && !code; i++) {
		judge_form(b, i, in + (size_t)from * FORMGEN_THREADS,
			   out + (size_t)at * FORMGEN_THREADS);
		at += b->kernel[i].outs;
		from += b->kernel[i].ins;
	}
	all.cu.free(in_at);
	all.cu.free(out_at);
	all.cu.unload(module);
out:
	free(in);
	free(out);
	return !code || all.results[b->unit[0] - all.units.at].state == REFUSED;
}

static void write_text(u64 number, const char *ptx)
{
	char path[4096];
	FILE *f;

	if (!all.o.print || !ptx)
		return;
	snprintf(path, sizeof(path), "%s/%llu.ptx", all.o.print, (unsigned long long)number);
	f = fopen(path, "w");
	if (f) {
		fputs(ptx, f);
		fclose(f);
	}
}

/* One module that is refused is asked again form by form. */
static bool run_forms(u64 first, u64 n)
{
	struct batch b = {0};
	bool alive;

	for (u64 i = first; i < first + n; i++)
		b.unit[b.n++] = &all.units.at[i];
	make_batch(&b);
	if (b.n)
		write_text(first, b.ptx.at);
	alive = !b.n || run_batch(&b);
	for (u32 i = 0; alive && b.n > 1 && i < b.n; i++) {
		struct batch one = {.n = 1, .unit = {b.unit[i]}};

		if (all.results[b.unit[i] - all.units.at].state != REFUSED)
			continue;
		make_batch(&one);
		alive = !one.n || run_batch(&one);
		text_fini(&one.ptx);
	}
	text_fini(&b.ptx);
	return alive;
}

/* ---- programs ---- */

/*
 * Not instructions whose answers are addresses or depend on what else there is, memory that is
 * given up, policies that must be made first, products and sums that a compiler may join.
 */
static bool is_portable(void *user, const struct isa_form *form)
{
	static const u16 rows[] = {I_mov_address, I_cvta,        I_cvta_symbol,  I_cvta_to,
				   I_mapa,        I_mapa_shared, I_mapa_symbol,  I_isspacep,
				   I_isspacep_32, I_mov_pack_1,  I_mov_unpack_1, I_cvt_pack,
				   I_cvt_pack_16};
	const char *name = form->row->name[form->name];

	(void)user;
	for (u32 i = 0; i < ARRAY_LEN(rows); i++)
		if (form->row->row == rows[i])
			return false;
	if (!strcmp(name, "discard") ||
	    (isa_form_has(form, M_v8) && form->row->chapter == ISA_CH_ld_st) ||
	    isa_form_has(form, M_L2_cache_hint))
		return false;
	if (form->row->chapter == ISA_CH_float || form->row->chapter == ISA_CH_half)
		return (strcmp(name, "add") != 0 && strcmp(name, "sub") != 0 &&
			strcmp(name, "mul") != 0) ||
		       isa_form_word(form, ISA_K_ROUND, 0) != ISA_NONE;
	return true;
}

static void on_error(void *user, const struct diag_message *m)
{
	u32 *line = user;

	if (m->level == DIAG_ERROR && !*line)
		*line = m->line;
}

/* Rules between operands are not in the table: leave out the lines that break one. */
static char *valid_text(const struct progen *p, u8 *off)
{
	static const struct ptx_options options = {.lint = true};
	char *text = NULL;

	for (u32 tries = 0; tries < 400; tries++) {
		struct diag_source source = {.name = "program"};
		struct ir_module *m;
		struct diag d;
		u32 line = 0, i;

		text = progen_text(p, off);
		source.text = text;
		source.size = strlen(text);
		diag_init(&d, on_error, &line);
		m = ptx_parse(&source, &options, &d);
		diag_fini(&d);
		ir_module_free(m);
		if (m)
			break;
		i = progen_line_at(p, off, line);
		free(text);
		text = NULL;
		if (i == UINT32_MAX)
			break;
		off[i] = 1;
	}
	return text;
}

static size_t out_bytes(const struct progen *p)
{
	return (size_t)PROGEN_OUT * p->grid * p->block + PROGEN_COMMON;
}

static int run_program(const struct cross_driver *cu, const struct progen *p, const char *text,
		       u8 *in, u8 *out)
{
	struct {
		u64 in, out, common;
		_Alignas(16) u8 data[PROGEN_DATA];
	} a = {0};
	size_t in_len = (size_t)PROGEN_IN * p->grid * p->block, out_len = out_bytes(p);
	void *module = NULL, *function = NULL, *args[] = {&a.in, &a.out, &a.common, a.data};
	int code = cu->load(&module, text);

	if (code)
		return -code;
	progen_input(p, in);
	memcpy(a.data, in, sizeof(a.data));
	code = cu->alloc(&a.in, in_len);
	code = code ? code : cu->alloc(&a.out, out_len);
	a.common = a.out + out_len - PROGEN_COMMON;
	code = code ? code : cu->to_device(a.in, in, in_len);
	code = code ? code : cu->fill(a.out, FILL, out_len);
	code = code ? code : cu->function(&function, module, "k");
	code = code ? code
		    : cu->launch(function, p->grid, 1u, 1u, p->block, 1u, 1u, 0u, NULL, args, NULL);
	code = code ? code : cu->sync();
	code = code ? code : cu->to_host(out, a.out, out_len);
	cu->free(a.in);
	cu->free(a.out);
	cu->unload(module);
	return code;
}

static void examine_program(const struct unit *u, const u8 *out, size_t bytes)
{
	u8 *want = malloc(bytes);
	char path[4096];
	u32 bad = 0;
	FILE *f;

	dump_path(path, sizeof(path), all.o.examine, u);
	f = fopen(path, "rb");
	if (!f || !want || fread(want, 1, bytes, f) != bytes)
		bytes = 0;
	for (size_t i = 0; i < bytes; i += 8)
		if (memcmp(want + i, out + i, 8) && bad++ < 8) {
			u64 x, y;

			memcpy(&x, want + i, 8);
			memcpy(&y, out + i, 8);
			printf("%s thread %zu word %zu: %llx (here %llx)\n", u->name,
			       i / PROGEN_OUT, i % PROGEN_OUT / 8, (unsigned long long)x,
			       (unsigned long long)y);
		}
	if (bad)
		printf("    %u words\n", bad);
	if (f)
		fclose(f);
	free(want);
}

/* Both devices on the text without the lines that are off; prints the first difference to *why. */
static bool both_differ(const struct progen *p, const u8 *off, u8 *in, u8 *out, char why[200])
{
	char *text = progen_text(p, off);
	u8 *other = malloc(out_bytes(p));
	bool differ = false;

	alarm(UNIT_SECONDS);
	if (text && other && !run_program(&all.other, p, text, in, other) &&
	    !run_program(&all.cu, p, text, in, out))
		for (size_t i = 0; i < out_bytes(p) && !differ; i += 8)
			if (memcmp(out + i, other + i, 8)) {
				u64 x, y;

				memcpy(&x, out + i, 8);
				memcpy(&y, other + i, 8);
				snprintf(why, 200, "thread %zu word %zu: %llx, the other has %llx",
					 i / PROGEN_OUT, i % PROGEN_OUT / 8, (unsigned long long)x,
					 (unsigned long long)y);
				differ = true;
			}
	free(text);
	free(other);
	return differ;
}

/* Leave out what the difference between the two devices does not need. */
static void minimise(const struct unit *u, const struct progen *p, u8 *off, u8 *in, u8 *out)
{
	u32 n = (u32)p->lines.len, tries = 0;
	u8 *keep = malloc(n);
	char why[200] = "";

	if (!keep || !both_differ(p, off, in, out, why)) {
		free(keep);
		return;
	}
	for (u32 size = 16; size; size /= 2)
		for (u32 i = 0; i < n && tries < MINIMISE_TRIES; i += size) {
			bool changed = false;

			memcpy(keep, off, n);
			for (u32 k = i; k < i + size && k < n; k++)
				if (!off[k] && (p->lines.at[k].kind == PROGEN_TEXT ||
						p->lines.at[k].kind == PROGEN_OPEN))
					off[k] = changed = true;
			tries += changed;
			if (changed && !both_differ(p, off, in, out, why))
				memcpy(off, keep, n);
		}
	both_differ(p, off, in, out, why);
	printf("%s\t%s\n", u->name, why);
	for (u32 i = 0; i < n; i++)
		if (!off[i] && p->lines.at[i].kind != PROGEN_FIXED)
			printf("\t%s\n", p->lines.at[i].text);
	fflush(stdout);
	free(keep);
}

static bool run_seed(struct unit *u)
{
	struct result *r = &all.results[u - all.units.at];
	struct progen p;
	char *text;
	int code = -1;
	u8 *in, *out, *off;

	progen_init(&p, u->seed, PROGEN_HARDWARE | PROGEN_FOCUS(u->row), is_portable, NULL);
	in = malloc((size_t)PROGEN_IN * p.grid * p.block);
	out = malloc(out_bytes(&p));
	off = calloc(p.lines.len, 1);
	text = off ? valid_text(&p, off) : NULL;
	write_text((u64)(u - all.units.at), text);
	if (text && in && out)
		code = run_program(&all.cu, &p, text, in, out);
	r->state = code < 0 ? REFUSED : code ? FAILS : DONE;
	r->code = (u32)(code < 0 ? -code : code);
	if (!code)
		r->digest = digest_of((const u64 *)(const void *)out, out_bytes(&p) / 8);
	if (!code && all.o.dump && differs(u, r))
		dump(u, out, out_bytes(&p));
	if (!code && all.o.examine)
		examine_program(u, out, out_bytes(&p));
	if (!code && all.o.other && differs(u, r))
		minimise(u, &p, off, in, out);
	free(text);
	free(in);
	free(out);
	free(off);
	progen_fini(&p);
	return code <= 0;
}

/* ---- processes ---- */

static bool is_late(void)
{
	return all.o.seconds && time(NULL) >= all.started + all.o.seconds;
}

static void work(u32 job)
{
	u64 n = all.units.len, step = all.o.programs ? 1 : BATCH;

	if (!cross_open(&all.cu, all.o.library) ||
	    all.cu.limit(0, (size_t)STACK_BYTES)) /* CU_LIMIT_STACK_SIZE */
		_exit(77);
	if (all.o.other &&
	    (!cross_open(&all.other, all.o.other) || all.other.limit(0, (size_t)STACK_BYTES)))
		_exit(77);
	while (all.next[job] < n && !is_late()) {
		u64 at = all.next[job], len = n - at < step ? n - at : step;

		/* A crash, or one that does not end, costs these. */
		alarm(UNIT_SECONDS);
		all.next[job] += step * all.o.jobs;
		if (all.o.programs ? !run_seed(&all.units.at[at]) : !run_forms(at, len)) {
			fflush(stdout);
			_exit(3);
		}
	}
	fflush(stdout);
	_exit(0);
}

static pid_t start(u32 job)
{
	pid_t pid = fork();

	if (!pid)
		work(job);
	return pid;
}

/* A process that lost its context, or crashed, is followed by another. */
static bool run_all(void)
{
	pid_t *pids = calloc(all.o.jobs, sizeof(*pids));
	bool ok = pids != NULL;
	u32 left = 0;

	fflush(stdout);
	for (u32 i = 0; ok && i < all.o.jobs; i++, left++)
		pids[i] = start(i);
	while (left) {
		int status = 0;
		pid_t pid = wait(&status);
		u32 job = 0;

		while (job < all.o.jobs && pids[job] != pid)
			job++;
		if (job == all.o.jobs)
			break;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			ok = false;
		if (ok && !(WIFEXITED(status) && !WEXITSTATUS(status)) &&
		    all.next[job] < all.units.len && !is_late())
			pids[job] = start(job);
		else
			left--;
	}
	free(pids);
	return ok;
}

/* ---- lines ---- */

static void add_unit(const struct unit *unit)
{
	if (!all.o.only || strstr(unit->name, all.o.only))
		VEC_PUSH(&all.units, *unit);
}

static void list_units(void)
{
	struct text t = {0};

	for (u32 i = 0; !all.o.programs && i < all.forms.forms.len; i++)
		add_unit(&(struct unit){.name = strdup(all.forms.forms.at[i].name), .form = i});
	for (u64 i = 0; i < all.o.programs && all.o.programs != UINT64_MAX; i++) {
		t.len = 0;
		text_printf(&t, "program %llu", (unsigned long long)(all.o.seed + i));
		add_unit(&(struct unit){
			.name = strdup(t.at), .row = ISA_ROWS, .seed = all.o.seed + i});
	}
	for (u32 row = 0; row < ISA_ROWS && all.o.for_row; row++) {
		enum progen_class class = progen_class_of(isa_row(row));

		if (class != PROGEN_MEMORY && class != PROGEN_TOGETHER)
			continue;
		for (u64 i = 0; i < all.o.for_row; i++) {
			t.len = 0;
			text_printf(&t, "%s %llu", isa_row(row)->id,
				    (unsigned long long)(all.o.seed + i));
			add_unit(&(struct unit){
				.name = strdup(t.at), .row = row, .seed = all.o.seed + i});
		}
	}
	text_fini(&t);
}

static int by_name(const void *a, const void *b)
{
	const struct unit *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/*
 * The forms of the file alone: which ones a list of limited length has changes when rows get more
 * modifiers.
 */
static bool list_expected(void)
{
	char line[4096], *tab;
	FILE *f = fopen(all.o.expected, "r");

	if (!f) {
		fprintf(stderr, "form_cross: cannot read %s\n", all.o.expected);
		return false;
	}
	while (fgets(line, sizeof(line), f)) {
		tab = strchr(line, '\t');
		if (tab)
			*tab = 0;
		if (tab)
			formgen_list_add(&all.forms, line);
	}
	fclose(f);
	return true;
}

static bool read_expected(void)
{
	struct unit **sorted = malloc(all.units.len * sizeof(*sorted));
	FILE *f = fopen(all.o.expected, "r");
	char line[512];

	for (size_t i = 0; sorted && i < all.units.len; i++)
		sorted[i] = &all.units.at[i];
	if (sorted)
		qsort(sorted, all.units.len, sizeof(*sorted), by_name);
	while (f && sorted && fgets(line, sizeof(line), f)) {
		char *tab = strchr(line, '\t');
		struct unit key = {.name = line}, *at = &key, **found;

		if (!tab)
			continue;
		*tab++ = 0;
		found = bsearch(&at, sorted, all.units.len, sizeof(*sorted), by_name);
		if (!found)
			continue;
		(*found)->has_expected = true;
		(*found)->expected = (u32)strtoul(tab, NULL, 16);
	}
	if (f)
		fclose(f);
	free(sorted);
	return f != NULL;
}

static void print_unit(const struct unit *u, const struct result *r)
{
	bool differ = r->state == DONE && differs(u, r);

	all.differ += differ;
	all.compared += r->state == DONE && u->has_expected;
	all.fail += r->state != DONE;
	if (r->state == WAITING && all.o.seconds)
		return;
	if (all.o.examine || (all.o.expected && r->state == DONE && !differ))
		return;
	printf("%s\t", u->name);
	if (r->state == DONE)
		printf("%08x", r->digest);
	else
		printf("%s %u",
		       r->state == REFUSED ? "refused"
		       : r->state == FAILS ? "fails"
					   : "lost",
		       r->code);
	printf("\n");
}

static bool parse(int argc, char **argv)
{
	struct options *o = &all.o;
	int c;

	*o = (struct options){.limit = 2000, .jobs = 1, .seed = 1};
	while ((c = getopt(argc, argv, "l:f:p:r:s:j:w:d:x:P:m:T:")) != -1)
		switch (c) {
		case 'l':
			o->limit = (u32)strtoul(optarg, NULL, 10);
			break;
		case 'f':
			o->only = optarg;
			break;
		case 'p':
			o->programs = strtoull(optarg, NULL, 10);
			break;
		case 'r':
			o->for_row = strtoull(optarg, NULL, 10);
			break;
		case 's':
			o->seed = strtoull(optarg, NULL, 10);
			break;
		case 'j':
			o->jobs = (u32)strtoul(optarg, NULL, 10);
			break;
		case 'w':
			o->expected = optarg;
			break;
		case 'd':
			o->dump = optarg;
			break;
		case 'T':
			o->seconds = (u32)strtoul(optarg, NULL, 10);
			break;
		case 'm':
			o->other = optarg;
			break;
		case 'x':
			o->examine = optarg;
			break;
		case 'P':
			o->print = optarg;
			break;
		default:
			return false;
		}
	if (o->for_row && !o->programs)
		o->programs = UINT64_MAX;
	o->library = optind < argc ? argv[optind] : NULL;
	return o->library && o->jobs;
}

int main(int argc, char **argv)
{
	bool ok;

	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: form_cross LIBCUDA [options]\n");
		return 2;
	}
	if (all.o.expected && !list_expected())
		return 2;
	if (!all.o.programs && !all.o.expected)
		formgen_list_init(&all.forms, all.o.limit);
	list_units();
	all.results = mmap(NULL, all.units.len * sizeof(struct result) + 4096,
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	all.next = mmap(NULL, all.o.jobs * sizeof(u64), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all.results == MAP_FAILED || all.next == MAP_FAILED)
		return 2;
	for (u32 i = 0; i < all.o.jobs; i++)
		all.next[i] = (u64)i * (all.o.programs ? 1 : BATCH);
	if (all.o.expected && !read_expected())
		return 2;
	all.started = time(NULL);
	ok = run_all();
	if (!ok)
		fprintf(stderr, "form_cross: no device\n");
	for (size_t i = 0; ok && i < all.units.len; i++)
		print_unit(&all.units.at[i], &all.results[i]);
	fprintf(stderr, "%zu lines, %u without a result, %u differ, %u compared\n", all.units.len,
		all.fail, all.differ, all.compared);
	return !ok ? 77 : all.fail || all.differ ? 1 : 0;
}
