/*
 * Runs the cases of a conformance suite on the gang engine, without a driver API, and compares
 * every byte.
 *
 *   run_suite DIR [-f FAMILY[,FAMILY]] [-c TEXT] [-t SECONDS] [-v] [--level LEVEL]
 *
 * DIR holds manifest.tsv (one case a line), inputs.bin, want.bin, want.tsv and ptx/. Kernels take
 * (u64 in, u64 out, u32 n), and a tensor map and its tensor, or the handle of a texture or surface,
 * where the manifest describes them; output memory is filled with 0xCD first, so bytes that must
 * not be touched are checked too.
 * -c: only cases whose id contains TEXT. -v: for each case that fails, why, with the first records
 * that differ. Prints one line per family.
 *
 * Cases run in a child process: a crash or an endless loop costs one case. Exit status 0: all cases
 * are exact.
 */
#include "src/base/leave.h"
#include "src/lower/lower.h"
#include "src/base/file.h"
#include "src/async/tensor.h"
#include "tests/oracle/suite_image.h"
#include "tests/unit/async/tensor_words.h"
#include "tests/unit/exec_harness.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIELDS 20
#define MORE_FIELDS 24
#define FILL 0xcd

enum {
	F_ID,
	F_SPLIT,
	F_FAMILY,
	F_FORM,
	F_ARCH,
	F_MODULE,
	F_ENTRY,
	F_GRID,
	F_BLOCK = 10,
	F_DYNAMIC = 13,
	F_N,
	F_IN,
	F_IN_LEN,
	F_OUT_LEN,
	F_CMP,
	F_STRIDE,
	F_LAYOUT,
	F_DATA,
	F_DATA_LEN,
	F_RES
};

enum state { WAITING, RUNNING, EXACT, DIFFERS, FAILED, TIMEOUT, CRASHED, STATES };

static const char *const state_names[STATES] = {"not run", "crash",   "exact", "differs",
						"fails",   "timeout", "crash"};

struct test_case {
	char *field[MORE_FIELDS];
	u32 grid[3], block[3], dynamic, n;
	size_t in, in_len, want, out_len;
};

struct suite {
	const char *dir, *families, *text, *level;
	u32 seconds;
	bool verbose;
	struct file inputs, want;
	struct test_case *cases;
	u32 len, cap;
	u8 *state; /* shared with the child */
};

static char *read_text(const char *dir, const char *name)
{
	char path[4096];
	struct file f;
	char *s;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!file_open(&f, path))
		return NULL;
	s = malloc(f.size + 1);
	if (s) {
		memcpy(s, f.data, f.size);
		s[f.size] = 0;
	}
	file_close(&f);
	return s;
}

static u32 split_line(char *line, char **field, u32 max)
{
	u32 n = 0;

	while (n < max) {
		field[n++] = line;
		line = strchr(line, '\t');
		if (!line)
			break;
		*line++ = 0;
	}
	return n;
}

/* Is `name` in a list divided by commas? No list: everything is. */
static bool in_list(const char *list, const char *name)
{
	size_t n = strlen(name);

	if (!list)
		return true;
	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, n) && (!p[n] || p[n] == ','))
			return true;
	return false;
}

static void add_case(struct suite *s, char **field, size_t want)
{
	struct test_case *c;

	if (s->len == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->cases = realloc(s->cases, s->cap * sizeof(*s->cases));
		if (!s->cases)
			exit(2);
	}
	c = &s->cases[s->len++];
	*c = (struct test_case){.want = want};
	memcpy(c->field, field, sizeof(c->field));
	for (u32 i = 0; i < 3; i++) {
		c->grid[i] = (u32)strtoul(field[F_GRID + i], NULL, 10);
		c->block[i] = (u32)strtoul(field[F_BLOCK + i], NULL, 10);
	}
	if (c->field[F_RES] && !strcmp(c->field[F_RES], "-")) /* no tensor */
		c->field[F_RES] = NULL;
	c->dynamic = (u32)strtoul(field[F_DYNAMIC], NULL, 10);
	c->n = (u32)strtoul(field[F_N], NULL, 10);
	c->in = strtoul(field[F_IN], NULL, 10);
	c->in_len = strtoul(field[F_IN_LEN], NULL, 10);
	c->out_len = strtoul(field[F_OUT_LEN], NULL, 10);
}

