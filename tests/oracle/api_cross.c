/*
 * What do the two CUDA interfaces answer? Runs scripts of calls over the libraries it is given by
 * path, a GPU's or ptxloom's, and prints one line for each call. Scripts: tests/oracle/api/ *.api,
 * where README.md explains them; what an H200 answered stands beside them.
 *
 *     api_cross [-j N] [-v] LIBCUDART LIBCUDA SCRIPT...
 *
 * Each section of a script is a process. A call that crashes or hangs is told as that, and the
 * section is run again without it, so that the rest is heard too.
 */
#include "src/base/leave.h"
#include "tests/oracle/api_script.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t u64;
typedef uint32_t u32;

enum {
	STACK_WORDS = 40,
	VARIABLES = 200,
	CRASHES = 400,
	LINE = 4096,
	MARGIN = 4096, /* bytes around what calls write to that have to stay as they are */
	PATTERN = 0xa5,
	SECONDS = 12,
	SECTION_SECONDS = 150
};

/* A call takes six words in registers and the others on the stack, as the x86-64 ABI has it. */
struct words {
	u64 word[STACK_WORDS];
};
typedef u64 function(u64, u64, u64, u64, u64, u64, struct words);

struct call {
	function *f;
	u64 in_register[6];
	struct words on_stack;
	size_t registers, words;
	u64 result;
};

struct variable {
	char name[32];
	char *bytes;
	size_t len;
	/* it holds the address of so many bytes of a device, with margins around them */
	size_t guarded;
};

/* What a section's processes leave to the one that watches over them. */
struct progress {
	int step;           /* the call under way */
	int from;           /* output begins with this step */
	int crash[CRASHES]; /* steps that are not made */
	int why[CRASHES];   /* the signal */
	int crashes;
};

struct section {
	const struct script *script;
	struct progress *progress;
	FILE *out;
	void *library[2];
	struct variable variable[VARIABLES];
	size_t variables;
	int step;
};

/* ---- variables and values ---- */

static struct variable *variable(struct section *s, const char *name, size_t len)
{
	struct variable *v;

	for (size_t i = 0; i < s->variables; i++)
		if (!strcmp(s->variable[i].name, name))
			return &s->variable[i];
	if (s->variables == VARIABLES)
		script_die("too many variables", name);
	v = &s->variable[s->variables++];
	snprintf(v->name, sizeof(v->name), "%s", name);
	v->len = len;
	if (posix_memalign((void **)&v->bytes, 4096, len + MARGIN))
		script_die("no memory", name);
	memset(v->bytes, 0, len + MARGIN);
	return v;
}

/* Split "name+off" and return the place it means; the offset is left out of `name`. */
static char *place(struct section *s, const char *text, size_t *offset)
{
	char name[64];
	char *plus;

	snprintf(name, sizeof(name), "%s", text);
	plus = strchr(name, '+');
	*offset = plus ? strtoul(plus + 1, NULL, 0) : 0;
	if (plus)
		*plus = 0;
	return variable(s, name, 8)->bytes;
}

static u64 value(struct section *s, const char *token)
{
	size_t offset;
	char *at;
	u64 v;

	if ((token[0] >= '0' && token[0] <= '9') || token[0] == '-')
		return strtoull(token, NULL, 0);
	if (token[0] == '"')
		return (u64)(uintptr_t)(token + 1);
	if (token[0] == '@') {
		char name[32];
		const char *plus = strchr(token, '+');

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(token + 1, "+"), token + 1);
		return (u64)(uintptr_t)script_builtin(name) + (plus ? strtoul(plus, NULL, 0) : 0);
	}
	if (token[0] == '&') {
		at = place(s, token + 1, &offset);
		return (u64)(uintptr_t)(at + offset);
	}
	at = place(s, token, &offset);
	memcpy(&v, at, 8);
	return v + offset;
}

/* ---- calls ---- */

static void push(struct call *c, u64 word)
{
	if (c->registers < 6)
		c->in_register[c->registers++] = word;
	else if (c->words < STACK_WORDS)
		c->on_stack.word[c->words++] = word;
}

static void argument(struct section *s, struct call *c, const char *token)
{
	struct variable *v;
	char name[32];
	unsigned x, y, z;

	if (token[0] != '"' && sscanf(token, "%u,%u,%u", &x, &y, &z) == 3) {
		/* A dim3 stands in registers as a whole or not at all. */
		if (c->registers == 5)
			script_die("a dim3 in the sixth register", token);
		push(c, (u64)y << 32 | x);
		push(c, z);
	} else if (token[0] == '{') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(token + 1, "}"), token + 1);
		v = variable(s, name, 8);
		for (size_t i = 0; i < v->len / 8 && c->words < STACK_WORDS; i++)
			memcpy(&c->on_stack.word[c->words++], v->bytes + 8 * i, 8);
	} else {
		push(c, value(s, token));
	}
}

