/*
 * Module images: which PTX a device gets, and what is said when there is none.
 */
#include "tests/unit/image/image_make.h"

#include "src/arch/arch.h"
#include "tests/check.h"

struct choice_case {
	const char *targets; /* of the PTX images of one container, in order */
	u32 sm;
	int image; /* the index expected; -1: none */
	enum image_match match;
};

static const struct choice_case cases[] = {
	/* the highest not above */
	{"70 75 80 90", 80, 2, IMAGE_MATCH_EXACT},
	{"70 75 80 90", 86, 2, IMAGE_MATCH_BELOW},
	{"90 80 75 70", 86, 1, IMAGE_MATCH_BELOW},
	{"50 60", 90, 1, IMAGE_MATCH_BELOW},
	/* else the lowest above */
	{"90 80 75", 70, 2, IMAGE_MATCH_ABOVE},
	{"120", 60, 0, IMAGE_MATCH_ABOVE},
	{"75 60", 61, 1, IMAGE_MATCH_BELOW},
	/* an arch-specific one for its exact device only */
	{"80 90a", 90, 1, IMAGE_MATCH_EXACT},
	{"90 90a", 90, 1, IMAGE_MATCH_EXACT},
	{"90a 90", 90, 0, IMAGE_MATCH_EXACT},
	{"90a 80", 100, 1, IMAGE_MATCH_BELOW},
	{"90a", 80, -1, 0},
	{"90a", 100, -1, 0},
	{"90a 120", 80, 1, IMAGE_MATCH_ABOVE},
	/* a family one within its family */
	{"90 100f", 103, 1, IMAGE_MATCH_BELOW},
	{"100 100f", 100, 1, IMAGE_MATCH_EXACT},
	{"100f 103", 103, 1, IMAGE_MATCH_EXACT},
	{"103f 90", 100, 1, IMAGE_MATCH_BELOW},
	{"100f 90", 120, 1, IMAGE_MATCH_BELOW},
	{"100f", 120, -1, 0},
	{"100a 100f 100", 100, 0, IMAGE_MATCH_EXACT},
	{"100a 100f 100", 103, 1, IMAGE_MATCH_BELOW},
	{"100a 100f 100", 110, 2, IMAGE_MATCH_BELOW},
	{"", 80, -1, 0},
};

struct fixture {
	struct diag diag;
	struct text bin;
	struct image_list list;
};

static void init(struct fixture *f, const struct image_spec *specs, size_t n)
{
	*f = (struct fixture){0};
	make_fatbin(&f->bin, specs, n);
	diag_init(&f->diag, NULL, NULL);
	image_list_init(&f->list, &f->diag, "app");
	image_list_add(&f->list, f->bin.at, f->bin.len, 0);
}

static void fini(struct fixture *f)
{
	image_list_fini(&f->list);
	diag_fini(&f->diag);
	text_fini(&f->bin);
}

/* Specs of PTX images from "80 90a"; returns how many. */
static size_t parse_specs(const char *s, struct image_spec *specs)
{
	struct image_target t;
	size_t n = 0;
	char word[16];
	int used;

	while (sscanf(s, "%15s%n", word, &used) == 1) {
		if (!image_target_parse(word, &t))
			abort();
		specs[n++] = make_spec(t.sm, t.suffix, IMAGE_PLAIN);
		s += used;
	}
	return n;
}

static void test_rule(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct choice_case *c = &cases[i];
		struct image_spec specs[8];
		struct image_choice choice = {0};
		struct fixture f;
		char what[64];
		bool ok;

		init(&f, specs, parse_specs(c->targets, specs));
		if (c->image < 0)
			ok = image_select(&f.list, 0, c->sm, &choice) == IMAGE_NONE;
		else
			ok = image_select(&f.list, 0, c->sm, &choice) == IMAGE_OK &&
			     choice.image == (u32)c->image && choice.match == c->match;
		snprintf(what, sizeof(what), "of \"%s\" sm_%u gets %d", c->targets, c->sm,
			 c->image);
		CHECK_MSG(ok && !f.diag.errors, what);
		fini(&f);
	}
}

static void test_ties(void)
{
	struct image_spec specs[] = {make_spec(80, 0, IMAGE_PLAIN), make_spec(80, 0, IMAGE_PLAIN),
				     make_spec(80, 0, IMAGE_PLAIN)};
	struct image_choice choice;
	struct fixture f;

	specs[1].isa_minor = specs[2].isa_minor = 2;
	init(&f, specs, 3);
	CHECK(image_select(&f.list, 0, 80, &choice) == IMAGE_OK && choice.image == 1);
	fini(&f);
}

