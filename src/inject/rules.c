/*
 * Reading rules. A rule is conditions, an arrow, and what is then done; words are separated by
 * blanks, rules by lines or semicolons. The first thing that is wrong is reported with its place,
 * and nothing is read then.
 */
#include "src/inject/rules.h"

#include "src/base/file.h"
#include "src/base/nearest.h"
#include "src/dev/status.h"
#include "src/inject/names.h"

#include <errno.h>
#include <stdlib.h>

struct word {
	const char *at;
	u32 len;
};

struct reader {
	struct diag_source source;
	struct diag *diag;
	const char *at, *end;
	bool failed; /* and said so */
};

/* ---- words ---- */

static bool is_rule_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_rule(char c)
{
	return c == '\n' || c == ';';
}

/* Up to the next word of the rule; false: the rule ends here. */
static bool skip_rule_space(struct reader *r)
{
	while (r->at < r->end && is_rule_space(*r->at))
		r->at++;
	if (r->at < r->end && *r->at == '#')
		while (r->at < r->end && *r->at != '\n')
			r->at++;
	return r->at < r->end && !ends_rule(*r->at);
}

/* The next word of the rule, of length 0 at its end. Between quotes blanks do not end it. */
static struct word rule_word(struct reader *r)
{
	struct word w = {r->at, 0};
	bool quoted = false;

	if (!skip_rule_space(r)) {
		w.at = r->at;
		return w;
	}
	w.at = r->at;
	for (; r->at < r->end && *r->at != '\n'; r->at++) {
		if (*r->at == '"')
			quoted = !quoted;
		if (!quoted && (is_rule_space(*r->at) || *r->at == ';'))
			break;
	}
	w.len = (u32)(r->at - w.at);
	return w;
}

static bool is_rule_word(struct word w, const char *s)
{
	return w.len == strlen(s) && !memcmp(w.at, s, w.len);
}

/* Report once; what follows is not read. */
#define WRONG(r, w, hint, ...)                                                                     \
	((r)->failed ? (void)0                                                                     \
		     : (diag_at((r)->diag, DIAG_ERROR, &(r)->source, word_span(r, w), hint,        \
				__VA_ARGS__),                                                      \
			(void)((r)->failed = true)))

static struct diag_span word_span(const struct reader *r, struct word w)
{
	u32 begin = (u32)(w.at - r->source.text);

	return (struct diag_span){begin, begin + (w.len ? w.len : 1)};
}

/* Without the quotes. NULL after a message: no memory. */
static char *copy_word(struct reader *r, struct word w)
{
	char *s = malloc((size_t)w.len + 1);
	size_t n = 0;

	if (!s) {
		WRONG(r, w, NULL, "no memory left");
		return NULL;
	}
	for (u32 i = 0; i < w.len; i++)
		if (w.at[i] != '"')
			s[n++] = w.at[i];
	s[n] = '\0';
	return s;
}

/* ---- values ---- */

static bool rule_digits(const char **s, const char *end, u64 *out)
{
	const char *at = *s;
	u64 v = 0;

	for (; at < end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(v, (u64)10, &v) ||
		    __builtin_add_overflow(v, (u64)(*at - '0'), &v))
			return false;
	if (at == *s)
		return false;
	*s = at;
	*out = v;
	return true;
}

struct unit {
	const char *name;
	u64 factor;
};

/* A number with one of the units, ended by an empty one. */
static bool with_unit(struct word w, const struct unit *units, u64 *out)
{
	const char *s = w.at, *end = w.at + w.len;
	u64 v;

	if (!rule_digits(&s, end, &v))
		return false;
	for (; units->name; units++)
		if (is_rule_word((struct word){s, (u32)(end - s)}, units->name))
			return !__builtin_mul_overflow(v, units->factor, out);
	return false;
}