static void *call_thread(void *user)
{
	struct call *c = user;
	const u64 *r = c->in_register;

	c->result = c->f(r[0], r[1], r[2], r[3], r[4], r[5], c->on_stack);
	return NULL;
}

static function *lookup(const struct section *s, const char *name)
{
	function *f;

	*(void **)&f = dlsym(s->library[0], name);
	if (!f)
		*(void **)&f = dlsym(s->library[1], name);
	return f;
}

/* ---- what is shown ---- */

static void show_one(struct section *s, char *item)
{
	size_t offset, n = 1;
	char *type = strrchr(item, '.'), *star;
	const char *at;

	if (!type)
		script_die("an item without a type", item);
	*type++ = 0;
	star = strchr(type, '*');
	n = star ? strtoul(star + 1, NULL, 0) : 1;
	at = place(s, item, &offset) + offset;
	fprintf(s->out, " %s=", item);
	if (type[0] == 's') {
		fprintf(s->out, "\"%.200s\"", at);
		return;
	}
	for (size_t i = 0; i < n; i++)
		at += script_show(s->out, type, at, i > 0);
}

static void show(struct section *s, char **items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		show_one(s, items[i]);
}

/* ---- steps ---- */

/* Is this step made? One that crashed before is reported instead. */
static bool step_begin(struct section *s, const char *text)
{
	struct progress *p = s->progress;
	int step = s->step++;

	for (int i = 0; i < p->crashes; i++)
		if (p->crash[i] == step) {
			if (step >= p->from)
				fprintf(s->out, "%s => %s\n", text,
					p->why[i] == SIGALRM ? "hangs" : "crashes");
			fflush(s->out);
			return false;
		}
	p->step = step;
	return true;
}

static bool is_runtime(const struct section *s, const char *name)
{
	return !strncmp(name, "cuda", 4) && dlsym(s->library[0], name);
}

/* Make one call and report it. */
static void step(struct section *s, const char *text, char **token, size_t n, char **items,
		 size_t shown)
{
	struct call c = {.f = lookup(s, token[0])};
	FILE *null = NULL, *out = s->out;
	bool quiet = s->step < s->progress->from;
	pthread_t thread;

	if (!step_begin(s, text))
		return;
	for (size_t i = 1; i < n; i++)
		argument(s, &c, token[i]);
	alarm(SECONDS);
	if (!c.f) {
		if (!quiet)
			fprintf(s->out, "%s => no such function\n", text);
		return;
	}
	if (!strncmp(text, "thread ", 7)) {
		if (!pthread_create(&thread, NULL, call_thread, &c))
			pthread_join(thread, NULL);
	} else {
		call_thread(&c);
	}
	if (quiet)
		s->out = null = fopen("/dev/null", "w");
	/* What a function returned is a variable too: some return texts. */
	memcpy(variable(s, "result", 8)->bytes, &c.result, 8);
	fprintf(s->out, "%s => %d", text,
		shown && !strncmp(items[0], "result", 6) ? 0 : (int)c.result);
	if (is_runtime(s, token[0]) && strncmp(token[0], "cudaGetLast", 11)) {
		function *last = lookup(s, "cudaGetLastError");
		u64 code = last(0, 0, 0, 0, 0, 0, c.on_stack);

		if ((int)code != (int)c.result)
			fprintf(s->out, "/%d", (int)code);
	}
	show(s, items, shown);
	fprintf(s->out, "\n");
	fflush(s->out);
	s->out = out;
	if (null)
		fclose(null);
}

/* The call with each argument in turn 0, then as it stands. */
static void step_varied(struct section *s, char **token, size_t n, char **items, size_t shown)
{
	char text[LINE];

	for (size_t i = 1; i <= n; i++) {
		char *kept = i < n ? token[i] : NULL, zero[] = "0";
		size_t at = 0;

		/* A zero varies nothing, and a dim3 or a structure by value has no null. */
		if (kept &&
		    (!strcmp(kept, "0") || kept[0] == '{' || (strchr(kept, ',') && kept[0] != '"')))
			continue;
		if (kept)
			token[i] = zero;
		for (size_t k = 0; k < n; k++)
			at += (size_t)snprintf(text + at, LINE - at, "%s%s%s", k ? " " : "",
					       token[k], token[k][0] == '"' ? "\"" : "");
		if (kept)
			step(s, text, token, n, NULL, 0);
		else
			step(s, text, token, n, items, shown);
		if (kept)
			token[i] = kept;
	}
}

