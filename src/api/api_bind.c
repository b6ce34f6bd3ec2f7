/*
 * Kernels as C functions: the signature, and what a call does with its arguments.
 */
#include "src/api/api_expr.h"
#include "src/api/api_int.h"

#include <ffi.h>
#include <stdlib.h>

#define PARAMS_MAX 128u

enum direction { PASS, IN = 1, OUT = 2, INOUT = 3 };

struct bound_param {
	char name[64];
	u32 type;        /* of a scalar, or of an array's elements; ISA_NONE: bytes */
	u8 direction;    /* PASS: the value goes to the kernel as it is */
	bool is_signed;  /* counts as signed: unless its type is written and unsigned, for compilers
			    write .u32 for int */
	bool is_pointer; /* the C function takes a pointer */
	bool by_pointer; /* a structure: the function takes a pointer to it */
	struct expr count; /* elements, when there is a direction */
};

/* A function made of a kernel. Constant once made. */
struct api_bound {
	struct api_bound *next;
	struct ptxloom_kernel *kernel;
	ffi_closure *closure;
	ffi_cif cif;
	u32 len;
	struct expr grid[3], block[3], shared;
	ffi_type **types;
	struct bound_param *params;
};

/* ---- signatures ---- */

static int find_param(void *user, const char *name, size_t n)
{
	const struct api_bound *b = user;

	for (u32 i = 0; i < b->len; i++) {
		const struct bound_param *p = &b->params[i];

		if (strlen(p->name) == n && !memcmp(p->name, name, n))
			return p->is_pointer || p->by_pointer ||
					       isa_type_class(p->type) == ISA_FLOAT
				       ? -1
				       : (int)i;
	}
	return -1;
}

static u8 parse_direction(struct expr_parser *p)
{
	if (expr_take(p, "inout"))
		return INOUT;
	if (expr_take(p, "in"))
		return IN;
	return expr_take(p, "out") ? OUT : PASS;
}

/*
 * [in|out|inout] [type] name ['[' elements ']']. Counts may name later parameters, so they are
 * parsed in a second pass: `counts` says which pass this is.
 */
static void parse_param(struct expr_parser *p, struct api_bound *b, u32 i, bool counts)
{
	const struct device_param *dp = &b->kernel->k->params[i];
	struct bound_param *out = &b->params[i];
	const char *name, *second;
	size_t n, m;
	u32 depth = 0;

	out->direction = parse_direction(p);
	out->by_pointer = dp->is_array;
	out->type = dp->type;
	n = expr_name(p, &name);
	m = expr_name(p, &second);
	out->is_signed = true;
	if (m) {
		out->type = isa_word_find(name, n);
		if (out->type == ISA_NONE || !isa_type_bits(out->type) ||
		    isa_type_bits(out->type) % 8)
			p->error = "this is not a type";
		else
			out->is_signed = isa_type_class(out->type) == ISA_SINT;
		name = second;
		n = m;
	} else if (out->direction) {
		out->type = ISA_NONE;
	}
	if (!n || n >= sizeof(out->name))
		p->error = "a parameter needs a name of at most 63 letters";
	if (p->error)
		return;
	memcpy(out->name, name, n);
	out->name[n] = 0;
	out->is_pointer = out->direction != PASS;
	if (!out->direction && !dp->is_array && isa_type_bits(out->type) != dp->bytes * 8)
		p->error = "the type has not the size of the kernel's parameter";
	if (out->direction && (dp->is_array || dp->bytes != sizeof(void *)))
		p->error = "the kernel's parameter is not a pointer";
	if (!out->direction || p->error)
		return;
	if (!expr_take(p, "[")) {
		p->error = "an in or out parameter needs [elements]";
	} else if (counts) {
		expr_parse(p, &out->count);
		if (!p->error && !expr_take(p, "]"))
			p->error = "a ] is missing";
	} else {
		for (; *p->at && (*p->at != ']' || depth); p->at++)
			depth += *p->at == '[';
		if (!expr_take(p, "]"))
			p->error = "a ] is missing";
	}
}

static void parse_params(struct expr_parser *p, struct api_bound *b, bool counts)
{
	if (!expr_take(p, "(")) {
		p->error = "a signature begins with (";
		return;
	}
	for (u32 i = 0; i < b->len && !p->error; i++) {
		if (i && !expr_take(p, ","))
			p->error = "the kernel has more parameters";
		else
			parse_param(p, b, i, counts);
	}
	if (!p->error && !expr_take(p, ")"))
		p->error = "the kernel has no further parameter";
}

