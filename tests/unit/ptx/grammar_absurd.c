/*
 * Absurd texts, each with its whole answer: what is said first and where, or that it is accepted.
 * None takes longer than a second of processor time, writes more than a screen, or, as the
 * sanitizers see, leaks.
 */
#include "tests/unit/ptx/ptx_text.h"

#include <time.h>

/* head, then `item` `times` times with its number for each %u, then tail. */
struct absurd {
	const char *what, *head, *item;
	u32 times;
	const char *tail;
	const char *message; /* the first one, with its place; NULL: accepted */
};

#define K PTX_KERNEL
#define H PTX_HEADER

static const struct absurd absurd[] = {
	/* sizes */
	{"an array of 2^63 bytes", H ".global .b8 a[9223372036854775808];\n", "", 0, "",
	 "test.ptx:4:15: error: the variable is larger than 2^40 bytes"},
	{"an array of 2^64 - 1 bytes", H ".shared .b8 a[18446744073709551615];\n", "", 0, "",
	 "test.ptx:4:15: error: the variable is larger than 2^40 bytes"},
	{"an array of 2^64 bytes", H ".global .b8 a[18446744073709551616];\n", "", 0, "",
	 "test.ptx:4:15: error: the integer 18446744073709551616 does not fit in 64 bits"},
	{"dimensions whose product wraps to zero", H ".global .b32 a[4294967296][4294967296];\n",
	 "", 0, "", "test.ptx:4:14: error: the variable is larger than 2^40 bytes"},
	{"dimensions whose product wraps to little", H ".global .b64 a[2305843009213693953][8];\n",
	 "", 0, "", "test.ptx:4:14: error: the variable is larger than 2^40 bytes"},
	{"an empty dimension", H ".global .b8 a[4][0];\n", "", 0, "",
	 "test.ptx:4:18: error: the size of an array is positive"},
	{"a negative dimension", H ".global .b8 a[-1];\n", "", 0, "",
	 "test.ptx:4:15: error: unexpected '-'"},
	{"shared memory of 5 GB",
	 K ".shared .b8 a[5000000000]; .reg .u32 r; ld.shared.u8 r, [a]; }\n", "", 0, "",
	 "test.ptx:6:13: error: with 'a' kernel 'k' has 5000000000 bytes of static .shared, at most 49152 "
	 "are possible"},
	{"constants of 2^40 bytes", H ".const .b8 a[1099511627776];\n", "", 0, "",
	 "test.ptx:4:12: error: with 'a' the module has 1099511627776 bytes of .const, at most 65536 are possible"},
	{"parameters of 32765 bytes",
	 ".version 8.1\n.target sm_80\n.address_size 64\n.entry k(.param .b8 "
	 "p[32765]) { ret; }\n",
	 "", 0, "",
	 "test.ptx:4:21: error: with 'p' the kernel takes 32765 bytes, at most 32764 are possible"},
	{"parameters whose sum wraps", H ".entry k(", ".param .b8 p%u[1099511627776], ", 64,
	 ".param .b8 q) { ret; }\n", "with 'p0' the kernel takes 1099511627776 bytes"},
	{"100,000 parameters", ".version 8.1\n.target sm_80\n.address_size 64\n.entry k(",
	 ".param .u8 p%u, ", 100000, ".param .u8 q) { ret; }\n",
	 "with 'p32764' the kernel takes 32765 bytes"},
	{"local memory, which launches check", K ".local .b8 a[5000000000];\n", "", 0, "}\n", NULL},
	/* alignments */
	{"an alignment of 0", H ".global .align 0 .b8 a;\n", "", 0, "",
	 "test.ptx:4:16: error: an alignment is a power of two"},
	{"an alignment of 3", H ".global .align 3 .b8 a;\n", "", 0, "",
	 "test.ptx:4:16: error: an alignment is a power of two"},
	{"an alignment of 2^31", H ".global .align 2147483648 .b8 a;\n", "", 0, "",
	 "test.ptx:4:16: error: an alignment is a power of two"},
	{"an alignment of 2^64 - 1", H ".global .align 18446744073709551615 .b8 a;\n", "", 0, "",
	 "test.ptx:4:16: error: an alignment is a power of two"},
	/* registers */
	{"4,000,000,000 registers", K ".reg .u32 %%r<4000000000>; mov.u32 %%r5, 1; }\n", "", 0, "",
	 "test.ptx:6:13: error: a register family has at most 16777216 members"},
	{"2^64 - 1 registers", K ".reg .u32 %%r<18446744073709551615>; }\n", "", 0, "",
	 "test.ptx:6:13: error: a register family has at most 16777216 members"},
	{"a register beyond 64 bits", K ".reg .u32 %%r<5>; mov.u32 %%r99999999999999999999, 1; }\n",
	 "", 0, "",
	 "test.ptx:6:26: error: '%r99999999999999999999' is not defined; '%r<5>' ends before it"},
	/* nesting */
	{"100,000 blocks in each other", K, "{", 100000, "",
	 "test.ptx:6:256: error: blocks are nested more "
	 "than 256 deep"},
	{"100,000 parentheses", K ".reg .u32 r; mov.u32 r, ", "(", 100000, "1; }\n",
	 "error: nested too deep"},
	{"100,000 signs", K ".reg .u32 r; mov.u32 r, ", "-", 100000, "1; }\n",
	 "error: nested too deep"},
	{"100,000 braces of an initial value", H ".global .u8 x = ", "{", 100000, "1;\n",
	 "more braces than dimensions"},
	/* many */
	{"100,000 labels", K, "L%u:\n", 100000, "}\n", NULL},
	{"a branch table of 100,000", K ".reg .u32 r; L0: T: .branchtargets L0", ", L0", 100000,
	 "; brx.idx r, T; }\n", NULL},
	{"a range of 2^32 labels", K "T: .branchtargets L<4294967296>; }\n", "", 0, "", "error: "},
	{"100,000 undefined labels", K, "bra L%u;\n", 100000, "}\n",
	 "test.ptx:6:5: error: label 'L0' is not defined here"},
	{"100,000 undefined registers", K, ".reg .b32 a%u; mov.b32 a%u, b%u;\n", 100000, "}\n",
	 "test.ptx:6:27: error: 'b0' is not defined"},
	{"100,000 unknown instructions", K, "bogus%u;\n", 100000, "}\n",
	 "test.ptx:6:1: error: unknown instruction 'bogus0'"},
	{"100,000 functions", H, ".func f%u() { ret; }\n", 100000, "", NULL},
	{"100,000 statements", K ".reg .u32 r;\n", "add.u32 r, r, %u;\n", 100000, "}\n", NULL},
	{"100,000 elements too many", H ".global .u8 x[10] = {", "1,", 100000, "1};\n",
	 "more initial values than elements"},
	{"a vector of 100,000", K ".reg .u32 r; mov.b32 r, {", "r,", 100000, "r}; }\n",
	 "operand a is a vector"},
	{"100,000 targets", ".version 8.0\n.target sm_80", ", sm_80", 100000,
	 "\n.entry k() { ret; }\n", NULL},
	/* long */
	{"an identifier of 10 MB", H ".global .b8 ", "abcdefghij", 1000000, ";\n", NULL},
	{"an undefined name of 10 MB", K ".reg .u32 r; mov.u32 r, ", "abcdefghij", 1000000, "; }\n",
	 "test.ptx:6:25: error: 'abcdefghij"},
	{"an instruction of 10 MB", K, "abcdefghij", 1000000, "; }\n",
	 "test.ptx:6:1: error: unknown instruction 'abcdefghij"},
	{"a modifier of 10 MB", K "add.", "abcdefghij", 1000000, "; }\n",
	 "test.ptx:6:1: error: unknown instruction 'add' with 10000001 bytes of modifiers, or too many of them"},
	{"a number of 10 MB", K ".reg .u32 r; mov.u32 r, ", "1234567890", 1000000, "; }\n",
	 "test.ptx:6:25: error: the integer 1234567890"},
	{"a pragma of 10 MB", K ".pragma \"", "abcdefghij", 1000000, "\"; }\n", NULL},
	{"a comment of 10 MB", H "/*", "abcdefghij", 1000000, "",
	 "test.ptx:4:1: error: unterminated comment"},
	{"a version of 1 MB", ".version ", "1234567890", 100000, ".0\n.target sm_80\n",
	 "test.ptx:1:10: error: "},
	{"a target of 1 MB", ".version 8.0\n.target sm_", "1234567890", 100000, "\n",
	 "test.ptx:2:9: error: target 'sm_1234567890"},
};