/* sm_90a runs on 90 alone, sm_100f on 100 and 103, sm_100 on 100 and 103 as well. */
static void test_suffixes(const struct text *cubin)
{
	static const struct {
		struct image_target target;
		u32 sm;
		bool runs;
	} pairs[] = {
		{{90, 'a'}, 90, true},    {{90, 'a'}, 80, false},   {{90, 'a'}, 100, false},
		{{100, 'a'}, 103, false}, {{100, 'f'}, 100, true},  {{100, 'f'}, 103, true},
		{{103, 'f'}, 100, false}, {{100, 'f'}, 120, false}, {{100, 0}, 103, true},
		{{103, 0}, 100, false},   {{120, 0}, 121, true},    {{80, 0}, 90, false},
	};
	struct image_choice choice;

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct image_spec spec = {.kind = IMAGE_SASS,
					  .target = pairs[i].target,
					  .data = cubin->at,
					  .size = cubin->len};
		struct fixture f;
		char what[60];

		init(&f, &spec, 1);
		snprintf(what, sizeof(what), "machine code for sm_%u%s on sm_%u",
			 pairs[i].target.sm,
			 pairs[i].target.suffix == 'a'   ? "a"
			 : pairs[i].target.suffix == 'f' ? "f"
							 : "",
			 pairs[i].sm);
		CHECK_MSG((image_select(&f.list, 0, pairs[i].sm, &choice) == IMAGE_OK) ==
				  pairs[i].runs,
			  what);
		fini(&f);
	}
}

static void test_cubins(void)
{
	static const char debug[] = ".version 8.0\0.target sm_80\0";
	struct text with = {0}, without = {0};
	struct image_choice choice;
	struct fixture f;

	make_cubin(&with, 80, debug, sizeof(debug));
	make_cubin(&without, 86, NULL, 0);
	struct image_spec specs[] = {
		{.kind = IMAGE_SASS, .target = {86, 0}, .data = without.at, .size = without.len},
		{.kind = IMAGE_SASS,
		 .target = {75, 0},
		 .codec = IMAGE_ZSTD,
		 .data = with.at,
		 .size = with.len},
		{.kind = IMAGE_SASS,
		 .target = {80, 0},
		 .codec = IMAGE_LZ4,
		 .data = with.at,
		 .size = with.len},
		make_spec(120, 0, IMAGE_PLAIN),
	};
	init(&f, specs, 3);
	CHECK_MSG(image_select(&f.list, 0, 86, &choice) == IMAGE_OK && choice.image == 2,
		  "the best cubin that has PTX text");
	fini(&f);
	init(&f, specs, 4);
	CHECK_MSG(image_select(&f.list, 0, 86, &choice) == IMAGE_OK && choice.image == 3,
		  "a PTX image comes before any cubin");
	fini(&f);
	init(&f, specs, 1);
	CHECK_EQ(image_select(&f.list, 0, 86, &choice), IMAGE_NONE);
	fini(&f);
	/* Machine code for another device is refused, though its PTX is there. */
	init(&f, specs, 3);
	CHECK_EQ(image_select(&f.list, 0, 80, &choice), IMAGE_OK);
	CHECK_EQ(image_select(&f.list, 0, 89, &choice), IMAGE_OK);
	CHECK_MSG(image_select(&f.list, 0, 75, &choice) == IMAGE_OK && choice.image == 1,
		  "the one for sm_75");
	CHECK_EQ(image_select(&f.list, 0, 70, &choice), IMAGE_NONE);
	CHECK_EQ(image_select(&f.list, 0, 90, &choice), IMAGE_NONE);
	CHECK_EQ(image_select(&f.list, 0, 120, &choice), IMAGE_NONE);
	fini(&f);
	test_suffixes(&with);
	text_fini(&with);
	text_fini(&without);
}

#define FROM_CACHE "; if it is from a cache of an earlier run (of CuPy, Triton, JAX ..), empty that"

static void explains(const struct image_spec *specs, size_t n, u32 sm, const char *what,
		     const char *hint)
{
	struct text said = {0}, helped = {0};
	struct fixture f;

	init(&f, specs, n);
	image_explain_no_ptx(&f.list, 0, sm, &said, &helped);
	CHECK_STR(said.at, what);
	CHECK_STR(helped.at, hint);
	text_fini(&said);
	text_fini(&helped);
	fini(&f);
}