/* Lines of manifest.tsv and want.tsv go together one by one. */
static bool load(struct suite *s)
{
	char *manifest = read_text(s->dir, "manifest.tsv"), *wanted = read_text(s->dir, "want.tsv");
	char *more = NULL, *more_wanted = NULL, path[4096];

	snprintf(path, sizeof(path), "%s/inputs.bin", s->dir);
	if (!manifest || !wanted || !file_open(&s->inputs, path))
		return false;
	snprintf(path, sizeof(path), "%s/want.bin", s->dir);
	if (!file_open(&s->want, path))
		return false;
	for (char *line = strtok_r(manifest, "\n", &more); line;
	     line = strtok_r(NULL, "\n", &more)) {
		char *field[MORE_FIELDS] = {NULL}, *w, *want[4];

		if (*line == '#')
			continue;
		w = strtok_r(more_wanted ? NULL : wanted, "\n", &more_wanted);
		if (split_line(line, field, MORE_FIELDS) < FIELDS || !w ||
		    split_line(w, want, 4) < 4 || strcmp(field[F_ID], want[0])) {
			fprintf(stderr,
				"run_suite: manifest.tsv and want.tsv do not go together at %s\n",
				field[F_ID]);
			return false;
		}
		if (in_list(s->families, field[F_FAMILY]) &&
		    (!s->text || strstr(field[F_ID], s->text)))
			add_case(s, field, strtoul(want[2], NULL, 10));
	}
	return true;
}

/* ---- running one case ---- */

static void print_fault(const struct harness *h, const struct program *p)
{
	const struct fault *f = &h->fault;
	struct text t = {NULL, 0, 0, false};

	if (f->pc < p->uops) {
		const struct program_func *pf = &p->funcs[p->uop[f->pc].func];

		ir_print_insn(pf->module, pf->func, &pf->func->insns.at[p->uop[f->pc].ir], &t);
	}
	printf("    fault %d at record %u, lanes %08x, address 0x%llx: %s\n", (int)f->kind, f->pc,
	       f->lanes, (unsigned long long)f->address, t.at ? t.at : "");
	text_fini(&t);
}

static bool run_kernel(struct harness *h, const struct suite *s, const struct test_case *c,
		       const void *params, const struct tex_table *textures)
{
	u32 threads = c->block[0] * c->block[1] * c->block[2];
	struct lower_options options = {.warps = (threads + 31) / 32};
	const struct ir_func *f = ir_find_func(h->m, c->field[F_ENTRY]);
	u32 padded = (u32)align_up(threads, 256), *tid = calloc((size_t)3 * padded, sizeof(u32));
	struct program *p =
		f ? exec_lower(h->m, f, arch_find("h200"), h->var_address, &options, &h->d) : NULL;
	bool ok;

	if (!p || !tid) {
		printf("    cannot be lowered: %s\n", h->messages.at ? h->messages.at
						      : f            ? ""
								     : "no such kernel");
		free(tid);
		return false;
	}
	h->env = (struct exec_env){
		.program = p,
		.ops = exec_ops_select(s->level),
		.mem = &h->mem,
		.params = params,
		.grid = {c->grid[0], c->grid[1], c->grid[2]},
		.block = {c->block[0], c->block[1], c->block[2]},
		.shared_bytes = p->shared_static + c->dynamic,
		.dynamic_shared = c->dynamic,
		.cluster = {1, 1, 1},
		.local_bytes = p->frame_bytes + 65536,
		.cancel = &h->cancel,
		.tid = tid,
		.param_address = (u64)(uintptr_t)params,
		.textures = textures,
	};
	/* As exec.h has it: three rows of warps * 32. */
	for (u32 i = 0, row = (threads + 31) / 32 * 32; i < threads; i++) {
		tid[i] = i % c->block[0];
		tid[row + i] = i / c->block[0] % c->block[1];
		tid[2 * row + i] = i / c->block[0] / c->block[1];
	}
	memset(&h->fault, 0, sizeof(h->fault));
	harness_cluster_dims(h, f);
	ok = harness_grid(h, 10000, 0) == STOP_DONE;
	if (!ok && s->verbose)
		print_fault(h, p);
	free(tid);
	exec_program_free(p);
	return ok;
}

static void print_hex(const u8 *at, size_t n)
{
	for (size_t i = n; i-- > 0;)
		printf("%02x%s", at[i], i % 4 || !i ? "" : "_");
}

/*
 * The first records that differ. `stride` is input bytes : output bytes : element bytes of a
 * record.
 */
static void print_differences(const struct suite *s, const struct test_case *c, const u8 *got)
{
	const u8 *want = s->want.data + c->want, *in = s->inputs.data + c->in;
	u32 in_step = 0, step = 0, shown = 0, wrong = 0;

	if (sscanf(c->field[F_STRIDE], "%u:%u", &in_step, &step) < 2 || !step || step > 64)
		step = 4;
	for (size_t at = 0; at + step <= c->out_len; at += step) {
		size_t i = at / step;

		if (!memcmp(got + at, want + at, step))
			continue;
		wrong++;
		if (shown++ >= 3)
			continue;
		printf("    record %zu: got ", i);
		print_hex(got + at, step);
		printf(" want ");
		print_hex(want + at, step);
		if (in_step && in_step <= 64 && (i + 1) * in_step <= c->in_len) {
			printf(" from ");
			print_hex(in + i * in_step, in_step);
		}
		printf("\n");
	}
	printf("    %u of %zu records differ\n", wrong, c->out_len / step);
}