static const struct unit plain[] = {{"", 1}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1},
				    {"K", (u64)1 << 10},
				    {"M", (u64)1 << 20},
				    {"G", (u64)1 << 30},
				    {"T", (u64)1 << 40},
				    {NULL, 0}};
static const struct unit rates[] = {
	{"/s", 1}, {"K/s", (u64)1 << 10}, {"M/s", (u64)1 << 20}, {"G/s", (u64)1 << 30}, {NULL, 0}};
static const struct unit times[] = {{"ns", 1},         {"us", 1000},       {"ms", 1000000},
				    {"s", 1000000000}, {"m", 60000000000}, {NULL, 0}};

/* What fits into a sleep. */
#define DELAY_MAX_NS ((u64)1 << 62)

static bool read_prob(struct word w, double *out)
{
	char text[32], *end;

	if (!w.len || w.len >= sizeof(text) ||
	    !(w.at[0] == '.' || (w.at[0] >= '0' && w.at[0] <= '9')))
		return false;
	memcpy(text, w.at, w.len);
	text[w.len] = '\0';
	*out = strtod(text, &end);
	return !*end && *out >= 0 && *out <= 1;
}

struct choice {
	const char *name;
	u32 value;
};

/* The value of a word of a list that an empty one ends; reports what it may be. */
static bool read_choice(struct reader *r, struct word w, const struct choice *list,
			const char *what, u32 *out)
{
	struct text words = {0};

	for (const struct choice *c = list; c->name; c++)
		if (is_rule_word(w, c->name)) {
			*out = c->value;
			return true;
		}
	for (const struct choice *c = list; c->name; c++)
		text_printf(&words, "%s%s", c == list ? "" : c[1].name ? ", " : " or ", c->name);
	WRONG(r, w, NULL, "%s is %s, not '%.*s'", what, words.at ? words.at : "a word", (int)w.len,
	      w.at);
	text_fini(&words);
	return false;
}

static const struct choice dirs[] = {
	{"h2h", DIR_H2H}, {"h2d", DIR_H2D}, {"d2h", DIR_D2H}, {"d2d", DIR_D2D}, {NULL, 0}};
static const struct choice groups[] = {
	{"all", GROUP_ALL}, {"fp64", GROUP_FP64}, {"fp32", GROUP_FP32},
	{"ld", GROUP_LD},   {"pr", GROUP_PR},     {"gp", GROUP_GP},
	{NULL, 0}};

const char *inject_group_name(u32 group)
{
	const struct choice *c = groups;

	while (c->name && c->value != group)
		c++;
	return c->name ? c->name : "";
}

/* ---- conditions ---- */

enum value_kind {
	VALUE_GLOB,
	VALUE_COUNT,
	VALUE_SIZE,
	VALUE_PROB,
	VALUE_NUMBER,
	VALUE_DIR,
	VALUE_GROUP,
	VALUE_INST
};

static const struct condition {
	const char *name;
	u32 when;
	enum value_kind kind;
} conditions[] = {
	{"call", WHEN_CALL, VALUE_GLOB},       {"nth", WHEN_NTH, VALUE_COUNT},
	{"bytes", WHEN_BYTES, VALUE_SIZE},     {"prob", WHEN_PROB, VALUE_PROB},
	{"seed", WHEN_SEED, VALUE_NUMBER},     {"dir", WHEN_DIR, VALUE_DIR},
	{"device", WHEN_DEVICE, VALUE_NUMBER}, {"kernel", WHEN_KERNEL, VALUE_GLOB},
	{"launch", WHEN_LAUNCH, VALUE_COUNT},  {"alloc", WHEN_ALLOC, VALUE_NUMBER},
	{"byte", WHEN_BYTE, VALUE_NUMBER},     {"inst", WHEN_INST, VALUE_INST},
	{"group", WHEN_GROUP, VALUE_GROUP},
};

