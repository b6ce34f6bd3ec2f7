/*
 * The instruction table against tests/forms/forms-min.tsv: 8,700 forms that ptxas accepts, each
 * with the lowest PTX version and target at which it does. Every form must parse, and the row found
 * for it must have the same minima. `isa_forms FILE [FAMILY-PREFIX]` checks one family and prints
 * what differs.
 */
#include "grammar/parse.h"
#include "src/base/file.h"
#include "src/isa/isa.h"
#include "tests/check.h"

#include <stdlib.h>

struct tally {
	u32 forms, unmatched, version, target;
};

static const char preamble[] = ".address_size 64\n"
			       ".visible .global .align 128 .b8 gbuf[4096];\n"
			       ".visible .const .align 16 .b8 cbuf[256];\n"
			       ".visible .global .texref tref;\n"
			       ".visible .global .surfref sref;\n"
			       ".visible .shared .align 128 .b8 sbuf[4096];\n"
			       ".visible .shared .align 8 .b64 mbar;\n"
			       ".func dfunc() { ret; }\n"
			       ".entry kmain() { ret; }\n"
			       ".entry k(.param .u64 prm0, .param .align 8 .b8 prm1[16])\n"
			       "{\n"
			       ".reg .pred %p<16>;\n"
			       ".reg .b8 %b<8>;\n"
			       ".reg .b16 %h<32>;\n"
			       ".reg .b32 %r<132>;\n"
			       ".reg .b64 %rd<32>;\n"
			       ".reg .f32 %f<132>;\n"
			       ".reg .f64 %fd<32>;\n"
			       ".reg .b128 %rq<8>;\n"
			       ".local .align 16 .b8 lbuf[64];\n";

/*
 * What the table says of a form: its row and minima, read off a module of the newest version that
 * holds nothing else.
 */
struct found {
	const struct isa_form *form; /* NULL: refused, `why` says it */
	u32 minima[2];
	const char *id;
	char target[256], why[512];
};

static void target_text(const struct isa_form *f, u32 sm, char *out, size_t size)
{
	struct text t = {0};

	isa_form_target_text(f, &t);
	snprintf(out, size, "%s", t.at);
	if (!f->row->group)
		snprintf(out, size, "sm_%u", sm < 20 ? 20 : sm);
	text_fini(&t);
}

/* "sm_100f|sm_100a" and "sm_100f, sm_100a" name the same targets. */
static bool same_target(const char *want, const char *got)
{
	while (*want && *want == *got) {
		want++;
		got++;
		if (*want == '|' && !strncmp(got, ", ", 2)) {
			want++;
			got += 2;
		}
	}
	return !*want && !*got;
}

/* group: the first architecture that takes the form, "sm90a". */
static void look_up(const char *text, const char *group, struct found *out)
{
	static const struct ptx_options options = {.lint = true};
	struct diag_source source = {.name = "form"};
	struct text module = {0};
	struct ir_module *m;
	struct diag d;

	*out = (struct found){0};
	text_printf(&module, ".version 9.0\n.target sm_%s\n%s%s%s\nret;\n}\n", group + 2, preamble,
		    text, text[strlen(text) - 1] == '}' && text[0] == '{' ? "" : ";");
	source.text = module.at;
	source.size = module.len;
	diag_init(&d, NULL, NULL);
	m = ptx_parse(&source, &options, &d);
	for (u32 i = 0; m && i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];
		const struct ir_insn *in = f->insns.at;

		if (strcmp(f->name->text, "k"))
			continue;
		out->form = in->form;
		ir_insn_minima(f, in->form, f->operands.at + in->first_op, in->ops, out->minima);
		target_text(in->form, out->minima[1], out->target, sizeof(out->target));
	}
	snprintf(out->why, sizeof(out->why), "%s", d.first_error.at ? d.first_error.at : "");
	diag_fini(&d);
	text_fini(&module);
	out->id = out->form ? out->form->row->id : "-";
	ir_module_free(m);
}

static void check_form(char *line, bool verbose, struct tally *t)
{
	u32 major, minor;
	struct found f;
	char *field[5] = {line};
	bool version, target;

	for (int i = 1; i < 5; i++) {
		field[i] = strchr(field[i - 1], '\t');
		if (!field[i])
			return;
		*field[i]++ = 0;
	}
	t->forms++;
	look_up(field[1], field[4], &f);
	if (sscanf(field[2], "%u.%u", &major, &minor) != 2)
		major = minor = 0;
	version = f.form && f.minima[0] == major * 10 + minor;
	target = f.form && same_target(field[3], f.target);
	if (!f.form)
		t->unmatched++;
	else if (!version)
		t->version++;
	else if (!target)
		t->target++;
	if (verbose && !f.form)
		printf("# %s: %s: NO ROW: %s\n", field[0], field[1], f.why);
	else if (verbose && (!version || !target))
		printf("# %s: %s: minimum: table %s %u.%u %s, ptxas %s %s\n", field[0], field[1],
		       f.id, f.minima[0] / 10, f.minima[0] % 10, f.target, field[2], field[3]);
}

int main(int argc, char **argv)
{
	const char *dir = getenv("srcdir"), *family = argc > 2 ? argv[2] : "";
	struct tally t = {0};
	struct file file;
	char path[4096], *copy, *line, *save = NULL;

	snprintf(path, sizeof(path), "%s/tests/forms/forms-min.tsv", dir ? dir : ".");
	if (!CHECK(file_open(&file, argc > 1 ? argv[1] : path)))
		return check_done();
	copy = strndup((const char *)file.data, file.size);
	for (line = strtok_r(copy, "\n", &save); (line = strtok_r(NULL, "\n", &save));)
		if (!strncmp(line, family, strlen(family)))
			check_form(line, true, &t);
	free(copy);
	file_close(&file);
	printf("# %u forms: %u without a row, %u with another minimum version, %u with another target\n",
	       t.forms, t.unmatched, t.version, t.target);
	CHECK_EQ(t.unmatched, 0);
	CHECK_EQ(t.version, 0);
	CHECK_EQ(t.target, 0);
	CHECK(t.forms > 0);
	return check_done();
}
