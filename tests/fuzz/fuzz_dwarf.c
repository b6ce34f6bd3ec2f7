/*
 * Fuzzer of debug information: bytes and relocations of DWARF sections are changed, then all names
 * at many places are looked up, typed, located and printed. Nothing may crash, hang or leak,
 * whatever comes out.
 *   fuzz_dwarf                   the same changes each run
 *   fuzz_dwarf --long [N [FIRST]]   N of them
 */
#include "tests/fuzz/mutate.h"
#include "tests/unit/dbg/fake.h"

#define ROUNDS 1500
#define CHANGES_MAX 6

/* The sections as they were, to be put back. */
struct seed {
	struct fake x;
	u8 *bytes[16];
	struct ir_section_reloc *relocs[16];
};

static bool seed_open(struct seed *s, const char *file)
{
	if (!CHECK(fake_open_file(&s->x, file)))
		return false;
	for (size_t i = 0; i < s->x.m->sections.len && i < ARRAY_LEN(s->bytes); i++) {
		const struct ir_section *p = s->x.m->sections.at[i];

		s->bytes[i] = malloc(p->bytes.len + 1);
		s->relocs[i] = malloc((p->relocs.len + 1) * sizeof(*p->relocs.at));
		if (p->bytes.len)
			memcpy(s->bytes[i], p->bytes.at, p->bytes.len);
		if (p->relocs.len)
			memcpy(s->relocs[i], p->relocs.at, p->relocs.len * sizeof(*p->relocs.at));
	}
	return dbg_names_has_dwarf(s->x.names);
}

static void seed_restore(struct seed *s)
{
	for (size_t i = 0; i < s->x.m->sections.len && i < ARRAY_LEN(s->bytes); i++) {
		struct ir_section *p = s->x.m->sections.at[i];

		if (p->bytes.len)
			memcpy(p->bytes.at, s->bytes[i], p->bytes.len);
		if (p->relocs.len)
			memcpy(p->relocs.at, s->relocs[i], p->relocs.len * sizeof(*p->relocs.at));
	}
}

static void seed_close(struct seed *s)
{
	seed_restore(s);
	for (size_t i = 0; i < ARRAY_LEN(s->bytes); i++) {
		free(s->bytes[i]);
		free(s->relocs[i]);
	}
	fake_close(&s->x);
}

/* One byte, a number of DWARF, or where a relocation points to. */
static void change(struct ir_module *m, u64 *state)
{
	static const u8 telling[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x03, 0x23, 0x90, 0x0c, 0x13};
	struct ir_section *s = m->sections.at[mutate_next(state) % m->sections.len];
	size_t at;

	if (s->relocs.len && mutate_next(state) % 4 == 0) {
		struct ir_section_reloc *r = &s->relocs.at[mutate_next(state) % s->relocs.len];

		r->addend = (s64)(mutate_next(state) % 4096) - 64;
		return;
	}
	if (!s->bytes.len)
		return;
	at = mutate_next(state) % s->bytes.len;
	if (mutate_next(state) % 2)
		s->bytes.at[at] = telling[mutate_next(state) % ARRAY_LEN(telling)];
	else
		s->bytes.at[at] = (u8)(s->bytes.at[at] ^ 1 << mutate_next(state) % 8);
}

static u64 shown_bytes;

static void show(void *user, const struct dbg_variable *v, u32 depth PL_UNUSED)
{
	struct fake *x = user;
	struct dbg_value value;
	struct text out = {0}, why = {0};

	dbg_type_print(v->type, v->name, &out);
	dbg_type_describe(v->type, true, &out);
	dbg_value_of(&x->c, v, &value);
	dbg_value_print(&x->c, &value, &(struct dbg_format){.pretty = v->line & 1}, &out, &why);
	shown_bytes += out.len + why.len;
	text_fini(&out);
	text_fini(&why);
}

static void look_at(struct fake *x, const struct ir_func *f, u32 insn)
{
	static const char *const words[] = {"local",
					    "local.at.x",
					    "head->next",
					    "nodes[1].color",
					    "*this",
					    "this->slot",
					    "head",
					    "ring",
					    "stats::hits",
					    "(Color)5",
					    "BLUE",
					    "(Node *)16",
					    "tile[1]@4",
					    "square",
					    "half + 1",
					    "local.part",
					    "ref + 1",
					    "&square",
					    "Node::slot",
					    "shapes::n",
					    "local.Base::x",
					    "this->Base::slot",
					    "sizeof(N)",
					    "(T)1",
					    "*square",
					    "'hits'",
					    "'shapes.cu'::tile",
					    "local.at@2"};
	struct dbg_frame frames[DBG_INLINE_MAX + 1];

	x->c.place = (struct dbg_place){f, insn};
	dbg_names_frames(x->names, x->lines, x->c.place, frames);
	for (x->c.inlined = 0; x->c.inlined < 2; x->c.inlined++)
		dbg_names_locals(x->names, x->c.place, x->c.inlined, show, x);
	x->c.inlined = 0;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		shown_bytes += strlen(fake_print(x, words[i]));
}

static void look_everywhere(struct fake *x)
{
	for (size_t i = 0; i < x->m->funcs.len; i++) {
		const struct ir_func *f = x->m->funcs.at[i];

		for (u32 k = 0; k < f->insns.len; k += 41)
			look_at(x, f, k);
	}
}

/* Names and lines anew for the changed module. */
static void reopen(struct fake *x)
{
	dbg_lines_free(x->lines);
	dbg_session_forget(x->c.session);
	dbg_names_close(x->names);
	text_fini(&x->why);
	x->names = dbg_names_open(x->m, &x->why);
	x->lines = dbg_lines_new(x->m, dbg_names_inlined, x->names);
	x->c.names = x->names;
}

int main(int argc, char **argv)
{
	static struct seed seeds[2];
	struct mutate_rounds r = mutate_rounds(argc, argv, ROUNDS);
	u64 refused = 0;

	if (!seed_open(&seeds[0], "shapes.nvcc.ptx") || !seed_open(&seeds[1], "shapes.clang.ptx")) {
		printf("1..0 # SKIP without libdw\n");
		return 0;
	}
	for (u64 i = r.first; i < r.first + r.n; i++) {
		struct seed *s = &seeds[i % 2];
		u64 state = mutate_state(i);

		for (u64 n = mutate_next(&state) % CHANGES_MAX + 1; n; n--)
			change(s->x.m, &state);
		reopen(&s->x);
		/* One line, and only when there is something to say. */
		if (!dbg_names_has_dwarf(s->x.names) != (s->x.why.len > 0) ||
		    (s->x.why.at && strchr(s->x.why.at, '\n')))
			CHECK_MSG(false, "debug information that is refused has one message");
		refused += s->x.why.len > 0;
		look_everywhere(&s->x);
		seed_restore(s);
	}
	printf("# %llu changed, %llu refused, %llu bytes shown\n", (unsigned long long)r.n,
	       (unsigned long long)refused, (unsigned long long)shown_bytes);
	CHECK_MSG(shown_bytes > r.n, "changed debug information does no harm");
	seed_close(&seeds[0]);
	seed_close(&seeds[1]);
	return check_done();
}
