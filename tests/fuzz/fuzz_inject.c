/*
 * Fuzzer of the rules of fault injection: rules, changed word by word, are read. Nothing may crash
 * or leak; what is wrong says so in one message with a place within the text.
 *   fuzz_inject                       the same changes each run
 *   fuzz_inject --long [N [FIRST]]    N of them
 *   fuzz_inject FILE ..               rules that were found elsewhere
 */
#include "src/inject/rules.h"
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#define ROUNDS 20000
#define CHANGES_MAX 6

static const char *const seeds[] = {
	"call=cudaMalloc nth=3 -> error 2",
	"call=cudaMalloc* bytes>=64M -> error cudaErrorMemoryAllocation # half of it",
	"call=* prob=0.01 seed=7 -> error 999; memory=2G",
	"kernel=\"scale<float, 4>\" launch>=2 -> error 701\n\nkernel=* -> fault trap",
	"kernel=reduce* launch=5 -> fault illegal_address",
	"alloc=2 byte=128 launch=3 -> flip bit 5 ecc",
	"kernel=* launch=1 inst=rand seed=9 group=fp32 -> flip random",
	"kernel=* inst=12 group=gp -> flip bit 31; launch=1 group=ld -> count",
	"device=1 call=cudaMemcpy nth<=7 -> lost xid 79",
	"call=cuMemcpy* dir=h2d -> delay 5ms\r\ncall=cudaMemcpy -> rate 1G/s",
};

static const char *const words[] = {
	"call=",
	"nth",
	"bytes",
	"prob=",
	"seed=",
	"dir=",
	"device=",
	"kernel=",
	"launch",
	"alloc",
	"byte=",
	"inst=",
	"group=",
	"memory=",
	"->",
	"error",
	"fault",
	"flip",
	"lost",
	"delay",
	"rate",
	"xid",
	"ecc",
	"bit",
	"rand",
	"count",
	"group=pr",
	"*",
	"[",
	"\\",
	"\"",
	";",
	"#",
	"\n",
	">=",
	"<=",
	"=",
	"0",
	"1e9",
	"-1",
	"18446744073709551615",
	"18446744073709551616",
	"99T",
	"5ms",
	"\x01",
	"\xff",
	"cudaMalloc",
	"cuInit",
	"999",
	"h2d",
	"1/s",
};

static u64 read_well, refused;

static void count_message(void *user, const struct diag_message *m)
{
	u32 *messages = user;

	++*messages;
	if (m->file && m->line && !m->column)
		CHECK_MSG(false, "a message has its column");
}

static void read_text(const char *text, size_t size)
{
	struct inject_rules rules;
	u32 messages = 0;
	struct diag d;
	bool ok;

	diag_init(&d, count_message, &messages);
	ok = inject_rules_parse(&rules, text, size, "rules", &d);
	if (ok != !messages || messages > 1) {
		printf("# %.*s: %u messages\n", (int)size, text, messages);
		CHECK_MSG(false, "what is wrong is one message");
	}
	read_well += ok;
	refused += !ok;
	for (size_t i = 0; ok && i < rules.list.len; i++)
		if (!rules.list.at[i].text[0] || !rules.list.at[i].line)
			CHECK_MSG(false, "a rule knows its text");
	if (ok)
		inject_rules_fini(&rules);
	diag_fini(&d);
}

static void change_rule(struct text *t, u64 *state)
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
	read_text((const char *)data, size);
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
			change_rule(&t, &state);
		if (t.at)
			read_text(t.at, t.len);
		text_fini(&t);
	}
	printf("# %llu read, %llu refused\n", (unsigned long long)read_well,
	       (unsigned long long)refused);
	CHECK_MSG(read_well > r.n / 20 && refused > r.n / 20, "changed rules do no harm");
	return check_done();
}
