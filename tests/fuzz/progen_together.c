/*
 * Random statements in which threads work together: warp instructions, barriers, exchanges through
 * shared memory. They stand outside of all branches and loops, or name the lanes that take part by
 * a mask taken before the branch.
 */
#include "tests/fuzz/progen.h"

#include <stdio.h>

/* shfl needs every lane it might read from; without a member mask it counts who is there. */
static bool is_known(const struct progen *p, const char *text)
{
	bool masked = strstr(text, ".sync") || !strncmp(text, "bar", 3);

	return (p->full_warps || strncmp(text, "shfl", 4) != 0) && (masked || !p->apart);
}

/* A row of the table whose result does not depend on who comes first. */
static void any_row(struct progen *p)
{
	struct text t = {0};
	bool single;

	for (u32 tries = 0; tries < 20; tries++) {
		t.len = 0;
		progen_insn(p, PROGEN_TOGETHER, &t, &single);
		if (is_known(p, t.at))
			break;
		t.len = 0;
	}
	if (t.len)
		progen_line(p, PROGEN_TEXT, "%s", t.at);
	text_fini(&t);
}

/* Lanes of the whole warp, outside of all branches. */
void progen_warp(struct progen *p)
{
	static const char *const shfl[] = {"up", "down", "bfly", "idx"};
	u32 mode = progen_below(p, 4), width = 1u << progen_below(p, 6);

	p->mask = "-1";
	if (p->full_warps && progen_chance(p, 25))
		progen_line(p, PROGEN_TEXT, "shfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %u, %u, -1;",
			    shfl[mode], progen_below(p, 10), progen_below(p, 8),
			    progen_below(p, 10), progen_below(p, 32),
			    (32 - width) << 8 | (mode ? 31 : 0));
	else
		any_row(p);
}

/* Some lanes of a warp, those that take a branch. */
void progen_some_lanes(struct progen *p)
{
	u32 label = p->labels++, d = progen_below(p, 10), a = progen_below(p, 10),
	    q = progen_below(p, 8);
	char text[96];
	u32 open;

	snprintf(text, sizeof(text), "vote.sync.ballot.b32 %%tm, %%p%u, -1; @!%%p%u bra E%u;", q, q,
		 label);
	open = progen_open(p, text);
	progen_statements(p, progen_below(p, 2));
	progen_line(p, PROGEN_TEXT, "bar.warp.sync %%tm;");
	progen_line(p, PROGEN_TEXT, "vote.sync.ballot.b32 %%r%u, %%p%u, %%tm;", d,
		    progen_below(p, 8));
	progen_line(p, PROGEN_TEXT, "match.sync.any.b32 %%r%u, %%r%u, %%tm;", d, a);
	if (p->target.sm >= 80)
		progen_line(p, PROGEN_TEXT, "redux.sync.add.s32 %%r%u, %%r%u, %%tm;", d, a);
	snprintf(text, sizeof(text), "E%u:", label);
	progen_close(p, open, text);
}

/* Warps with an even number give, those with an odd one take; they meet at one barrier. */
static void hand_over(struct progen *p)
{
	u32 label = p->labels++, threads = (p->block + 31) / 32 * 32, d = progen_below(p, 10);

	if (p->leaves || threads < 64)
		return;
	progen_line(p, PROGEN_TEXT,
		    "bar.sync 0; shr.u32 %%ti, %%tn, 5; and.b32 %%ti, %%ti, 1; "
		    "setp.ne.u32 %%fs, %%ti, 0; @%%fs bra O%u; st.shared.u32 [%%tsh+4], %%r%u; "
		    "bar.arrive %u, %u; bra Q%u; O%u: bar.sync %u, %u; "
		    "sub.u32 %%tl, %%tsh, 1024; ld.shared.u32 %%r%u, [%%tl+4]; Q%u: bar.sync 0;",
		    label, progen_below(p, 10), 1 + label % 15, threads, label, label,
		    1 + label % 15, threads, d, label);
}

/* Both sides of a branch come to the barrier, each at an instruction of its own. */
static void meet_apart(struct progen *p)
{
	u32 label = p->labels++, d = progen_below(p, 10), q = progen_below(p, 8);

	if (p->version < 60 || p->target.sm < 70)
		return;
	progen_line(p, PROGEN_TEXT,
		    "@%%p%u bra O%u; barrier.sync 4; mov.u32 %%r%u, 1; bra Q%u; O%u: "
		    "barrier.sync 4; mov.u32 %%r%u, 2; Q%u:",
		    q, label, d, label, label, d, label);
}

void progen_exchange(struct progen *p)
{
	u32 a = progen_below(p, 10), d = progen_below(p, 10);

	switch (progen_below(p, 5)) {
	case 0: /* every thread reads another's word */
		progen_line(
			p, PROGEN_TEXT,
			"bar.sync 0; st.shared.u32 [%%tsh], %%r%u; bar.sync 0; mad.lo.u32 %%ti, "
			"%%tn, %u, %u; rem.u32 %%ti, %%ti, %%nt; "
			"shl.b32 %%ti, %%ti, 5; mov.u32 %%tl, sh; add.u32 %%tl, %%tl, %%ti; "
			"ld.shared.u32 %%r%u, [%%tl]; bar.sync 0;",
			a, 1 + progen_below(p, 7), progen_below(p, 64), d);
		break;
	case 1: /* sums of whole numbers do not depend on order */
		progen_line(p, PROGEN_TEXT,
			    "bar.sync 0; st.shared.u32 [cnt], 7; bar.sync 0; and.b32 %%ti, %%r%u, "
			    "255; red.shared.%s.u32 [cnt], %%ti; bar.sync 0; "
			    "ld.shared.u32 %%r%u, [cnt]; bar.sync 0;",
			    a, progen_chance(p, 50) ? "add" : "max", d);
		break;
	case 2:
		hand_over(p);
		break;
	case 3:
		meet_apart(p);
		break;
	default:
		any_row(p);
		break;
	}
}
