/*
 * Calls of host functions from device code, of those that the user has allowed by name, by the
 * types the module declares: integers and bits as unsigned integers of their size, .f32 and .f64 as
 * float and double. Structures by value have no types in PTX and cannot be passed. libffi makes the
 * calls.
 */
#include "src/host/syscall.h"

#include <dlfcn.h>
#include <ffi.h>

#define PARAMS_MAX 32u

static ffi_type *type_of(const struct extern_value *v)
{
	bool sign = isa_type_class(v->type) == ISA_SINT;

	if (v->array)
		return NULL;
	if (isa_type_class(v->type) == ISA_FLOAT)
		return v->type == T_f32   ? &ffi_type_float
		       : v->type == T_f64 ? &ffi_type_double
					  : NULL;
	switch (v->bytes) {
	case 1:
		return sign ? &ffi_type_sint8 : &ffi_type_uint8;
	case 2:
		return sign ? &ffi_type_sint16 : &ffi_type_uint16;
	case 4:
		return sign ? &ffi_type_sint32 : &ffi_type_uint32;
	case 8:
		return sign ? &ffi_type_sint64 : &ffi_type_uint64;
	default:
		return NULL;
	}
}

static enum fault_kind call_host(struct exec_call *c)
{
	const struct program_extern *x = c->ext;
	void *values[PARAMS_MAX];
	union {
		ffi_arg word; /* integers narrower than this come back widened */
		u64 wide;
		f64 real;
	} result = {0};

	for (u32 i = 0; i < x->params; i++)
		values[i] = c->stack->args + x->value[x->rets + i].at;
	ffi_call(x->cif, FFI_FN(x->symbol), &result, values);
	exec_call_return(c, result.wide);
	return FAULT_NONE;
}

bool hostcall_is_allowed(const char *list, const char *name)
{
	size_t n = strlen(name);

	if (!list || !strcmp(list, "all"))
		return list != NULL;
	for (;;) {
		size_t item = strcspn(list, ",");

		if (item == n && !memcmp(list, name, n))
			return true;
		if (!list[item])
			return false;
		list += item + 1;
	}
}

bool hostcall_prepare(struct program *p, struct program_extern *x)
{
	ffi_type **types = ARENA_ARRAY(&p->arena, ffi_type *, x->params + 1),
		 *result = &ffi_type_void;
	ffi_cif *cif = ARENA_NEW(&p->arena, ffi_cif);

	x->symbol = dlsym(RTLD_DEFAULT, x->name);
	if (!x->symbol || !types || !cif || x->params > PARAMS_MAX || x->rets > 1)
		return false;
	if (x->rets)
		result = type_of(&x->value[0]);
	for (u32 i = 0; i < x->params; i++) {
		types[i] = type_of(&x->value[x->rets + i]);
		if (!types[i])
			return false;
	}
	if (!result || ffi_prep_cif(cif, FFI_DEFAULT_ABI, x->params, result, types) != FFI_OK)
		return false;
	x->cif = cif;
	x->run = call_host;
	return true;
}