static void read_glob(struct reader *r, struct inject_rule *x, u32 when, struct word w)
{
	const char *near;
	char *s = copy_word(r, w);

	if (!s)
		return;
	if (!*s)
		WRONG(r, w, NULL, "there is no name");
	if (when == WHEN_KERNEL) {
		x->kernel = s;
		return;
	}
	x->call = s;
	if (r->failed || inject_name_exists(s))
		return;
	near = inject_name_near(s);
	if (near)
		WRONG(r, w, NULL, "CUDA has no function '%s'; did you mean %s?", s, near);
	else
		WRONG(r, w, NULL, "CUDA has no function '%s'", s);
}

/* op: '=', or 'g' for >= and 'l' for <=. */
static void condition_range(struct reader *r, struct inject_range *out, char op, struct word w,
			    const struct unit *units, u64 least)
{
	u64 v;

	if (!with_unit(w, units, &v)) {
		WRONG(r, w, NULL, "%s is wanted, not '%.*s'",
		      units == sizes ? "a size such as 4096, 64K, 2M or 1G" : "a number",
		      (int)w.len, w.at);
		return;
	}
	if (v < least)
		WRONG(r, w, NULL, "they are counted from 1");
	*out = (struct inject_range){op == 'l' ? 0 : v, op == 'g' ? UINT64_MAX : v};
}

static void condition_number(struct reader *r, struct inject_rule *x, u32 when, struct word w)
{
	u64 v;

	if (!with_unit(w, plain, &v)) {
		WRONG(r, w, NULL, "a number is wanted, not '%.*s'", (int)w.len, w.at);
	} else if (when == WHEN_SEED) {
		x->seed = v;
	} else if (when == WHEN_BYTE) {
		x->byte = v;
	} else if (when == WHEN_ALLOC) {
		x->alloc = v;
		if (!v)
			WRONG(r, w, NULL, "allocations are counted from 1");
	} else {
		x->device = (u32)v;
		if (v > UINT32_MAX)
			WRONG(r, w, NULL, "there is no device %llu", (unsigned long long)v);
	}
}

static void read_inst(struct reader *r, struct inject_rule *x, struct word w)
{
	if (is_rule_word(w, "rand"))
		return;
	if (!with_unit(w, plain, &x->inst) || !x->inst)
		WRONG(r, w, NULL, "inst is a number from 1 on, or rand, not '%.*s'", (int)w.len,
		      w.at);
}

static void read_value(struct reader *r, struct inject_rule *x, const struct condition *c, char op,
		       struct word w)
{
	u32 value = 0;

	switch (c->kind) {
	case VALUE_GLOB:
		read_glob(r, x, c->when, w);
		break;
	case VALUE_COUNT:
		condition_range(r, c->when == WHEN_NTH ? &x->nth : &x->launch, op, w, plain, 1);
		break;
	case VALUE_SIZE:
		condition_range(r, &x->bytes, op, w, sizes, 0);
		break;
	case VALUE_PROB:
		if (!read_prob(w, &x->prob))
			WRONG(r, w, NULL, "prob is a number from 0 to 1, not '%.*s'", (int)w.len,
			      w.at);
		break;
	case VALUE_NUMBER:
		condition_number(r, x, c->when, w);
		break;
	case VALUE_DIR:
		read_choice(r, w, dirs, "dir", &value);
		x->dir = (u8)value;
		break;
	case VALUE_GROUP:
		read_choice(r, w, groups, "group", &value);
		x->group = (u8)value;
		break;
	case VALUE_INST:
		read_inst(r, x, w);
		break;
	}
}

static void say_unknown_condition(struct reader *r, struct word w, u32 len)
{
	struct word name = {w.at, len};
	struct nearest n;

	nearest_init(&n, w.at, len);
	for (size_t i = 0; i < ARRAY_LEN(conditions); i++)
		nearest_offer(&n, conditions[i].name, strlen(conditions[i].name));
	if (n.best)
		WRONG(r, name, NULL, "there is no condition '%.*s'; did you mean %s?", (int)len,
		      w.at, n.best);
	else
		WRONG(r, name, NULL,
		      "there is no condition '%.*s'; those that there are: call, nth, bytes, prob, "
		      "seed, dir, device, kernel, launch, alloc, byte, inst, group",
		      (int)len, w.at);
}

