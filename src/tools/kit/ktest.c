/*
 * Reading tables of tests.
 */
#include "src/tools/kit/ktest_reader.h"

#include "src/arch/arch.h"
#include "src/base/setting.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#define LINE_MAX_BYTES 65536u
#define SOURCE_MAX (64u << 20)

/* ---- cases ---- */

static char *copy_span(struct ktest_span s)
{
	return strndup(s.at, s.len);
}

static void case_fini(struct ktest_case *c)
{
	free(c->name);
	free(c->kernel);
	free(c->device);
	free(c->timeout);
	for (size_t i = 0; i < c->options.len; i++)
		free(c->options.at[i]);
	VEC_FREE(&c->options);
}

/* "tail n=31 (t4, seed 2)" */
static void name_case(const struct ktest_reader *r, const struct ktest_span *device,
		      const u64 *seed, struct text *t)
{
	text_add(t, r->name.at, r->name.len);
	for (u32 i = 0; i < r->variables; i++) {
		const struct ktest_variable *v = &r->variable[i];

		text_printf(t, " %.*s=%.*s", (int)v->name.len, v->name.at,
			    (int)v->values.at[v->now].len, v->values.at[v->now].at);
	}
	if (device || seed)
		text_puts(t, " (");
	if (device)
		text_add(t, device->at, device->len);
	if (seed)
		text_printf(t, "%sseed %" PRIu64, device ? ", " : "", *seed);
	if (device || seed)
		text_puts(t, ")");
}

static void make_case(struct ktest_reader *r, const struct ktest_span *device, const u64 *seed)
{
	struct ktest_case c = {
		.image = r->image, .seed = seed ? *seed : 0, .has_seed = seed != NULL};
	struct text name = {0}, checks = {0};
	u32 column;

	if (r->failed)
		return;
	name_case(r, device, seed, &name);
	c.at = (u32)(r->name.at - r->source.text);
	diag_locate(&r->source, c.at, &c.line, &column);
	c.name = name.at ? strdup(name.at) : NULL;
	c.kernel = copy_span(r->kernel);
	c.device = device ? copy_span(*device) : NULL;
	c.timeout = r->timeout.len ? copy_span(r->timeout) : NULL;
	ktest_options(r, &c.options);
	if (r->checks.len) {
		text_printf(&checks, "--check=%.*s", (int)r->checks.len, r->checks.at);
		ktest_push(r, &c.options, r->checks, checks.at ? checks.at : "");
	}
	if (!r->failed && r->out->cases.len >= KTEST_CASES_MAX)
		ktest_wrong(r, r->name, NULL, "there are more than %u cases", KTEST_CASES_MAX);
	if (!r->failed && (!c.name || !c.kernel || !VEC_PUSH(&r->out->cases, c)))
		ktest_wrong(r, r->name, NULL, "no memory left");
	if (r->failed)
		case_fini(&c);
	text_fini(&name);
	text_fini(&checks);
}

static void make_seeds(struct ktest_reader *r, const struct ktest_span *device)
{
	if (!r->seeds.at.len)
		make_case(r, device, NULL);
	for (size_t i = 0; i < r->seeds.at.len; i++)
		for (u64 s = r->seeds.at.at[i].first; !r->failed; s++) {
			make_case(r, device, &s);
			if (s == r->seeds.at.at[i].last)
				break;
		}
}

/* The next combination of the variables' values, the last one fastest. */
static bool next_values(struct ktest_reader *r)
{
	for (u32 i = r->variables; i-- > 0;) {
		if (++r->variable[i].now < r->variable[i].values.len)
			return true;
		r->variable[i].now = 0;
	}
	return false;
}

/* The test is whole: a case for each combination of variables, devices and seeds. */
static void end_test(struct ktest_reader *r)
{
	if (!r->name.len)
		return;
	do {
		if (!r->devices.len)
			make_seeds(r, NULL);
		for (size_t i = 0; i < r->devices.len && !r->failed; i++)
			make_seeds(r, &r->devices.at[i]);
	} while (!r->failed && next_values(r));
	for (u32 i = 0; i < r->variables; i++)
		VEC_FREE(&r->variable[i].values);
	r->variables = 0;
	r->lines.len = 0;
	r->name.len = 0;
}

/* ---- lines at the margin ---- */

