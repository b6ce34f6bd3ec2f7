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
 *   -w FILE     compare with these lines, print those that differ; with -d DIR write their results
 *               there
 *   -x DIR      show where the results in DIR, of another machine, differ
 *   -m LIBCUDA  of programs that differ from FILE, show what is needed for it; the lines are of
 *               this one
 *   -T SECONDS  what has not begun by then is left out
 *   -P DIR      write the modules as text
 * Lines: form or program, a tab, the digest of its results. Exit status 0: all ran, and none
 * differs.
 */
#include "src/base/leave.h"
#include "grammar/parse.h"
#include "tests/oracle/form_cross.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32u
#define STACK_BYTES 16384u

struct form_cross all;

u32 cross_digest(const u64 *words, size_t n)
{
	u64 d = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		d = (d ^ words[i]) * 0x9fb21c651e98df25u, d ^= d >> 29;
	return (u32)(d ^ d >> 32);
}

/* ---- what differs ---- */

void unit_path(char *path, size_t size, const char *dir, const struct unit *u)
{
	snprintf(path, size, "%s/%016llx", dir, (unsigned long long)formgen_hash(u->name));
}

bool unit_differs(const struct unit *u, const struct result *r)
{
	return u->has_expected && u->expected != r->digest;
}

void unit_dump(const struct unit *u, const void *data, size_t bytes)
{
	char path[4096];
	FILE *f;

	unit_path(path, sizeof(path), all.o.dump, u);
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

	unit_path(path, sizeof(path), all.o.examine, u);
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

	r->digest = cross_digest(out, (size_t)k->outs * FORMGEN_THREADS);
	r->state = DONE;
	if (all.o.dump && unit_differs(u, r))
		unit_dump(u, out, (size_t)k->outs * FORMGEN_THREADS * 8);
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

void unit_print(u64 number, const char *ptx)
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
		unit_print(first, b.ptx.at);
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
		leave(77);
	if (all.o.other &&
	    (!cross_open(&all.other, all.o.other) || all.other.limit(0, (size_t)STACK_BYTES)))
		leave(77);
	while (all.next[job] < n && !is_late()) {
		u64 at = all.next[job], len = n - at < step ? n - at : step;

		/* A crash, or one that does not end, costs these. */
		alarm(UNIT_SECONDS);
		all.next[job] += step * all.o.jobs;
		if (all.o.programs ? !unit_run_program(&all.units.at[at]) : !run_forms(at, len)) {
			fflush(stdout);
			leave(3);
		}
	}
	fflush(stdout);
	leave(0);
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
	bool differ = r->state == DONE && unit_differs(u, r);

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