/* NAME=VALUE, of counts and sizes also NAME>=VALUE and NAME<=VALUE. */
static void read_condition(struct reader *r, struct inject_rule *x, struct word w)
{
	const struct condition *c = NULL;
	u32 len = 0, skip;
	char op;

	while (len < w.len && w.at[len] != '=' && w.at[len] != '>' && w.at[len] != '<')
		len++;
	for (size_t i = 0; i < ARRAY_LEN(conditions) && !c; i++)
		if (is_rule_word((struct word){w.at, len}, conditions[i].name))
			c = &conditions[i];
	if (!c) {
		say_unknown_condition(r, w, len);
		return;
	}
	op = len == w.len ? 0 : w.at[len] == '>' ? 'g' : w.at[len] == '<' ? 'l' : '=';
	skip = op == '=' ? 1 : 2;
	if (!op || len + skip > w.len || w.at[len + skip - 1] != '=') {
		WRONG(r, w, NULL, "%s=VALUE is wanted", c->name);
		return;
	}
	if (op != '=' && c->kind != VALUE_COUNT && c->kind != VALUE_SIZE) {
		WRONG(r, w, NULL, "%s takes '=' alone", c->name);
		return;
	}
	if (x->when & c->when) {
		WRONG(r, w, NULL, "%s is there twice", c->name);
		return;
	}
	x->when |= c->when;
	read_value(r, x, c, op, (struct word){w.at + len + skip, w.len - len - skip});
}

/* ---- what is done ---- */