/* kernel NAME in FILE [OPTION..] */
static void read_kernel(struct ktest_reader *r)
{
	struct ktest_span name = ktest_word(r), in = ktest_word(r), file = ktest_word(r), w;
	struct ktest_image image = {.at = ktest_span_in(r, file)};
	struct text t = {0};
	bool is_source;

	if (!name.len || !ktest_is(in, "in") || !file.len)
		ktest_wrong(r, name, "kernel NAME in FILE", "a kernel and its file are wanted");
	ktest_expand(r, file, true, &t);
	image.path = t.at ? strdup(t.at) : NULL;
	is_source = t.len > 3 && !strcmp(t.at + t.len - 3, ".cu");
	text_fini(&t);
	while (!r->failed && (w = ktest_word(r)).len) {
		struct text option = {0};

		if (!is_source)
			ktest_wrong(r, w, NULL, "options are for sources, whose names end in .cu");
		ktest_expand(r, w, true, &option);
		ktest_push(r, &image.options, w, option.at ? option.at : "");
		text_fini(&option);
	}
	r->kernel = name;
	if (name.len > 1 && (*name.at == '"' || *name.at == '\''))
		r->kernel = (struct ktest_span){name.at + 1, name.len - 2};
	r->image = (u32)r->out->images.len;
	r->has_kernel = true;
	if (VEC_PUSH(&r->out->images, image))
		return;
	ktest_wrong(r, name, NULL, "no memory left");
	free(image.path);
}

static bool ends_part(struct ktest_span *w)
{
	bool ends = w->len && w->at[w->len - 1] == ',';

	w->len -= ends;
	return ends;
}