/* One expression, or up to three in braces: {x, y, z}. */
static void bind_dims(struct expr_parser *p, struct expr *out)
{
	for (u32 i = 0; i < 3; i++)
		out[i] = (struct expr){1, {{'#', 1}}};
	if (!expr_take(p, "{")) {
		expr_parse(p, &out[0]);
		return;
	}
	for (u32 i = 0; i < 3 && !p->error; i++) {
		expr_parse(p, &out[i]);
		if (!expr_take(p, ","))
			break;
	}
	if (!p->error && !expr_take(p, "}"))
		p->error = "a } is missing";
}

static void parse_config(struct expr_parser *p, struct api_bound *b)
{
	if (!expr_take(p, "<<<")) {
		p->error = "<<<grid, block>>> is missing";
		return;
	}
	bind_dims(p, b->grid);
	if (!p->error && !expr_take(p, ","))
		p->error = "the size of CTAs is missing";
	if (p->error)
		return;
	bind_dims(p, b->block);
	b->shared = (struct expr){1, {{'#', 0}}};
	if (!p->error && expr_take(p, ","))
		expr_parse(p, &b->shared);
	if (!p->error && !expr_take(p, ">>>"))
		p->error = ">>> is missing";
	if (!p->error && (expr_take(p, ";"), p->at[strspn(p->at, " \t\n")]))
		p->error = "something follows the signature";
}

static const char *parse(struct api_bound *b, const char *signature, const char **where)
{
	struct expr_parser p = {.at = signature, .find = find_param, .user = b};

	parse_params(&p, b, false);
	if (!p.error) {
		p.at = signature;
		parse_params(&p, b, true);
	}
	if (!p.error)
		parse_config(&p, b);
	*where = p.at;
	return p.error;
}

/* ---- calls ---- */

struct call {
	const struct api_bound *b;
	void **args;              /* of the C call: pointers to the values */
	s64 values[PARAMS_MAX];   /* whole-number parameters */
	u64 pointers[PARAMS_MAX]; /* what the kernel gets */
	u64 bytes[PARAMS_MAX];    /* of copies; 0: none was made */
	void *kernel_args[PARAMS_MAX];
};

static s64 whole_number(const struct bound_param *p, const void *at)
{
	u64 v = 0;
	u32 bits;

	if (p->is_pointer || p->by_pointer)
		return 0;
	bits = isa_type_bits(p->type);
	memcpy(&v, at, bits / 8);
	return p->is_signed && bits < 64 ? (s64)(v << (64 - bits)) >> (64 - bits) : (s64)v;
}

/* Host memory is copied to a buffer; pointers into buffers and NULL go through. */
static int pass_array(struct call *c, u32 i)
{
	const struct bound_param *p = &c->b->params[i];
	struct device *d = &c->b->kernel->mod->dev->dev;
	u64 host = (u64)(uintptr_t) * (void **)c->args[i];
	struct mem_range r;
	s64 count;
	u64 bytes;

	c->pointers[i] = host;
	if (!expr_value(&p->count, c->values, &count) || count < 0 || count > (s64)1 << 48)
		return PTXLOOM_INVALID_VALUE;
	bytes = (u64)count * (p->type == ISA_NONE ? 1 : isa_type_bits(p->type) / 8);
	if (!host || !bytes || mem_find(&d->mem, host, 1, &r))
		return PTXLOOM_SUCCESS;
	c->pointers[i] = mem_alloc(&d->mem, bytes, MEM_ALIGN, MEM_KIND_DEVICE);
	if (!c->pointers[i])
		return PTXLOOM_OUT_OF_MEMORY;
	c->bytes[i] = bytes;
	if (p->direction & IN)
		memcpy((void *)(uintptr_t)c->pointers[i], (const void *)(uintptr_t)host, bytes);
	return PTXLOOM_SUCCESS;
}

static int bind_arguments(struct call *c)
{
	int status = PTXLOOM_SUCCESS;

	for (u32 i = 0; i < c->b->len; i++)
		c->values[i] = whole_number(&c->b->params[i], c->args[i]);
	for (u32 i = 0; i < c->b->len && !status; i++) {
		const struct bound_param *p = &c->b->params[i];

		c->kernel_args[i] = p->by_pointer ? *(void **)c->args[i] : c->args[i];
		if (p->is_pointer) {
			status = pass_array(c, i);
			c->kernel_args[i] = &c->pointers[i];
		}
	}
	return status;
}

static int configure(const struct call *c, struct ptxloom_config *out)
{
	s64 v;

	*out = (struct ptxloom_config){0};
	for (u32 i = 0; i < 3; i++) {
		if (!expr_value(&c->b->grid[i], c->values, &v) || v < 1 || v > UINT32_MAX)
			return PTXLOOM_INVALID_VALUE;
		out->grid[i] = (u32)v;
		if (!expr_value(&c->b->block[i], c->values, &v) || v < 1 || v > UINT32_MAX)
			return PTXLOOM_INVALID_VALUE;
		out->block[i] = (u32)v;
	}
	if (!expr_value(&c->b->shared, c->values, &v) || v < 0 || v > UINT32_MAX)
		return PTXLOOM_INVALID_VALUE;
	out->dynamic_shared = (size_t)v;
	return PTXLOOM_SUCCESS;
}