/* ---- sizes ---- */

/* Memory of the device whose address becomes the variable's value. */
static void guard(struct section *s, const char *name, size_t bytes)
{
	struct variable *v = variable(s, name, 8);
	char *at = NULL;

	lookup(s, "cudaMalloc")((u64)(uintptr_t)&at, bytes + 2 * MARGIN, 0, 0, 0, 0,
				(struct words){{0}});
	lookup(s, "cudaMemset")((u64)(uintptr_t)at, PATTERN, bytes + 2 * MARGIN, 0, 0, 0,
				(struct words){{0}});
	at += MARGIN;
	memcpy(v->bytes, &at, sizeof(at));
	v->guarded = bytes;
}

static bool is_all(const char *at, size_t n, int byte)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)at[i] != byte)
			return false;
	return true;
}

/* A page of the host without a neighbour behind it. */
static void lone_page(struct section *s, const char *name)
{
	char *at = mmap(NULL, (size_t)2 * MARGIN, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || munmap(at + MARGIN, MARGIN))
		script_die("no memory", name);
	memcpy(variable(s, name, 8)->bytes, &at, sizeof(at));
}

/* Are the bytes around what a variable holds, or names, as they were? */
static bool is_whole(const struct section *s, const struct variable *v)
{
	char margin[2 * MARGIN];
	function *copy = lookup(s, "cudaMemcpy");
	u64 at, wrong = 0;

	if (!is_all(v->bytes + v->len, MARGIN, 0))
		return false;
	if (!v->guarded)
		return true;
	memcpy(&at, v->bytes, 8);
	wrong |= copy((u64)(uintptr_t)margin, at - MARGIN, MARGIN, 2, 0, 0, (struct words){{0}});
	wrong |= copy((u64)(uintptr_t)margin + MARGIN, at + v->guarded, MARGIN, 2, 0, 0,
		      (struct words){{0}});
	return (int)wrong || is_all(margin, sizeof(margin), PATTERN);
}

static void tell_spoiled(struct section *s)
{
	if (s->step <= s->progress->from)
		return;
	for (size_t i = 0; i < s->variables; i++)
		if (!is_whole(s, &s->variable[i]))
			fprintf(s->out, "%s is written beyond its end\n", s->variable[i].name);
	fflush(s->out);
}

/* A size that is tried: an argument, or a field of a variable of 8 or, with ".i", 4 bytes. */
struct size_slot {
	char **argument;
	char *field;
	size_t bytes;
	char text[24], kept[8];
};

static size_t find_slots(struct section *s, char **token, size_t n, struct size_slot *slot,
			 size_t *words)
{
	size_t slots = 0, offset, i;

	for (i = 0; i < n && strcmp(token[i], ";"); i++)
		if (token[i][0] == '#')
			slot[slots++] = (struct size_slot){.argument = &token[i]};
	*words = i;
	for (i++; i < n; i++) {
		char *dot = strchr(token[i], '.');

		slot[slots] = (struct size_slot){.bytes = dot ? 4 : 8, .argument = &token[i]};
		if (dot)
			*dot = 0;
		slot[slots].field = place(s, token[i], &offset) + offset;
		memcpy(slot[slots].kept, slot[slots].field, slot[slots].bytes);
		slots++;
	}
	return slots;
}

/* One try: put the values in, call, and take them out again. */
static void try_sizes(struct section *s, char **token, size_t words, struct size_slot *slot,
		      size_t slots, const u64 *value)
{
	char text[LINE], *call[64];
	size_t at = 0;

	memcpy(call, token, words * sizeof(*call));
	for (size_t i = 0; i < slots; i++) {
		struct size_slot *l = &slot[i];

		if (l->field) {
			if (value[i] != SCRIPT_SIZE_KEPT)
				memcpy(l->field, &value[i], l->bytes);
			continue;
		}
		if (value[i] == SCRIPT_SIZE_KEPT)
			snprintf(l->text, sizeof(l->text), "%s", *l->argument + 1);
		else
			snprintf(l->text, sizeof(l->text), "%llu", (unsigned long long)value[i]);
		call[l->argument - token] = l->text;
	}
	for (size_t i = 0; i < words; i++)
		at += (size_t)snprintf(text + at, LINE - at, "%s%s", i ? " " : "", call[i]);
	for (size_t i = 0; i < slots; i++)
		if (slot[i].field && value[i] != SCRIPT_SIZE_KEPT)
			at += (size_t)snprintf(text + at, LINE - at, " %s=%llu", *slot[i].argument,
					       (unsigned long long)value[i]);
	step(s, text, call, words, NULL, 0);
	for (size_t i = 0; i < slots; i++)
		if (slot[i].field)
			memcpy(slot[i].field, slot[i].kept, slot[i].bytes);
	tell_spoiled(s);
}

