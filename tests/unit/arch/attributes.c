/* src/arch: device attributes by number, all of them against an H200's answers. */
#include "src/arch/arch.h"
#include "tests/check.h"

#include <stdlib.h>

static void test_measured(void)
{
	const struct arch *h = arch_find("h200");
	char path[512], line[256];
	u32 values = 0, per_device = 0, none = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/vectors/attributes_gh100.tsv",
		 getenv("srcdir") ? getenv("srcdir") : ".");
	f = fopen(path, "r");
	CHECK_MSG(f != NULL, path);
	while (f && fgets(line, sizeof(line), f)) {
		char word[32];
		int number, value;
		enum arch_answer answer;

		if (sscanf(line, "%d\t%31s", &number, word) != 2)
			continue;
		answer = arch_attribute(h, number, &value);
		values += answer == ARCH_ANSWER_VALUE;
		per_device += answer == ARCH_ANSWER_PER_DEVICE;
		none += answer == ARCH_ANSWER_NONE;
		if (!strcmp(word, "none")
			    ? answer != ARCH_ANSWER_NONE
			    : answer != ARCH_ANSWER_PER_DEVICE &&
				      (answer != ARCH_ANSWER_VALUE || value != atoi(word))) {
			printf("# attribute %d: answer %d value %d, measured %s\n", number, answer,
			       value, word);
			CHECK_MSG(false, "attribute");
		}
	}
	if (f)
		fclose(f);
	CHECK_EQ(values, 143);
	CHECK_EQ(per_device, 4);
	CHECK_EQ(none, 52);
}

static void test_others(void)
{
	const struct arch *a = arch_find("a100"), *t = arch_find("t4");
	int v;

	CHECK(arch_attribute(a, 0, &v) == ARCH_ANSWER_NONE &&
	      arch_attribute(a, -5, &v) == ARCH_ANSWER_NONE);
	CHECK(arch_attribute(a, ARCH_ATTRIBUTE_MAX + 1, &v) == ARCH_ANSWER_NONE);
	CHECK(arch_attribute(a, 16, &v) == ARCH_ANSWER_VALUE && v == 108);
	CHECK(arch_attribute(a, 75, &v) == ARCH_ANSWER_VALUE && v == 8);
	CHECK(arch_attribute(a, 97, &v) == ARCH_ANSWER_VALUE && v == 166912);
	CHECK(arch_attribute(a, 120, &v) == ARCH_ANSWER_VALUE && v == 0);
	CHECK(arch_attribute(t, 39, &v) == ARCH_ANSWER_VALUE && v == 1024);
	CHECK(arch_attribute(a, 108, &v) == ARCH_ANSWER_VALUE && v == 31457280);
	CHECK(arch_attribute(arch_find("ga102"), 108, &v) == ARCH_ANSWER_UNKNOWN && v == 0);
	CHECK(arch_attribute(a, 33, &v) == ARCH_ANSWER_PER_DEVICE);
	/* What programs ask first is known everywhere. */
	for (u32 i = 0; arch_nth(i); i++) {
		static const int asked[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 12,  13, 16,
					    36, 37, 38, 39, 41, 75, 76, 81, 82, 97, 106, 111};

		for (u32 k = 0; k < ARRAY_LEN(asked); k++)
			if (arch_attribute(arch_nth(i), asked[k], &v) != ARCH_ANSWER_VALUE)
				CHECK_MSG(false, arch_nth(i)->id);
	}
}

int main(void)
{
	test_measured();
	test_others();
	return check_done();
}
