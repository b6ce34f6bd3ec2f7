/*
 * Initial values and debugging sections as PTX. Source: PTX ISA "Initializers", "Debugging
 * Directives: .section".
 */
#include "src/ir/ir_int.h"

struct init {
	const struct ir_module *m;
	const struct ir_var *v;
	struct text *out;
	u32 next_reloc;
	u32 dims; /* a vector counts as the innermost one */
	u64 dim[IR_DIMS + 1];
	u64 end; /* what follows is zero */
};

static void print_address(struct init *in, const struct ir_reloc *r)
{
	const char *name = r->is_func ? in->m->funcs.at[r->index]->name->text
				      : in->m->vars.at[r->index]->name->text;
	struct text *out = in->out;

	/* Only the mask operator stores less than a whole address. */
	if (r->masked)
		text_printf(out, "0x%llx(", 0xffull << r->shift);
	text_printf(out, r->generic ? "generic(%s)" : "%s", name);
	if (r->addend)
		text_printf(out, "+%lld", (long long)r->addend);
	if (r->masked)
		text_puts(out, ")");
}

static void print_element(struct init *in, u64 at)
{
	const struct ir_var *v = in->v;
	u64 size = min_u64(ir_element_bytes(v), 8), bits = 0;
	bool sign = isa_type_class(v->type) == ISA_SINT;

	if (in->next_reloc < v->relocs_len && v->relocs[in->next_reloc].at == at) {
		print_address(in, &v->relocs[in->next_reloc++]);
		return;
	}
	if (at < v->data_len)
		memcpy(&bits, v->data + at, (size_t)min_u64(size, v->data_len - at));
	if (v->type == T_f32)
		text_printf(in->out, "0f%08X", (u32)bits);
	else if (v->type == T_f64)
		text_printf(in->out, "0d%016llX", (unsigned long long)bits);
	else if (sign)
		text_printf(in->out, "%lld",
			    (long long)((s64)(bits << (64 - 8 * size)) >> (64 - 8 * size)));
	else
		text_printf(in->out, "%llu", (unsigned long long)bits);
}

/* The braces of dimension `d`, whose first byte is `at`; bytes: of one element of it. */
static void print_braces(struct init *in, u32 d, u64 at, u64 bytes)
{
	if (d == in->dims) {
		print_element(in, at);
		return;
	}
	bytes /= in->dim[d];
	text_puts(in->out, "{");
	for (u64 i = 0; i < in->dim[d] && at < in->end; i++, at += bytes) {
		text_puts(in->out, i ? ", " : "");
		print_braces(in, d + 1, at, bytes);
	}
	text_puts(in->out, "}");
}

static void print_fields(const struct ir_var *v, struct text *out)
{
	text_puts(out, "{");
	for (u32 i = 0; i < v->sampler_len; i++) {
		const struct str *value = v->sampler_fields[2 * i + 1];

		text_printf(out, "%s%s = ", i ? ", " : "", v->sampler_fields[2 * i]->text);
		if (value)
			text_puts(out, value->text);
		else
			text_printf(out, "%lluU", (unsigned long long)v->sampler_values[i]);
	}
	text_puts(out, "}");
}

void ir_print_init(const struct ir_module *m, const struct ir_var *v, struct text *out)
{
	struct init in = {.m = m, .v = v, .out = out, .dims = v->dims, .end = v->data_len};

	if (isa_type_class(v->type) == ISA_OPAQUE) {
		print_fields(v, out);
		return;
	}
	memcpy(in.dim, v->dim, sizeof(v->dim));
	if (v->vec > 1)
		in.dim[in.dims++] = v->vec;
	print_braces(&in, 0, 0, v->size_bytes);
}

static void print_bytes(const struct ir_section *s, size_t from, size_t to, struct text *out)
{
	for (size_t i = from; i < to; i++)
		text_printf(out, "%s%u",
			    (i - from) % 16 ? ", "
			    : i == from     ? "\t.b8 "
					    : "\n\t.b8 ",
			    s->bytes.at[i]);
	text_puts(out, from < to ? "\n" : "");
}

void ir_print_section(const struct ir_section *s, struct text *out)
{
	size_t at = 0, label = 0, reloc = 0;

	text_printf(out, ".section %s {\n", s->name->text);
	while (at < s->bytes.len || label < s->labels.len) {
		size_t to = s->bytes.len;

		for (; label < s->labels.len && s->labels.at[label].insn <= at; label++)
			text_printf(out, "%s:\n", s->labels.at[label].name->text);
		if (label < s->labels.len)
			to = (size_t)min_u64(to, s->labels.at[label].insn);
		if (reloc < s->relocs.len)
			to = (size_t)min_u64(to, s->relocs.at[reloc].at);
		if (to > at || reloc == s->relocs.len) {
			print_bytes(s, at, to, out);
			at = to;
			continue;
		}
		text_printf(out, "\t.b%u %s", s->relocs.at[reloc].size * 8u,
			    s->relocs.at[reloc].plus->text);
		if (s->relocs.at[reloc].minus)
			text_printf(out, "-%s", s->relocs.at[reloc].minus->text);
		else if (s->relocs.at[reloc].addend)
			text_printf(out, "+%llu", (unsigned long long)s->relocs.at[reloc].addend);
		text_puts(out, "\n");
		at += s->relocs.at[reloc++].size;
	}
	text_puts(out, "}\n");
}