/* sizes NAME ARGUMENT... ; FIELD...: the call as it stands, then with invalid sizes. */
static void step_sizes(struct section *s, char **token, size_t n)
{
	struct size_slot slot[SCRIPT_SIZES_MAX];
	u64 value[SCRIPT_SIZES_MAX];
	size_t words, slots = find_slots(s, token, n, slot, &words);

	for (size_t i = 0; i < slots; i++)
		value[i] = SCRIPT_SIZE_KEPT;
	try_sizes(s, token, words, slot, slots, value);
	for (size_t i = 0; script_sizes(slots, i, value); i++)
		try_sizes(s, token, words, slot, slots, value);
}

/*
 * Every function of one interface with nothing but zeros. what: "rt" or "drv", then names to begin
 * with.
 */
static void step_every(struct section *s, const char *what, const char *begins)
{
	const char *name;

	for (size_t i = 0; (name = script_function(what, i)); i++) {
		char text[64];
		char *token[] = {text, "0", "0", "0", "0", "0", "0",
				 "0",  "0", "0", "0", "0", "0", "0"};

		if (strncmp(name, begins, strlen(begins)) || script_is_left_out(name))
			continue;
		snprintf(text, sizeof(text), "%s", name);
		step(s, text, token, sizeof(token) / sizeof(token[0]), NULL, 0);
	}
}

static void store(struct section *s, char **token)
{
	size_t offset;
	char *at = place(s, token[1], &offset) + offset;
	u64 v = value(s, token[3]);
	float f = strtof(token[3], NULL);

	switch (token[2][0]) {
	case 'i':
		memcpy(at, &v, 4);
		break;
	case 'f':
		memcpy(at, &f, 4);
		break;
	case 'b':
		*at = (char)v;
		break;
	default:
		memcpy(at, &v, 8);
	}
}

static void line(struct section *s, const char *text);

/* What is no call is told as it stands, so that results can be read. */
static void tell(const struct section *s, const char *text)
{
	if (!s->progress->crashes || s->step > s->progress->from)
		fprintf(s->out, "%s\n", text);
}

/* for NAME FIRST LAST line, where $NAME is a number. */
static void loop(struct section *s, char **token, const char *text)
{
	long first = strtol(token[2], NULL, 0), last = strtol(token[3], NULL, 0);
	const char *body = text;
	char one[LINE], *at;

	for (int i = 0; i < 4; i++)
		body = script_next_word(body);
	for (long k = first; k <= last; k++) {
		const char *from = body, *dollar;

		at = one;
		while ((dollar = strchr(from, '$')) && (size_t)(at - one) < LINE / 2) {
			at += sprintf(at, "%.*s%ld", (int)(dollar - from), from, k);
			from = dollar + 1 + strlen(token[1]);
		}
		snprintf(at, LINE / 2, "%s", from);
		line(s, one);
	}
}

static void line(struct section *s, const char *text)
{
	char copy[LINE], *token[64];
	size_t n, colon, shown;

	snprintf(copy, sizeof(copy), "%s", text);
	n = script_split(copy, token, 64);
	if (!n)
		return;
	for (colon = 0; colon < n && strcmp(token[colon], ":"); colon++)
		;
	shown = colon < n ? n - colon - 1 : 0;
	if (strchr("vsfp", token[0][0]) && !lookup(s, token[0]) && strcmp(token[0], "for"))
		tell(s, text);
	if (!strcmp(token[0], "var")) {
		variable(s, token[1], strtoul(token[2], NULL, 0));
	} else if (!strcmp(token[0], "set")) {
		store(s, token);
	} else if (!strcmp(token[0], "fill")) {
		struct variable *v = variable(s, token[1], 8);

		memset(v->bytes, (int)value(s, token[2]), v->len);
	} else if (!strcmp(token[0], "for")) {
		loop(s, token, text);
	} else if (!strcmp(token[0], "every")) {
		step_every(s, token[1], n > 2 ? token[2] : "");
	} else if (!strcmp(token[0], "sleep")) {
		usleep((unsigned)strtoul(token[1], NULL, 0) * 1000);
	} else if (!strcmp(token[0], "poke")) {
		*(volatile u32 *)(uintptr_t)value(s, token[1]) = (u32)value(s, token[2]);
	} else if (!strcmp(token[0], "thread")) {
		step(s, text, token + 1, colon - 1, token + colon + 1, shown);
	} else if (!strcmp(token[0], "guard")) {
		guard(s, token[1], strtoul(token[2], NULL, 0));
	} else if (!strcmp(token[0], "page")) {
		lone_page(s, token[1]);
	} else if (!strcmp(token[0], "sizes")) {
		step_sizes(s, token + 1, n - 1);
	} else if (!strcmp(token[0], "*")) {
		step_varied(s, token + 1, colon - 1, token + colon + 1, shown);
	} else {
		step(s, text, token, colon, token + colon + 1, shown);
	}
}