static void test_explanations(void)
{
	struct image_spec sass[] = {
		{.kind = IMAGE_SASS, .target = {80, 0}, .data = "x", .size = 1},
		{.kind = IMAGE_SASS, .target = {90, 'a'}, .data = "x", .size = 1},
		{.kind = IMAGE_SASS, .target = {80, 0}, .data = "x", .size = 1},
	};
	struct image_spec ptx = make_spec(90, 'a', IMAGE_PLAIN);

	explains(sass, 3, 80, "no PTX, only machine code for sm_80, sm_90a",
		 "rebuild with `-gencode arch=compute_80,code=compute_80` added to nvcc's options, "
		 "or keep the options and add `-lineinfo`" FROM_CACHE);
	explains(sass, 2, 60, "its machine code is for sm_80, sm_90a only, which sm_60 cannot run",
		 "rebuild with `-gencode arch=compute_60,code=compute_60` added to nvcc's options "
		 "(nvcc 13 and later: compute_75, which runs here too), "
		 "or keep the options and add `-lineinfo`" FROM_CACHE);
	/* Without a device in mind: the lowest there is code for, wherever it stands. */
	sass[0].target.sm = 90;
	explains(sass, 3, 0, "no PTX, only machine code for sm_90, sm_90a, sm_80",
		 "rebuild with `-gencode arch=compute_80,code=compute_80` added to nvcc's options, "
		 "or keep the options and add `-lineinfo`" FROM_CACHE);
	explains(&ptx, 1, 80, "its PTX is for compute_90a only, which sm_80 cannot run",
		 "run it with `-d h100`, or "
		 "rebuild with `-gencode arch=compute_80,code=compute_80` added to nvcc's options");
	explains(NULL, 0, 80, "no PTX and no machine code",
		 "rebuild with `-gencode arch=compute_80,code=compute_80` added to nvcc's options");
}

/* Containers, by a bar each, and the device that suits them better than an A100 does. */
static void test_suits(void)
{
	static const struct {
		const char *containers, *better; /* NULL: none */
	} rows[] = {
		{"75", NULL},
		{"80", NULL},
		{"", NULL},
		{"75 120", NULL},
		{"86", "ga102"},
		{"90", "h100"},
		{"90a", "h100"},
		{"120", "gb202"},
		{"121", NULL}, /* there is none that is not older */
		{"75|120", "gb202"},
		{"120|120|90a", "h100"},
		{"120|80|90", "gb202"},
		{"100a", NULL},
		{"100a|90", "h100"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct image_suits suits = {0};
		const struct arch *better;
		char copy[64], *rest = copy, *one;
		u32 cubins = 0;

		snprintf(copy, sizeof(copy), "%s", rows[i].containers);
		while ((one = strsep(&rest, "|"))) {
			struct image_spec specs[8];
			struct fixture f;

			init(&f, specs, parse_specs(one, specs));
			image_suits_add(&suits, &f.list, &cubins);
			fini(&f);
		}
		better = image_suits_better(&suits, arch_default());
		CHECK_MSG(better ? rows[i].better && !strcmp(better->id, rows[i].better)
				 : !rows[i].better,
			  rows[i].containers);
	}
}

/* Cubins count as far as they may be opened, and if they have PTX. */
static void test_suits_of_cubins(void)
{
	struct image_suits suits = {0};
	struct text cubin = {0};
	struct image_list l;
	struct diag d;
	u32 opened = 0;

	make_cubin(&cubin, 90, MAKE_PTX, strlen(MAKE_PTX) + 1);
	diag_init(&d, NULL, NULL);
	image_list_init(&l, &d, "app");
	CHECK(image_list_add(&l, cubin.at, cubin.len, 0) == IMAGE_OK);
	image_suits_add(&suits, &l, &opened);
	CHECK(!image_suits_better(&suits, arch_default()));
	opened = 1;
	image_suits_add(&suits, &l, &opened);
	CHECK(!opened);
	CHECK(image_suits_better(&suits, arch_default()) == arch_find("h100"));
	CHECK(!image_suits_better(&suits, arch_find("h200")));
	image_list_fini(&l);
	diag_fini(&d);
	text_fini(&cubin);
}

static void test_target_names(void)
{
	static const char *const bad[] = {
		"",    "sm_", "sm_8", "80x",      "sm80",
		"-80", "080", "80ab", "compute_", "sm_99999999999999999999"};
	struct image_target t;

	CHECK(image_target_parse("sm_80", &t) && t.sm == 80 && !t.suffix);
	CHECK(image_target_parse("compute_90a", &t) && t.sm == 90 && t.suffix == 'a');
	CHECK(image_target_parse("100f", &t) && t.sm == 100 && t.suffix == 'f');
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(!image_target_parse(bad[i], &t), bad[i]);
}

int main(void)
{
	test_rule();
	test_ties();
	test_cubins();
	test_explanations();
	test_suits();
	test_suits_of_cubins();
	test_target_names();
	return check_done();
}
