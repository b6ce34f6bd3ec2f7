/*
 * Random programs of form_cross: made, run, compared, and cut down to what is needed for a
 * difference.
 */
#include "grammar/parse.h"
#include "tests/oracle/form_cross.h"

#include <stdlib.h>
#include <unistd.h>

#define MINIMISE_TRIES 80u

/*
 * Not instructions whose answers are addresses or depend on what else there is, memory that is
 * given up, policies that must be made first, products and sums that a compiler may join.
 */
static bool is_portable(void *user, const struct isa_form *form)
{
	static const u16 rows[] = {I_mov_address, I_cvta,        I_cvta_symbol,  I_cvta_to,
				   I_mapa,        I_mapa_shared, I_mapa_symbol,  I_isspacep,
				   I_isspacep_32, I_mov_pack_1,  I_mov_unpack_1, I_cvt_pack,
				   I_cvt_pack_16};
	const char *name = form->row->name[form->name];

	(void)user;
	for (u32 i = 0; i < ARRAY_LEN(rows); i++)
		if (form->row->row == rows[i])
			return false;
	if (!strcmp(name, "discard") ||
	    (isa_form_has(form, M_v8) && form->row->chapter == ISA_CH_ld_st) ||
	    isa_form_has(form, M_L2_cache_hint))
		return false;
	if (form->row->chapter == ISA_CH_float || form->row->chapter == ISA_CH_half)
		return (strcmp(name, "add") != 0 && strcmp(name, "sub") != 0 &&
			strcmp(name, "mul") != 0) ||
		       isa_form_word(form, ISA_K_ROUND, 0) != ISA_NONE;
	return true;
}

static void on_error(void *user, const struct diag_message *m)
{
	u32 *line = user;

	if (m->level == DIAG_ERROR && !*line)
		*line = m->line;
}

/* Rules between operands are not in the table: leave out the lines that break one. */
static char *valid_text(const struct progen *p, u8 *off)
{
	static const struct ptx_options options = {.lint = true};
	char *text = NULL;

	for (u32 tries = 0; tries < 400; tries++) {
		struct diag_source source = {.name = "program"};
		struct ir_module *m;
		struct diag d;
		u32 line = 0, i;

		text = progen_text(p, off);
		source.text = text;
		source.size = strlen(text);
		diag_init(&d, on_error, &line);
		m = ptx_parse(&source, &options, &d);
		diag_fini(&d);
		ir_module_free(m);
		if (m)
			break;
		i = progen_line_at(p, off, line);
		free(text);
		text = NULL;
		if (i == UINT32_MAX)
			break;
		off[i] = 1;
	}
	return text;
}

static size_t out_bytes(const struct progen *p)
{
	return (size_t)PROGEN_OUT * p->grid * p->block + PROGEN_COMMON;
}

static int run_program(const struct cross_driver *cu, const struct progen *p, const char *text,
		       u8 *in, u8 *out)
{
	struct {
		u64 in, out, common;
		_Alignas(16) u8 data[PROGEN_DATA];
	} a = {0};
	size_t in_len = (size_t)PROGEN_IN * p->grid * p->block, out_len = out_bytes(p);
	void *module = NULL, *function = NULL, *args[] = {&a.in, &a.out, &a.common, a.data};
	int code = cu->load(&module, text);

	if (code)
		return -code;
	progen_input(p, in);
	memcpy(a.data, in, sizeof(a.data));
	code = cu->alloc(&a.in, in_len);
	code = code ? code : cu->alloc(&a.out, out_len);
	a.common = a.out + out_len - PROGEN_COMMON;
	code = code ? code : cu->to_device(a.in, in, in_len);
	code = code ? code : cu->fill(a.out, FILL, out_len);
	code = code ? code : cu->function(&function, module, "k");
	code = code ? code
		    : cu->launch(function, p->grid, 1u, 1u, p->block, 1u, 1u, 0u, NULL, args, NULL);
	code = code ? code : cu->sync();
	code = code ? code : cu->to_host(out, a.out, out_len);
	cu->free(a.in);
	cu->free(a.out);
	cu->unload(module);
	return code;
}