static void read_seeds(struct ktest_reader *r, struct ktest_span w)
{
	struct text why = {0}, t = {0};

	text_add(&t, w.at, w.len);
	seeds_fini(&r->seeds);
	if (!seeds_parse(t.at ? t.at : "", &r->seeds, &why))
		ktest_wrong(r, w, NULL, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	text_fini(&t);
}

/* A value that a variable of the environment takes, too. */
static void read_ktest_setting(struct ktest_reader *r, struct ktest_span w, enum setting s,
			       struct ktest_span *to)
{
	struct text why = {0}, t = {0};
	u64 ignored;

	text_add(&t, w.at, w.len);
	if (!w.len ||
	    !setting_parse(s, s == SETTING_CHECK ? "check" : "timeout", t.at, &ignored, &why))
		ktest_wrong(r, w, NULL, "%s", why.at ? why.at : "a value is missing");
	*to = w;
	text_fini(&why);
	text_fini(&t);
}

/* The first message becomes a part of ours. */
static void take_message(void *user, const struct diag_message *m)
{
	struct text *t = user;

	if (t->len)
		return;
	if (m->file)
		text_printf(t, "%s:%u: ", m->file, m->line);
	text_puts(t, m->text);
	if (m->hint)
		text_printf(t, "; %s", m->hint);
}

static void add_test_device(struct ktest_reader *r, struct ktest_span w)
{
	struct arch_devices devices;
	struct text why = {0}, t = {0};
	struct diag d;

	text_add(&t, w.at, w.len);
	diag_init(&d, take_message, &why);
	if (!t.at || !arch_devices_parse(&devices, t.at, &d)) {
		ktest_wrong(r, w, NULL, "%s", why.at ? why.at : "no memory left");
	} else {
		if (devices.len != 1 || !w.len)
			ktest_wrong(r, w, "on t4 a100 h100, seeds 1..3",
				    "one device is wanted; blanks are between devices");
		arch_devices_fini(&devices);
	}
	if (!r->failed && !VEC_PUSH(&r->devices, w))
		ktest_wrong(r, w, NULL, "no memory left");
	diag_fini(&d);
	text_fini(&why);
	text_fini(&t);
}

/* on DEVICE.., seeds LIST, check LIST, timeout TIME */
static void read_on(struct ktest_reader *r)
{
	bool devices = true; /* may follow */
	struct ktest_span w;

	r->devices.len = 0;
	seeds_fini(&r->seeds);
	r->checks.len = r->timeout.len = 0;
	while (!r->failed && (w = ktest_word(r)).len) {
		bool is_device = devices && !ktest_is(w, "seeds") && !ktest_is(w, "check") &&
				 !ktest_is(w, "timeout");
		struct ktest_span value = is_device ? w : ktest_word(r);

		devices = !ends_part(&value) && is_device;
		if (is_device)
			add_test_device(r, value);
		else if (ktest_is(w, "seeds"))
			read_seeds(r, value);
		else if (ktest_is(w, "check"))
			read_ktest_setting(r, value, SETTING_CHECK, &r->checks);
		else if (ktest_is(w, "timeout"))
			read_ktest_setting(r, value, SETTING_TIMEOUT, &r->timeout);
		else
			ktest_wrong(r, w, "on t4 a100, seeds 1..3, check mem,race, timeout 5s",
				    "'%.*s' is not known here", (int)(w.len < 80 ? w.len : 80),
				    w.at);
	}
}

/* A value, or FIRST..LAST: all whole numbers from the one to the other. */
static void add_values(struct ktest_reader *r, struct ktest_variable *v, struct ktest_span w)
{
	struct text t = {0};
	u64 first, last;
	int end = 0;

	text_add(&t, w.at, w.len);
	if (!t.at || !isdigit((unsigned char)*t.at) || w.len > 32 ||
	    sscanf(t.at, "%" SCNu64 "..%" SCNu64 "%n", &first, &last, &end) != 2 ||
	    (size_t)end != w.len) {
		if (!VEC_PUSH(&v->values, w))
			ktest_wrong(r, w, NULL, "no memory left");
	} else if (last < first || last - first >= KTEST_CASES_MAX) {
		ktest_wrong(r, w, NULL, "this is no range of at most %u numbers", KTEST_CASES_MAX);
	} else {
		for (u64 n = first; !r->failed; n++) {
			char number[24];
			struct ktest_span value = {0};

			snprintf(number, sizeof(number), "%" PRIu64, n);
			ktest_push(r, &r->numbers, w, number);
			if (!r->failed)
				value.at = r->numbers.at[r->numbers.len - 1];
			value.len = strlen(number);
			if (!r->failed && !VEC_PUSH(&v->values, value))
				ktest_wrong(r, w, NULL, "no memory left");
			if (n == last)
				break;
		}
	}
	text_fini(&t);
}

/* for NAME = VALUE.. */
static void read_variable(struct ktest_reader *r, struct ktest_span word)
{
	struct ktest_variable *v = &r->variable[r->variables];
	struct ktest_span name = ktest_word(r), equals = ktest_word(r), w;
	const char *back = r->at;

	if (!name.len || !ktest_is(equals, "=")) {
		ktest_wrong(r, name.len ? name : word, "for NAME = VALUE ..",
			    "a variable and its values are wanted");
		return;
	}
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.at[i]) && name.at[i] != '_')
			ktest_wrong(r, name, NULL, "names are letters, digits and _");
	for (u32 i = 0; i < r->variables; i++)
		if (r->variable[i].name.len == name.len &&
		    !memcmp(r->variable[i].name.at, name.at, name.len))
			ktest_wrong(r, name, NULL, "there are two variables of this name");
	*v = (struct ktest_variable){.name = name};
	r->variables++;
	while (!r->failed && (w = ktest_word(r)).len && !ktest_is(w, "for")) {
		back = r->at;
		if (ktest_is(w, "="))
			ktest_wrong(r, w, "for n = 1 2 for m = 3",
				    "a further variable begins with for");
		add_values(r, v, w);
	}
	r->at = back;
	if (!v->values.len)
		ktest_wrong(r, name, NULL, "the variable has no values");
}

/* test NAME [for ..] */
static void read_test(struct ktest_reader *r, struct ktest_span word)
{
	struct ktest_span w;

	r->name = ktest_word(r);
	if (!r->name.len)
		ktest_wrong(r, word, "test NAME", "the test has no name");
	else if (!r->has_kernel)
		ktest_wrong(r, word, "kernel NAME in FILE", "no line says which kernel is tested");
	while (!r->failed && (w = ktest_word(r)).len)
		if (!ktest_is(w, "for"))
			ktest_wrong(r, w, "test NAME for VARIABLE = VALUE ..",
				    "'%.*s' is not known here", (int)(w.len < 80 ? w.len : 80),
				    w.at);
		else if (r->variables == KTEST_VARIABLES)
			ktest_wrong(r, w, NULL, "a test has at most %u variables", KTEST_VARIABLES);
		else
			read_variable(r, w);
}

