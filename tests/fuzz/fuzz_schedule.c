/*
 * Fuzzer of schedules: tokens, changed word by word, are read. Nothing may crash or leak; what is
 * wrong is one line that begins with a place; what is read is the same after it was written.
 *   fuzz_schedule                       the same changes each run
 *   fuzz_schedule --long [N [FIRST]]    N of them
 *   fuzz_schedule FILE ..               schedules that were found elsewhere
 */
#include "src/sched/steer/schedule.h"
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#define ROUNDS 20000
#define CHANGES_MAX 4

static const char *const seeds[] = {
	"natural",
	"eager:reverse+none",
	"random:18446744073709551615",
	"pct:3:7:4.17-18:p57.3,120+a1b2c3",
	"starve:9:1.0:0-4096",
	"1:4.17:w3@812/w0,w3.9/c17w0l16,w5.0/n64:5.0:w0@0/w1+5xa1b2c3.00ff00",
	"1:1.0:w0@1/w1+e8adc4",
};

static const char *const words[] = {
	"1",
	"1:",
	"natural",
	"eager:",
	"pct:",
	"random:",
	"starve:",
	"reverse",
	":",
	".",
	"-",
	",",
	"/",
	"@",
	"+",
	"w0",
	"w64",
	"l31",
	"l32",
	"c9",
	"n",
	"n0",
	"p5.1",
	"0",
	"99",
	"18446744073709551616",
	"x",
	"5x",
	"none",
	"ffffff",
	"\n",
	"# ",
	"\xff",
	"-1",
	"281474976710657",
};

static u64 read_well, refused;

static bool are_equal(const struct schedule *a, const struct schedule *b)
{
	struct text x = {0}, y = {0};
	bool equal;

	schedule_write(a, &x);
	schedule_write(b, &y);
	equal = x.at && y.at && !strcmp(x.at, y.at);
	text_fini(&x);
	text_fini(&y);
	return equal;
}

static void check_written(const struct schedule *s)
{
	struct text token = {0}, why = {0};
	struct schedule again;

	schedule_write(s, &token);
	if (!CHECK_MSG(token.at && schedule_read(&again, token.at, "token", &why) &&
			       are_equal(s, &again),
		       "what is written is read"))
		printf("# %s: %s\n", token.at ? token.at : "", why.at ? why.at : "");
	for (const char *c = token.at; c && *c; c++)
		if (strchr(" \t\n'\"\\$`!*?[](){}<>|&;#~^", *c))
			CHECK_MSG(false, "a token has no character of a shell");
	schedule_fini(&again);
	text_fini(&token);
	text_fini(&why);
}

/* "token:1:7: ..", one line. */
static void check_message(const struct text *why, const char *token)
{
	unsigned line, column;
	int end = 0;

	if (!why->at || sscanf(why->at, "token:%u:%u: %n", &line, &column, &end) != 2 || !end ||
	    strchr(why->at, '\n') || column < 1 || column > strlen(token) + 1) {
		printf("# %s: %s\n", token, why->at ? why->at : "no message");
		CHECK_MSG(false, "what is wrong has a place");
	}
}

static void read_token(const char *token)
{
	struct text why = {0};
	struct schedule s;
	bool ok;

	/* Files of these names are none of ours. */
	if (*token == '@')
		return;
	ok = schedule_read(&s, token, "token", &why);
	read_well += ok;
	refused += !ok;
	if (ok)
		check_written(&s);
	else
		check_message(&why, token);
	if (ok && why.len)
		CHECK_MSG(false, "what is right has no message");
	for (size_t i = 0; ok && i < s.choices.len; i++) {
		const struct schedule_choice *c = &s.choices.at[i];

		if (!schedule_has_launch(&s, c->launch) ||
		    !schedule_find(&s, c->launch, c->cta, c->warp, c->step, c->at_turn, 0))
			CHECK_MSG(false, "a choice is found");
	}
	schedule_fini(&s);
	text_fini(&why);
}

static void change_token(struct text *t, u64 *state)
{
	const char *word = words[mutate_next(state) % ARRAY_LEN(words)];
	size_t size = 0, at = t->len ? mutate_token(t, mutate_next(state) % t->len, &size) : 0;

	switch (mutate_next(state) % 4) {
	case 0:
		mutate_replace(t, at, mutate_next(state) % 2 ? size : 0, word, strlen(word));
		break;
	case 1:
		mutate_replace(t, at, size, "", 0);
		break;
	case 2:
		text_puts(t, word);
		break;
	default:
		if (t->len)
			t->at[at] = (char)(t->at[at] ^ 1 << mutate_next(state) % 8);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct text t = {0};

	text_add(&t, (const char *)data, size);
	if (t.at)
		read_token(t.at);
	text_fini(&t);
	return 0;
}

int main(int argc, char **argv)
{
	struct mutate_rounds r = mutate_rounds(argc, argv, ROUNDS);

	if (!mutate_makes(argc, argv))
		return mutate_files(argc - 1, argv + 1);
	for (u64 i = r.first; i < r.first + r.n; i++) {
		u64 state = mutate_state(i);
		struct text t = {0};

		text_puts(&t, seeds[mutate_next(&state) % ARRAY_LEN(seeds)]);
		for (u64 n = mutate_next(&state) % (CHANGES_MAX + 1); n; n--)
			change_token(&t, &state);
		if (t.at)
			read_token(t.at);
		text_fini(&t);
	}
	printf("# %llu read, %llu refused\n", (unsigned long long)read_well,
	       (unsigned long long)refused);
	CHECK_MSG(read_well > r.n / 20 && refused > r.n / 20, "changed schedules do no harm");
	return check_done();
}