/* ---- tensor maps: words `key=value` of the last column ---- */

static bool make_map(struct tensor_map *m, const char *words, u64 address)
{
	struct tensor_shape s = tensor_of_words(words);

	s.address = address;
	return tensor_encode(m, &s);
}

/* Kernel parameters: what follows n is there for tensor cases. */
struct params {
	u64 in, out;
	u32 n;
	u8 map[TENSOR_MAP_BYTES] __attribute__((aligned(64)));
	u64 data;
} __attribute__((aligned(64)));

#define TENSOR_BUFFER ((u64)1 << 20)
#define MAP_IN_BUFFER (768u << 10)
#define IMAGE_PARAM 24u /* offset of a handle behind n */

/* The tensor's buffer, with its map in it. */
static bool place_tensor(struct harness *h, const struct suite *s, const struct test_case *c,
			 struct params *p)
{
	size_t len = strtoul(c->field[F_DATA_LEN], NULL, 10);

	p->data = mem_alloc(&h->mem, TENSOR_BUFFER + len, 0, MEM_KIND_DEVICE);
	if (!p->data || !make_map((struct tensor_map *)(void *)p->map, c->field[F_RES],
				  p->data + strtoul(word_get(c->field[F_RES], "base"), NULL, 10)))
		return false;
	memcpy((u8 *)(uintptr_t)p->data, s->inputs.data + strtoul(c->field[F_DATA], NULL, 10), len);
	memcpy((u8 *)(uintptr_t)p->data + MAP_IN_BUFFER, p->map, TENSOR_MAP_BYTES);
	return true;
}

/* A tensor or image that was written to stands behind the output. */
static void append_result(const struct test_case *c, const struct params *p,
			  const struct suite_image *im, u8 *out)
{
	size_t len = strtoul(c->field[F_DATA_LEN], NULL, 10);

	if (*word_get(c->field[F_RES], "back") != '1')
		return;
	if (im->array || im->mipmap)
		image_copy(im, out + c->out_len - len, true);
	else
		memcpy(out + c->out_len - len,
		       (const u8 *)(uintptr_t)(im->memory ? im->memory : p->data), len);
}

static bool is_image(const struct test_case *c)
{
	return c->field[F_RES] && *word_get(c->field[F_RES], "obj") != '0';
}

/* The handle takes the place of the map. */
static bool place_image(struct suite_image *im, const struct suite *s, const struct test_case *c,
			struct params *p)
{
	bool ok = image_build(im, c->field[F_RES], arch_find("h200"),
			      s->inputs.data + strtoul(c->field[F_DATA], NULL, 10),
			      strtoul(c->field[F_DATA_LEN], NULL, 10));

	memcpy((u8 *)p + IMAGE_PARAM, &im->handle, 8);
	return ok;
}

static enum state judge(const struct suite *s, const struct test_case *c, const u8 *out)
{
	enum state state = memcmp(out, s->want.data + c->want, c->out_len) ? DIFFERS : EXACT;

	if (s->verbose && state != EXACT)
		printf("%s: %s\n", c->field[F_ID], state_names[state]);
	if (s->verbose && state == DIFFERS)
		print_differences(s, c, out);
	fflush(stdout);
	return state;
}

/* Cases whose output is what the calls answer; in a memory as large as the device's. */
static enum state run_codes(const struct suite *s, const struct test_case *c)
{
	static struct mem mem;
	const struct arch *arch = arch_find("h200");
	struct suite_image im = {.mem = &mem};

	if (*word_get(c->field[F_RES], "obj") == '0')
		return FAILED;
	if (!mem.arena && !mem_init(&mem, arch->memory_bytes))
		return FAILED;
	im.store = texture_store_new(&mem, arch);
	image_build(&im, c->field[F_RES], arch, NULL, 65536);
	image_free(&im);
	texture_store_free(im.store);
	return judge(s, c, (const u8 *)im.codes);
}

static enum state run_case(struct harness *h, const struct suite *s, const struct test_case *c)
{
	struct params *params =
		(struct params *)(uintptr_t)mem_alloc(&h->mem, sizeof(*params), 0, MEM_KIND_PARAM);
	struct suite_image im = {.mem = &h->mem};
	enum state state = FAILED;
	bool ok;
	u8 *out;