static bool named_status(struct word w, int *out)
{
	static const struct status_info all[] = {
#define STATUS(number, id, driver, runtime, text) {number, driver, runtime, text},
#include "src/dev/status.def"
#undef STATUS
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if ((all[i].driver && is_rule_word(w, all[i].driver)) ||
		    (all[i].runtime && is_rule_word(w, all[i].runtime))) {
			*out = all[i].number;
			return true;
		}
	return false;
}

/* error NUMBER, error NAME */
static void read_error(struct reader *r, struct inject_rule *x)
{
	struct word w = rule_word(r);
	u64 n;

	if (with_unit(w, plain, &n)) {
		x->status = n <= INT32_MAX && status_info((int)n) ? (int)n : -1;
		if (x->status < 0)
			WRONG(r, w, NULL, "CUDA has no error %llu", (unsigned long long)n);
	} else if (!w.len) {
		WRONG(r, w, NULL,
		      "which error? a number, or a name such as cudaErrorMemoryAllocation");
	} else if (!named_status(w, &x->status)) {
		WRONG(r, w, NULL, "CUDA has no error '%.*s'", (int)w.len, w.at);
	}
	if (!x->status)
		WRONG(r, w, NULL, "that is no error");
}

static void read_fault(struct reader *r, struct inject_rule *x)
{
	static const struct choice faults[] = {{"illegal_address", STATUS_ILLEGAL_ADDRESS},
					       {"misaligned", STATUS_MISALIGNED_ADDRESS},
					       {"assert", STATUS_ASSERT},
					       {"trap", STATUS_LAUNCH_FAILED},
					       {"timeout", STATUS_LAUNCH_TIMEOUT},
					       {"illegal_instruction", STATUS_ILLEGAL_INSTRUCTION},
					       {NULL, 0}};
	u32 value = 0;

	if (!read_choice(r, rule_word(r), faults, "the fault", &value))
		return;
	x->status = (int)value;
	for (const struct choice *c = faults; c->name; c++)
		if (c->value == value)
			x->fault = c->name;
}

/* flip 1|2|random|zero, of memory: flip bit N [ecc] */
static void read_flip(struct reader *r, struct inject_rule *x)
{
	static const struct choice models[] = {{"1", FLIP_ONE},         {"2", FLIP_TWO},
					       {"random", FLIP_RANDOM}, {"zero", FLIP_ZERO},
					       {"bit", FLIP_BIT},       {NULL, 0}};
	struct word w = rule_word(r), n;
	bool of_memory = !(x->when & WHEN_INST);
	u32 value = 0, most = of_memory ? 7 : 127;
	u64 bit;

	if (!read_choice(r, w, models, "what is flipped", &value))
		return;
	x->flip = (u8)value;
	if (x->flip != FLIP_BIT)
		return;
	n = rule_word(r);
	if (!with_unit(n, plain, &bit) || bit > most)
		WRONG(r, n, NULL, "the bit of a %s is 0 to %u, not '%.*s'",
		      of_memory ? "byte" : "register", most, (int)n.len, n.at);
	x->bit = (u8)bit;
	if (!skip_rule_space(r) || !of_memory)
		return;
	w = rule_word(r);
	x->ecc = is_rule_word(w, "ecc");
	if (!x->ecc)
		WRONG(r, w, NULL, "'%.*s' is too much; ecc may follow", (int)w.len, w.at);
}

/* lost [xid] N: the driver's number of the reason, which gives the error. */
static void read_lost(struct reader *r, struct inject_rule *x)
{
	static const struct choice xids[] = {
		{"79", STATUS_NO_DEVICE},          {"48", STATUS_ECC_UNCORRECTABLE},
		{"94", STATUS_ECC_UNCORRECTABLE},  {"95", STATUS_UNKNOWN},
		{"46", STATUS_DEVICE_UNAVAILABLE}, {NULL, 0}};
	struct word w = rule_word(r);
	u32 value = 0;
	u64 xid = 0;

	if (is_rule_word(w, "xid"))
		w = rule_word(r);
	if (!read_choice(r, w, xids, "the Xid", &value))
		return;
	with_unit(w, plain, &xid);
	x->xid = (u32)xid;
	x->status = (int)value;
}

static void read_delay(struct reader *r, struct inject_rule *x)
{
	struct word w = rule_word(r);

	if (!with_unit(w, times, &x->ns) || x->ns > DELAY_MAX_NS)
		WRONG(r, w, NULL, "a delay is a time such as 500us, 5ms or 2s, not '%.*s'",
		      (int)w.len, w.at);
}

static void read_rate(struct reader *r, struct inject_rule *x)
{
	struct word w = rule_word(r);

	if (!with_unit(w, rates, &x->rate) || !x->rate)
		WRONG(r, w, NULL, "a rate is bytes a second such as 100M/s or 1G/s, not '%.*s'",
		      (int)w.len, w.at);
}

/* count, alone */
static void read_count(struct reader *r, struct inject_rule *x)
{
	(void)r, (void)x;
}

static const struct act {
	const char *name;
	enum inject_act act;
	void (*read)(struct reader *r, struct inject_rule *x);
} acts[] = {
	{"error", INJECT_ERROR, read_error}, {"fault", INJECT_FAULT, read_fault},
	{"flip", INJECT_FLIP, read_flip},    {"lost", INJECT_LOST, read_lost},
	{"delay", INJECT_DELAY, read_delay}, {"rate", INJECT_RATE, read_rate},
	{"count", INJECT_COUNT, read_count},
};

static void read_act(struct reader *r, struct inject_rule *x)
{
	struct word w = rule_word(r);

	for (size_t i = 0; i < ARRAY_LEN(acts); i++)
		if (is_rule_word(w, acts[i].name)) {
			x->act = (u8)acts[i].act;
			acts[i].read(r, x);
			w = rule_word(r);
			if (w.len)
				WRONG(r, w, NULL, "'%.*s' is too much", (int)w.len, w.at);
			return;
		}
	WRONG(r, w, NULL,
	      "behind the arrow comes error, fault, flip, lost, delay, rate or count%s%.*s%s",
	      w.len ? ", not '" : "", (int)w.len, w.at, w.len ? "'" : "");
}

/* ---- rules ---- */

/* Conditions of calls, of launches, of instructions and of memory. */
#define OF_CALLS                                                                                   \
	((u32)(WHEN_CALL | WHEN_NTH | WHEN_BYTES | WHEN_PROB | WHEN_SEED | WHEN_DIR | WHEN_DEVICE))
#define OF_LAUNCHES ((u32)(WHEN_KERNEL | WHEN_LAUNCH | WHEN_DEVICE | WHEN_PROB | WHEN_SEED))
#define OF_RESULTS (OF_LAUNCHES | WHEN_INST | WHEN_GROUP)
#define OF_MEMORY (OF_LAUNCHES | WHEN_ALLOC | WHEN_BYTE)

/* Which conditions the rule may have; says what it lacks. */
static u32 allowed_conditions(struct reader *r, const struct inject_rule *x, struct word rule)
{
	bool of_launch = x->when & (WHEN_KERNEL | WHEN_LAUNCH);

	switch ((enum inject_act)x->act) {
	case INJECT_FLIP:
		if (x->flip == FLIP_BIT && !(x->when & WHEN_INST)) {
			if ((x->when & (WHEN_ALLOC | WHEN_BYTE)) != (WHEN_ALLOC | WHEN_BYTE))
				WRONG(r, rule, NULL, "flip bit needs alloc=N and byte=N");
			return OF_MEMORY;
		}
		if (!(x->when & WHEN_INST))
			WRONG(r, rule, NULL, "flip needs inst=N or inst=rand");
		return OF_RESULTS;
	case INJECT_COUNT:
		if (!of_launch)
			WRONG(r, rule, NULL, "count needs kernel=NAME or launch=N");
		return OF_LAUNCHES | WHEN_GROUP;
	case INJECT_FAULT:
		if (!of_launch)
			WRONG(r, rule, NULL, "fault needs kernel=NAME or launch=N");
		return OF_LAUNCHES;
	case INJECT_DELAY:
	case INJECT_RATE:
		if (!x->call)
			WRONG(r, rule, NULL, "%s needs call=NAME",
			      x->act == INJECT_DELAY ? "delay" : "rate");
		return OF_CALLS;
	case INJECT_ERROR:
	case INJECT_LOST:
		if (!x->call && !of_launch)
			WRONG(r, rule, NULL,
			      "which calls or launches? call=NAME, kernel=NAME or launch=N");
		return x->call ? OF_CALLS : OF_LAUNCHES;
	}
	return 0;
}

static void check_rule(struct reader *r, const struct inject_rule *x, struct word rule)
{
	u32 extra = x->when & ~allowed_conditions(r, x, rule);

	for (size_t i = 0; i < ARRAY_LEN(conditions); i++)
		if (extra & conditions[i].when)
			WRONG(r, rule, NULL, "%s= has no meaning in such a rule",
			      conditions[i].name);
	if (x->when & WHEN_SEED && !(x->when & (WHEN_PROB | WHEN_INST)))
		WRONG(r, rule, NULL, "seed= is for prob= and inst=rand");
}

static void rule_fini(struct inject_rule *x)
{
	free(x->call);
	free(x->kernel);
	free(x->text);
}

/* memory=SIZE, a rule without an arrow. */
static bool memory_rule(struct reader *r, struct inject_rules *out, struct word w)
{
	static const char name[] = "memory=";
	struct word value = {w.at + sizeof(name) - 1, w.len - (u32)sizeof(name) + 1};

	if (w.len < sizeof(name) - 1 || memcmp(w.at, name, sizeof(name) - 1) != 0)
		return false;
	if (!with_unit(value, sizes, &out->memory) || !out->memory)
		WRONG(r, value, NULL, "a size such as 512M or 2G is wanted, not '%.*s'",
		      (int)value.len, value.at);
	w = rule_word(r);
	if (w.len)
		WRONG(r, w, NULL, "'%.*s' is too much", (int)w.len, w.at);
	return true;
}

static void read_rule(struct reader *r, struct inject_rules *out)
{
	struct inject_rule x = {.dir = DIR_UNKNOWN};
	struct word w = rule_word(r), rule = w;
	u32 column;

	if (!w.len || memory_rule(r, out, w))
		return;
	while (w.len && !is_rule_word(w, "->") && !r->failed) {
		read_condition(r, &x, w);
		w = rule_word(r);
	}
	if (!w.len)
		WRONG(r, w, NULL, "an arrow is missing: CONDITION.. -> ACT");
	if (!r->failed)
		read_act(r, &x);
	rule.len = (u32)(r->at - rule.at);
	while (rule.len && is_rule_space(rule.at[rule.len - 1]))
		rule.len--;
	if (!r->failed)
		check_rule(r, &x, rule);
	x.text = strndup(rule.at, rule.len);
	diag_locate(&r->source, (u32)(rule.at - r->source.text), &x.line, &column);
	if (!x.text || !VEC_PUSH(&out->list, x)) {
		WRONG(r, rule, NULL, "no memory left");
		rule_fini(&x);
	}
}

bool inject_rules_parse(struct inject_rules *r, const char *text, size_t size, const char *name,
			struct diag *d)
{
	struct reader reader = {
		.source = {name, text, size}, .diag = d, .at = text, .end = text + size};

	*r = (struct inject_rules){.name = strdup(name)};
	while (reader.at < reader.end && !reader.failed) {
		read_rule(&reader, r);
		if (reader.at < reader.end && !reader.failed)
			reader.at++;
	}
	if (!reader.failed && !r->list.len && !r->memory) {
		diag_at(d, DIAG_ERROR, &reader.source, DIAG_NOWHERE, NULL, "there is no rule");
		reader.failed = true;
	}
	if (!reader.failed && r->name)
		return true;
	inject_rules_fini(r);
	return false;
}

/* Rules are written by people. */
#define FILE_MAX_BYTES ((size_t)16 << 20)

bool inject_rules_read(struct inject_rules *r, const char *value, const char *shown, struct diag *d)
{
	struct file f;
	bool ok;

	*r = (struct inject_rules){0};
	if (*value != '@')
		return inject_rules_parse(r, value, strlen(value), shown, d);
	if (!file_open(&f, value + 1)) {
		diag_at(d, DIAG_ERROR, NULL, DIAG_NOWHERE, NULL, "%s: %s", value + 1,
			strerror(errno));
		return false;
	}
	ok = f.size <= FILE_MAX_BYTES;
	if (!ok)
		diag_at(d, DIAG_ERROR, NULL, DIAG_NOWHERE, NULL,
			"%s: too large for a file of rules", value + 1);
	ok = ok && inject_rules_parse(r, f.size ? (const char *)f.data : "", f.size, value + 1, d);
	file_close(&f);
	return ok;
}

void inject_rules_fini(struct inject_rules *r)
{
	for (size_t i = 0; i < r->list.len; i++)
		rule_fini(&r->list.at[i]);
	VEC_FREE(&r->list);
	free(r->name);
	*r = (struct inject_rules){0};
}

bool inject_of_results(const struct inject_rule *r)
{
	return r->act == INJECT_COUNT || (r->act == INJECT_FLIP && r->when & WHEN_INST);
}

bool inject_rules_flip_results(const struct inject_rules *r)
{
	for (size_t i = 0; i < r->list.len; i++)
		if (inject_of_results(&r->list.at[i]))
			return true;
	return false;
}
