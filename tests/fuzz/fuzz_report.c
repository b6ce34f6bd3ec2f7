/*
 * Fuzzer of reports of `ptxloom profile`: lines, changed word by word, are read, and what is read
 * is shown on every page; and of saved metrics, which are written and compared. Nothing may crash
 * or leak; what is wrong says so in one line.
 *   fuzz_report                       the same changes each run
 *   fuzz_report --long [N [FIRST]]    N of them
 *   fuzz_report FILE ..               reports that were found elsewhere
 */
#include "src/profile/kept/base.h"
#include "src/profile/page/page.h"
#include "src/profile/report.h"
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#define ROUNDS 1500
#define CHANGES_MAX 3

static const char seed[] =
	"{\"ptxloom_profile\": 1, \"version\": \"1\", \"process\": 12, \"name\": \"/tmp/app\", \"columns\": "
	"[\"inst\", \"threads\", \"threads_on\", \"divergent\", \"global_requests\", \"global_sectors\"]}\n"
	"{\"program\": 1, \"kernel\": \"_Z1kPf\", \"name\": \"k<int>(float const*, int)\", \"ptx\": \"a.ptx\", "
	"\"insns\": [[0, 3, 0, 7, \"ld.global.f32 %f1, [%rd1];\"], [0, 4, -1, 0, \"@%p1 bra $L;\"], "
	"[1, 5, 0, 9, \"ret;\"]], \"functions\": [\"k\", \"f(int)\"], \"files\": [\"a.cu\"]}\n"
	"{\"launch\": 0, \"program\": 1, \"device\": 0, \"device_name\": \"h100\", \"context\": 1, \"stream\": 7, "
	"\"grid\": [4, 1, 1], \"block\": [64, 1, 1], \"cluster\": [0, 0, 0], \"values\": {\"inst\": 12, "
	"\"sms\": 132, \"global_ld_sectors\": 64, \"has_caches\": 1, \"threads\": \"18446744073709551615\"}, "
	"\"variables\": [[\"allocation 1\", 4096, 4, 1, 3, 4, 0, 2]], "
	"\"rows\": [[0, 8, 256, 256, 0, 8, 64], [1, 8, 256, 200, 3, 0, 0]]}\n"
	"{\"end\": 1}\n";

static const char base_seed[] =
	"# saved\n"
	"test\tkernel\tcompiler\tlaunches\tmetric\tvalue\n"
	"one (t4)\tk<int>(float*)\tLLVM, PTX 6.0\t1\tbank_conflicts\t0\n"
	"one (t4)\tk<int>(float*)\tLLVM, PTX 6.0\t1\tinstructions\t120\ta.ptx:3: x\n"
	"one (t4)\tf\t\t22\tsmsp__inst_executed.avg\t0.25\n"
	"\tf\tPTX 9.0\t3\tdram__sectors_read.sum\t1e300\n";

static const char *const words[] = {
	"\t",
	"test\tkernel\tcompiler\tlaunches\tmetric\tvalue\n",
	"nan",
	"#",
	"{",
	"}",
	"[",
	"]",
	",",
	":",
	"\"",
	"\n",
	"null",
	"true",
	"-1",
	"0",
	"1e308",
	"4294967296",
	"0.5",
	"\"99\"",
	"\\u0000",
	"\\ud800",
	"\xff",
	"\"launch\"",
	"\"end\"",
	"\"program\"",
	"\"rows\"",
	"\"insns\"",
	"\"values\"",
	"\"18446744073709551616\"",
	"[[[[[[[[",
	"\"stream\": ",
	"{\"ptxloom_profile\": 1",
};

static u64 read_well, refused;

static void show(const struct profile_report *r)
{
	for (u32 kind = 0; kind < PAGE_KINDS; kind++)
		for (u32 csv = 0; csv < 2; csv++) {
			struct page p = {.kind = (enum page_kind)kind,
					 .is_csv = csv,
					 .source = SOURCE_CUDA_PTX,
					 .sections = UINT32_MAX};
			struct text t = {0};

			for (size_t i = 0; i < r->launches.len; i++)
				(void)VEC_PUSH(&p.launches, r->launches.at[i]);
			page_write(&p, &t);
			if (t.failed)
				CHECK_MSG(false, "a page is written");
			text_fini(&t);
			VEC_FREE(&p.launches);
		}
}

static void read_report_text(const char *text, size_t size)
{
	struct profile_report r = {0};
	struct text why = {0};
	bool ok = profile_report_read(&r, "report", text, size, false, &why);

	if (ok != !why.len || (why.len && strchr(why.at, '\n')))
		CHECK_MSG(false, "what is wrong is one line");
	if (ok)
		show(&r);
	read_well += ok;
	refused += !ok;
	profile_report_fini(&r);
	text_fini(&why);
}

/* What was read is written, read again and compared: it is the same. */
static void read_base_text(const char *text, size_t size)
{
	struct metric_base a = {0}, b = {0};
	struct text why = {0}, out = {0}, differ = {0};
	bool ok = metric_base_read(&a, "base", text, size, NULL, &why);

	if (ok != !why.len || (why.len && strchr(why.at, '\n')))
		CHECK_MSG(false, "what is wrong is one line");
	if (ok) {
		metric_base_write(&a, true, &out);
		ok = metric_base_read(&b, "again", out.at, out.len, NULL, &why) &&
		     a.rows.len == b.rows.len &&
		     metric_base_compare(&a, &a, "base", 0, &differ, &why);
		if (!ok && !differ.len)
			CHECK_MSG(false, "what is written is what was read");
	}
	metric_base_fini(&a);
	metric_base_fini(&b);
	text_fini(&why);
	text_fini(&out);
	text_fini(&differ);
}

static void change_report(struct text *t, u64 *state)
{
	const char *word = words[mutate_next(state) % ARRAY_LEN(words)];
	size_t size = 0, at = t->len ? mutate_token(t, mutate_next(state) % t->len, &size) : 0;

	switch (mutate_next(state) % 8) {
	case 0:
		mutate_replace(t, at, mutate_next(state) % 2 ? size : 0, word, strlen(word));
		break;
	case 1:
		mutate_replace(t, at, size, "", 0);
		break;
	case 2:
		if (t->len)
			t->len = mutate_next(state) % t->len;
		break;
	case 3:
		if (t->len)
			t->at[at] = (char)(t->at[at] ^ 1 << mutate_next(state) % 8);
		break;
	default: /* a digit: much of it is read */
		at = t->len ? mutate_next(state) % t->len : 0;
		while (at < t->len && (t->at[at] < '0' || t->at[at] > '9'))
			at++;
		if (at < t->len)
			t->at[at] = (char)('0' + mutate_next(state) % 10);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	read_report_text((const char *)data, size);
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

		text_puts(&t, seed);
		for (u64 n = mutate_next(&state) % (CHANGES_MAX + 1); n; n--)
			change_report(&t, &state);
		if (t.at)
			read_report_text(t.at, t.len);
		t.len = 0;
		text_puts(&t, base_seed);
		for (u64 n = mutate_next(&state) % (CHANGES_MAX + 1); n; n--)
			change_report(&t, &state);
		if (t.at)
			read_base_text(t.at, t.len);
		text_fini(&t);
	}
	printf("# %llu read, %llu refused\n", (unsigned long long)read_well,
	       (unsigned long long)refused);
	CHECK_MSG(read_well > r.n / 20 && refused > r.n / 20, "changed reports do no harm");
	return check_done();
}