/* The kind of format that the table has: %u is the number, %% a percent sign. */
static void put(struct text *t, const char *s, u32 number)
{
	for (const char *next; (next = strchr(s, '%')); s = next + 2) {
		text_printf(t, "%.*s", (int)(next - s), s);
		if (next[1] == 'u')
			text_printf(t, "%u", number);
		else
			text_puts(t, "%");
	}
	text_puts(t, s);
}

static void check_one(const struct absurd *a)
{
	struct ptx_options options = {.lint = true};
	struct text source = {0}, log = {0};
	struct ir_module *m;
	clock_t begin;
	f64 seconds;
	char what[200];

	put(&source, a->head, 0);
	for (u32 i = 0; i < a->times; i++)
		put(&source, a->item, i);
	put(&source, a->tail, 0);
	begin = clock();
	m = exercise_parse("test.ptx", source.at, source.len, &options, &log);
	seconds = (f64)(clock() - begin) / CLOCKS_PER_SEC;
	snprintf(what, sizeof(what), "%s: %s", a->what, a->message ? "refused" : "accepted");
	if (!CHECK_MSG(a->message
			       ? !m && log.at && strstr(log.at, a->message) &&
					 strstr(log.at, a->message) < log.at + strcspn(log.at, "\n")
			       : m && (!log.at || !strstr(log.at, "error:")),
		       what))
		printf("# %.300s\n", log.at ? log.at : "(nothing is said)");
	snprintf(what, sizeof(what), "%s: in less than a second, %zu bytes of messages", a->what,
		 log.len);
#ifdef __SANITIZE_ADDRESS__
	seconds /= 4;
#endif
	CHECK_MSG(seconds < 1 && log.len < 32768, what);
	ir_module_free(m);
	text_fini(&source);
	text_fini(&log);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(absurd); i++)
		check_one(&absurd[i]);
	return check_done();
}