	if (!params)
		return FAILED;
	params->in = mem_alloc(&h->mem, c->in_len ? c->in_len : 1, 0, MEM_KIND_DEVICE);
	params->out = mem_alloc(&h->mem, c->out_len, 0, MEM_KIND_DEVICE);
	params->n = c->n;
	im.store = texture_store_new(&h->mem, arch_find("h200"));
	if (!params->in || !params->out || !im.store)
		return FAILED;
	ok = is_image(c) ? place_image(&im, s, c, params)
			 : !c->field[F_RES] || place_tensor(h, s, c, params);
	out = (u8 *)(uintptr_t)params->out;
	memcpy((void *)(uintptr_t)params->in, s->inputs.data + c->in, c->in_len);
	memset(out, FILL, c->out_len);
	if (ok && run_kernel(h, s, c, params, texture_table(im.store))) {
		if (c->field[F_RES])
			append_result(c, params, &im, out);
		state = judge(s, c, out);
	} else if (s->verbose) {
		printf("%s: %s\n", c->field[F_ID], state_names[state]);
	}
	fflush(stdout);
	image_free(&im);
	texture_store_free(im.store);
	mem_free(&h->mem, params->in);
	mem_free(&h->mem, params->out);
	if (params->data)
		mem_free(&h->mem, params->data);
	mem_free(&h->mem, (u64)(uintptr_t)params);
	return state;
}

/* Run cases from `from` on, in this process; ends it. */
static void child(const struct suite *s, u32 from)
{
	struct harness h;
	const char *module = "";
	char *ptx = NULL;
	bool open = false;

	for (u32 i = from; i < s->len; i++) {
		const struct test_case *c = &s->cases[i];

		if (s->state[i] != WAITING)
			continue;
		s->state[i] = RUNNING;
		alarm(20 * s->seconds);
		if (c->field[F_RES] && *word_get(c->field[F_RES], "ret") == '1') {
			s->state[i] = (u8)run_codes(s, c);
			continue;
		}
		if (strcmp(module, c->field[F_MODULE])) {
			if (open)
				harness_close(&h);
			free(ptx);
			module = c->field[F_MODULE];
			ptx = read_text(s->dir, module);
			open = ptx && harness_open(&h, ptx);
			if (open)
				harness_place_vars(&h);
		}
		alarm(s->seconds);
		s->state[i] = (u8)(open ? run_case(&h, s, c) : FAILED);
	}
	leave(0);
}

static void run_all(struct suite *s)
{
	for (u32 next = 0; next < s->len;) {
		int status = 0;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid)
			child(s, next);
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			return;
		while (next < s->len && s->state[next] > RUNNING)
			next++;
		if (next < s->len) {
			s->state[next] = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
						 ? TIMEOUT
						 : CRASHED;
			if (s->verbose)
				printf("%s: %s\n", s->cases[next].field[F_ID],
				       state_names[s->state[next]]);
		}
	}
}

static bool print_totals(const struct suite *s)
{
	u32 all = 0;

	for (u32 i = 0; i < s->len;) {
		const char *family = s->cases[i].field[F_FAMILY];
		u32 count[STATES] = {0}, n = 0;

		for (; i < s->len && !strcmp(s->cases[i].field[F_FAMILY], family); i++, n++)
			count[s->state[i]]++;
		all += count[EXACT];
		printf("%-10s %4u of %4u exact", family, count[EXACT], n);
		for (u32 k = 0; k < STATES; k++)
			if (k != EXACT && count[k])
				printf(", %u %s", count[k], state_names[k]);
		printf("\n");
	}
	printf("%-10s %4u of %4u exact\n", "all", all, s->len);
	return all == s->len;
}

static bool parse_arguments(struct suite *s, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];

		if (!strcmp(a, "-v"))
			s->verbose = true;
		else if (!strcmp(a, "-f") && i + 1 < argc)
			s->families = argv[++i];
		else if (!strcmp(a, "-c") && i + 1 < argc)
			s->text = argv[++i];
		else if (!strcmp(a, "-t") && i + 1 < argc)
			s->seconds = (u32)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(a, "--level") && i + 1 < argc)
			s->level = argv[++i];
		else if (*a == '-' || s->dir)
			return false;
		else
			s->dir = a;
	}
	return s->dir && s->seconds;
}

int main(int argc, char **argv)
{
	struct suite s = {.seconds = 20};

	if (!parse_arguments(&s, argc, argv)) {
		fprintf(stderr,
			"usage: run_suite DIR [-f FAMILY[,FAMILY]] [-c TEXT] [-t SECONDS] [-v] [--level LEVEL]\n");
		return 2;
	}
	if (!exec_ops_select(s.level)) {
		fprintf(stderr, "run_suite: no level %s on this host\n", s.level);
		return 2;
	}
	if (!load(&s)) {
		fprintf(stderr, "run_suite: cannot read the suite in %s\n", s.dir);
		return 2;
	}
	s.state = mmap(NULL, s.len + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.state == MAP_FAILED)
		return 2;
	run_all(&s);
	return print_totals(&s) ? 0 : 1;
}