/* ---- sections ---- */

static void section_run(const struct script *script, struct progress *p,
			const char *const *libraries, FILE *out, bool verbose)
{
	struct section *s = calloc(1, sizeof(*s));

	if (!s)
		leave(2);
	if (!verbose && !(freopen("/dev/null", "w", stderr) && freopen("/dev/null", "w", stdout)))
		leave(2);
	s->script = script;
	s->progress = p;
	s->out = out;
	for (int i = 0; i < 2; i++) {
		s->library[i] = dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL);
		if (!s->library[i])
			script_die(libraries[i], dlerror());
	}
	if (!strstr(script->name, "bare"))
		script_register(s->library[0]);
	for (size_t i = 0; i < script->lines; i++)
		line(s, script->line[i]);
	fflush(out);
	p->step = -1;
	leave(0);
}

/* Run a section until it has come to its end, in as many processes as that takes. */
static void section_watch(const struct script *script, const char *const *libraries, FILE *out,
			  bool verbose)
{
	struct progress *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	time_t start = time(NULL);
	int status;

	if (p == MAP_FAILED)
		leave(2);
	fprintf(out, "= %s\n", script->name);
	do {
		fflush(out);
		pid_t pid = fork();

		if (!pid)
			section_run(script, p, libraries, out, verbose);
		waitpid(pid, &status, 0);
		fseek(out, 0, SEEK_END);
		if (WIFEXITED(status))
			break;
		p->why[p->crashes] = WTERMSIG(status);
		p->crash[p->crashes++] = p->step;
		p->from = p->step;
	} while (p->crashes < CRASHES && time(NULL) - start < SECTION_SECONDS);
	if (p->step != -1)
		fprintf(out, "ends early: status %d\n", status);
	fflush(out);
	leave(0);
}

/* Wait for section i's process and print what it found. */
static void section_print(pid_t pid, FILE *out)
{
	char buffer[65536];
	size_t n;

	waitpid(pid, NULL, 0);
	rewind(out);
	while ((n = fread(buffer, 1, sizeof(buffer), out)))
		fwrite(buffer, 1, n, stdout);
	fclose(out);
}

int main(int argc, char **argv)
{
	const char *libraries[2];
	struct script_list list = {0};
	size_t at_once = 1, printed = 0;
	bool verbose = false;
	int option;

	while ((option = getopt(argc, argv, "j:v")) != -1) {
		if (option == 'j')
			at_once = strtoul(optarg, NULL, 10);
		else
			verbose = true;
	}
	if (argc - optind < 3)
		script_die("usage: api_cross [-j N] [-v] LIBCUDART LIBCUDA SCRIPT...", "");
	libraries[0] = argv[optind];
	libraries[1] = argv[optind + 1];
	for (int i = optind + 2; i < argc; i++)
		script_read(&list, argv[i]);

	pid_t *pid = calloc(list.sections, sizeof(*pid));
	FILE **out = calloc(list.sections, sizeof(*out));

	if (!pid || !out)
		script_die("no memory", "");
	for (size_t i = 0; i < list.sections; i++) {
		if (i - printed >= at_once) {
			section_print(pid[printed], out[printed]);
			printed++;
		}
		out[i] = tmpfile();
		if (!out[i])
			script_die("no temporary file", "");
		fflush(stdout);
		pid[i] = fork();
		if (!pid[i])
			section_watch(&list.section[i], libraries, out[i], verbose);
	}
	for (; printed < list.sections; printed++)
		section_print(pid[printed], out[printed]);
	free(pid);
	free(out);
	return 0;
}