/* Copies come back only when all went well. */
static void finish_call(struct call *c, int status)
{
	struct device *d = &c->b->kernel->mod->dev->dev;

	for (u32 i = 0; i < c->b->len; i++) {
		if (!c->bytes[i])
			continue;
		if (!status && (c->b->params[i].direction & OUT))
			memcpy(*(void **)c->args[i], (const void *)(uintptr_t)c->pointers[i],
			       c->bytes[i]);
		mem_free(&d->mem, c->pointers[i]);
	}
}

static void call_kernel(ffi_cif *cif, void *ret, void **args, void *user)
{
	struct ptxloom_config config;
	struct call *c = calloc(1, sizeof(*c));
	int status = PTXLOOM_OUT_OF_MEMORY;

	(void)cif;
	if (c) {
		c->b = user;
		c->args = args;
		status = bind_arguments(c);
		if (!status)
			status = configure(c, &config);
		if (!status)
			status = ptxloom_launch(c->b->kernel, &config, c->kernel_args);
		finish_call(c, status);
		free(c);
	}
	*(ffi_sarg *)ret = status;
}

/* ---- making ---- */

static ffi_type *ffi_type_of(const struct bound_param *p)
{
	if (p->is_pointer || p->by_pointer)
		return &ffi_type_pointer;
	if (p->type == T_f32)
		return &ffi_type_float;
	if (p->type == T_f64)
		return &ffi_type_double;
	switch (isa_type_bits(p->type)) {
	case 8:
		return isa_type_class(p->type) == ISA_SINT ? &ffi_type_sint8 : &ffi_type_uint8;
	case 16:
		return isa_type_class(p->type) == ISA_SINT ? &ffi_type_sint16 : &ffi_type_uint16;
	case 32:
		return isa_type_class(p->type) == ISA_SINT ? &ffi_type_sint32 : &ffi_type_uint32;
	default:
		return &ffi_type_uint64;
	}
}

static void free_one(struct api_bound *b)
{
	if (!b)
		return;
	if (b->closure)
		ffi_closure_free(b->closure);
	free(b->types);
	free(b->params);
	free(b);
}

void api_bound_free(struct api_bound *list)
{
	struct api_bound *b;

	while ((b = list)) {
		list = b->next;
		free_one(b);
	}
}

static int make_closure(struct api_bound *b, void **function)
{
	for (u32 i = 0; i < b->len; i++)
		b->types[i] = ffi_type_of(&b->params[i]);
	if (ffi_prep_cif(&b->cif, FFI_DEFAULT_ABI, b->len, &ffi_type_sint, b->types) != FFI_OK)
		return PTXLOOM_NOT_SUPPORTED;
	b->closure = ffi_closure_alloc(sizeof(*b->closure), function);
	if (!b->closure)
		return PTXLOOM_OUT_OF_MEMORY;
	return ffi_prep_closure_loc(b->closure, &b->cif, call_kernel, b, *function) == FFI_OK
		       ? PTXLOOM_SUCCESS
		       : PTXLOOM_NOT_SUPPORTED;
}

static void complain_signature(struct ptxloom_kernel *k, const char *signature, const char *where,
			       const char *error)
{
	struct text t = {0};

	text_printf(&t, "%s: column %u of the signature \"%s\": %s\n", ptxloom_kernel_name(k),
		    (u32)(where - signature) + 1, signature, error);
	api_say(k->mod->dev, t.at);
	text_fini(&t);
}

int ptxloom_bind(struct ptxloom_kernel *kernel, const char *signature, void **function)
{
	struct api_bound *b = calloc(1, sizeof(*b));
	u32 len = kernel->k->param_len;
	const char *error, *where;
	int status = PTXLOOM_OUT_OF_MEMORY;

	*function = NULL;
	if (b) {
		b->kernel = kernel;
		b->len = len;
		b->types = calloc(len + 1, sizeof(*b->types));
		b->params = calloc(len + 1, sizeof(*b->params));
	}
	if (b && b->types && b->params) {
		error = len > PARAMS_MAX ? (where = signature, "the kernel has too many parameters")
					 : parse(b, signature, &where);
		if (error)
			complain_signature(kernel, signature, where, error);
		status = error ? PTXLOOM_INVALID_VALUE : make_closure(b, function);
	}
	if (status) {
		*function = NULL;
		free_one(b);
		return status;
	}
	pthread_mutex_lock(&kernel->mod->dev->lock);
	b->next = kernel->mod->bound;
	kernel->mod->bound = b;
	pthread_mutex_unlock(&kernel->mod->dev->lock);
	return PTXLOOM_SUCCESS;
}
