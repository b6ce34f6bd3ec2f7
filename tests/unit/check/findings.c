/*
 * src/check/finding.h: a listener is told once of what a launch finds and adds at its end, also if
 * the list is cleared between the two; of what is found again behind a clearing, again.
 */
#include "src/check/finding.h"
#include "tests/check.h"

#include <stdlib.h>

static unsigned told;

static bool on_found(void *user, const struct finding *f)
{
	(void)user, (void)f;
	told++;
	return true;
}

static const struct findings_listener listener = {.found = on_found};

static void add_place(struct finding *f, const char *function)
{
	struct finding_side *s = finding_add_side(f, "Write", NULL, 0);

	finding_set_place(&s->place, function, "a.cu", function[0], NULL, 0);
}

static struct finding make(const char *one, const char *other)
{
	struct finding f;

	finding_init(&f, FINDING_RACE);
	add_place(&f, one);
	add_place(&f, other);
	text_puts(&f.text, "Race\n");
	return f;
}

static void announce(struct findings *l)
{
	struct finding f = make("first", "second");

	findings_announce(l, &f);
}

static void add(struct findings *l, const char *function, const char *other)
{
	struct finding f = make(function, other);

	findings_add(l, &f);
}

static void test_listener(struct findings *l)
{
	announce(l);
	announce(l);
	CHECK_MSG(told == 1, "it is told while the launch runs");
	add(l, "first", "second");
	CHECK_MSG(told == 1 && l->errors == 1, "and not again when the launch adds it");
	findings_clear(l);
	CHECK_MSG(!l->list.len && !findings_fail(l), "a list that is cleared is empty");
	announce(l);
	CHECK_MSG(told == 2, "what is found behind that is told again");
	findings_clear(l);
	add(l, "first", "second");
	CHECK_MSG(told == 2, "but for what a launch under way has announced");
	add(l, "other", "second");
	CHECK_MSG(told == 3 && l->errors == 2, "another place is another finding");
}

static void test_order(struct findings *l)
{
	findings_clear(l);
	add(l, "first", "second");
	add(l, "second", "first");
	CHECK_MSG(l->errors == 1 && l->list.at[0].count == 2, "the order of the sides is none");
	add(l, "first", "first");
	CHECK_MSG(l->errors == 2, "but each of them counts");
}

int main(void)
{
	struct findings l;
	struct text why = {0};

	setenv("PTXLOOM_CHECK_FILE", "/dev/null", 1);
	CHECK_MSG(findings_open(&l, CHECK_RACE, &why), "the list opens");
	l.listener = &listener;
	test_listener(&l);
	test_order(&l);
	findings_close(&l);
	text_fini(&why);
	return check_done();
}