static void read_ktest_line(struct ktest_reader *r, struct ktest_span line)
{
	bool indented = line.len && ktest_is_blank(*line.at);
	struct ktest_span w;

	r->at = line.at;
	r->end = line.at + line.len;
	if (!ktest_skip(r))
		return;
	if (indented) {
		if (!r->name.len)
			ktest_wrong(r, (struct ktest_span){r->at, 1}, NULL,
				    "this line belongs to no test");
		else if (!VEC_PUSH(&r->lines, line))
			ktest_wrong(r, line, NULL, "no memory left");
		return;
	}
	end_test(r);
	r->at = line.at;
	r->end = line.at + line.len;
	w = ktest_word(r);
	if (ktest_is(w, "kernel"))
		read_kernel(r);
	else if (ktest_is(w, "on"))
		read_on(r);
	else if (ktest_is(w, "test"))
		read_test(r, w);
	else
		ktest_wrong(
			r, w,
			"lines begin with kernel, on or test; what belongs to a test is indented",
			"'%.*s' is not known here", (int)(w.len < 80 ? w.len : 80), w.at);
}

static int compare_cases(const void *a, const void *b)
{
	const struct ktest_case *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	order = order ? order : strcmp((*x)->kernel, (*y)->kernel);
	return order ? order : (*x > *y) - (*x < *y);
}

static bool is_same_case(const struct ktest_case *a, const struct ktest_case *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->kernel, b->kernel);
}

/* Reports and saved metrics tell cases apart by their kernels and names. */
static void find_twins(struct ktest_reader *r)
{
	size_t n = r->out->cases.len;
	const struct ktest_case **all = malloc((n + 1) * sizeof(*all)), *twin = NULL, *of = NULL;

	for (size_t i = 0; all && i < n; i++)
		all[i] = &r->out->cases.at[i];
	if (all)
		qsort(all, n, sizeof(*all), compare_cases);
	for (size_t i = 1; all && i < n; i++)
		if (is_same_case(all[i], all[i - 1]) && (!twin || all[i] < twin)) {
			twin = all[i];
			of = all[i - 1];
		}
	if (!all)
		ktest_wrong(r, (struct ktest_span){r->source.text, 0}, NULL, "no memory left");
	else if (twin)
		ktest_wrong(r, (struct ktest_span){r->source.text + twin->at, 4}, NULL,
			    "there are two cases '%s' of this kernel; the other is of line %u",
			    twin->name, of->line);
	free(all);
}

bool ktest_read(struct ktest *t, const struct diag_source *source, struct diag *d)
{
	struct ktest_reader r = {.source = *source, .diag = d, .out = t};
	const char *at = source->text, *end = at + source->size;

	/* The mark that editors of Windows put first. */
	if (source->size >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
		at += 3;
	*t = (struct ktest){0};
	if (source->size > SOURCE_MAX)
		ktest_wrong(&r, (struct ktest_span){at, 0}, NULL, "the file has more than %u bytes",
			    SOURCE_MAX);
	for (const char *c = at; c < end && !r.failed; c++)
		if (iscntrl((unsigned char)*c) && !isspace((unsigned char)*c))
			ktest_wrong(&r, (struct ktest_span){c, 1}, NULL, "this is no text");
	while (at < end && !r.failed) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = newline ? (size_t)(newline - at) : (size_t)(end - at);

		if (len > LINE_MAX_BYTES)
			ktest_wrong(&r, (struct ktest_span){at, 1}, NULL,
				    "the line has more than %u bytes", LINE_MAX_BYTES);
		else
			read_ktest_line(&r, (struct ktest_span){at, len});
		at += len + 1;
	}
	if (!r.failed)
		end_test(&r);
	if (!r.failed && !t->cases.len)
		ktest_wrong(&r, (struct ktest_span){source->text, 0}, NULL, "there is no test");
	if (!r.failed)
		find_twins(&r);
	for (u32 i = 0; i < r.variables; i++)
		VEC_FREE(&r.variable[i].values);
	for (size_t i = 0; i < r.numbers.len; i++)
		free(r.numbers.at[i]);
	VEC_FREE(&r.numbers);
	VEC_FREE(&r.devices);
	VEC_FREE(&r.lines);
	seeds_fini(&r.seeds);
	return !r.failed;
}

void ktest_fini(struct ktest *t)
{
	for (size_t i = 0; i < t->cases.len; i++)
		case_fini(&t->cases.at[i]);
	VEC_FREE(&t->cases);
	for (size_t i = 0; i < t->images.len; i++) {
		free(t->images.at[i].path);
		for (size_t k = 0; k < t->images.at[i].options.len; k++)
			free(t->images.at[i].options.at[k]);
		VEC_FREE(&t->images.at[i].options);
	}
	VEC_FREE(&t->images);
}