static void examine_program(const struct unit *u, const u8 *out, size_t bytes)
{
	u8 *want = malloc(bytes);
	char path[4096];
	u32 bad = 0;
	FILE *f;

	unit_path(path, sizeof(path), all.o.examine, u);
	f = fopen(path, "rb");
	if (!f || !want || fread(want, 1, bytes, f) != bytes)
		bytes = 0;
	for (size_t i = 0; i < bytes; i += 8)
		if (memcmp(want + i, out + i, 8) && bad++ < 8) {
			u64 x, y;

			memcpy(&x, want + i, 8);
			memcpy(&y, out + i, 8);
			printf("%s thread %zu word %zu: %llx (here %llx)\n", u->name,
			       i / PROGEN_OUT, i % PROGEN_OUT / 8, (unsigned long long)x,
			       (unsigned long long)y);
		}
	if (bad)
		printf("    %u words\n", bad);
	if (f)
		fclose(f);
	free(want);
}

/* Both devices on the text without the lines that are off; prints the first difference to *why. */
static bool both_differ(const struct progen *p, const u8 *off, u8 *in, u8 *out, char why[200])
{
	char *text = progen_text(p, off);
	u8 *other = malloc(out_bytes(p));
	bool differ = false;

	alarm(UNIT_SECONDS);
	if (text && other && !run_program(&all.other, p, text, in, other) &&
	    !run_program(&all.cu, p, text, in, out))
		for (size_t i = 0; i < out_bytes(p) && !differ; i += 8)
			if (memcmp(out + i, other + i, 8)) {
				u64 x, y;

				memcpy(&x, out + i, 8);
				memcpy(&y, other + i, 8);
				snprintf(why, 200, "thread %zu word %zu: %llx, the other has %llx",
					 i / PROGEN_OUT, i % PROGEN_OUT / 8, (unsigned long long)x,
					 (unsigned long long)y);
				differ = true;
			}
	free(text);
	free(other);
	return differ;
}

/* Leave out what the difference between the two devices does not need. */
static void minimise(const struct unit *u, const struct progen *p, u8 *off, u8 *in, u8 *out)
{
	u32 n = (u32)p->lines.len, tries = 0;
	u8 *keep = malloc(n);
	char why[200] = "";

	if (!keep || !both_differ(p, off, in, out, why)) {
		free(keep);
		return;
	}
	for (u32 size = 16; size; size /= 2)
		for (u32 i = 0; i < n && tries < MINIMISE_TRIES; i += size) {
			bool changed = false;

			memcpy(keep, off, n);
			for (u32 k = i; k < i + size && k < n; k++)
				if (!off[k] && (p->lines.at[k].kind == PROGEN_TEXT ||
						p->lines.at[k].kind == PROGEN_OPEN))
					off[k] = changed = true;
			tries += changed;
			if (changed && !both_differ(p, off, in, out, why))
				memcpy(off, keep, n);
		}
	both_differ(p, off, in, out, why);
	printf("%s\t%s\n", u->name, why);
	for (u32 i = 0; i < n; i++)
		if (!off[i] && p->lines.at[i].kind != PROGEN_FIXED)
			printf("\t%s\n", p->lines.at[i].text);
	fflush(stdout);
	free(keep);
}

bool unit_run_program(struct unit *u)
{
	struct result *r = &all.results[u - all.units.at];
	struct progen p;
	char *text;
	int code = -1;
	u8 *in, *out, *off;

	progen_init(&p, u->seed, PROGEN_HARDWARE | PROGEN_FOCUS(u->row), is_portable, NULL);
	in = malloc((size_t)PROGEN_IN * p.grid * p.block);
	out = malloc(out_bytes(&p));
	off = calloc(p.lines.len, 1);
	text = off ? valid_text(&p, off) : NULL;
	unit_print((u64)(u - all.units.at), text);
	if (text && in && out)
		code = run_program(&all.cu, &p, text, in, out);
	r->state = code < 0 ? REFUSED : code ? FAILS : DONE;
	r->code = (u32)(code < 0 ? -code : code);
	if (!code)
		r->digest = cross_digest((const u64 *)(const void *)out, out_bytes(&p) / 8);
	if (!code && all.o.dump && unit_differs(u, r))
		unit_dump(u, out, out_bytes(&p));
	if (!code && all.o.examine)
		examine_program(u, out, out_bytes(&p));
	if (!code && all.o.other && unit_differs(u, r))
		minimise(u, &p, off, in, out);
	free(text);
	free(in);
	free(out);
	free(off);
	progen_fini(&p);
	return code <= 0;
}
