/*
 * Variables by their symbols: plain ones by the address of the host's shadow, managed ones by the
 * address that the program reads from its slot, as compilers make `cudaGetSymbolAddress(&p,
 * managed)` of it.
 */
#include "tests/check.h"

#include <stdint.h>

void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterVar(void **, void *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
int cudaGetSymbolAddress(void **, const void *);
int cudaGetSymbolSize(size_t *, const void *);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaDeviceSynchronize(void);

enum { INVALID_SYMBOL = 13, TO_DEVICE = 1, TO_HOST = 2 };

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .align 4 .u32 plain = 3;\n"
	".visible .global .attribute(.managed) .align 4 .u32 one = 5;\n"
	".visible .global .attribute(.managed) .align 4 .u32 many[4] = {6, 7, 8, 9};\n";

static uint32_t plain, unknown; /* shadows */
static uint32_t *one, *many;    /* slots */

static void test_managed(void)
{
	uint32_t words[4] = {0}, next[2] = {17, 18};
	size_t bytes = 0;
	void *p = NULL;

	CHECK_MSG(one && *one == 5 && many && many[3] == 9, "the slots lead to the variables");
	CHECK_MSG(!cudaGetSymbolAddress(&p, one) && p == one, "address of a managed variable");
	CHECK_MSG(!cudaGetSymbolAddress(&p, many) && p == many, "address of a managed array");
	CHECK_MSG(!cudaGetSymbolSize(&bytes, one) && bytes == 4, "size of a managed variable");
	CHECK_MSG(!cudaGetSymbolSize(&bytes, many) && bytes == 16, "size of a managed array");
	CHECK_MSG(!cudaMemcpyToSymbol(many, next, 8, 4, TO_DEVICE) && !cudaDeviceSynchronize() &&
			  many[0] == 6 && many[1] == 17 && many[2] == 18 && many[3] == 9,
		  "a copy to a managed array");
	CHECK_MSG(!cudaMemcpyFromSymbol(words, many, 16, 0, TO_HOST) && words[1] == 17 &&
			  words[3] == 9,
		  "a copy from a managed array");
	CHECK_EQ(cudaGetSymbolAddress(&p, many + 1), INVALID_SYMBOL);
	CHECK_MSG(!cudaGetSymbolAddress(&p, &one) && p == one, "the slot means its variable, too");
}

static void test_plain(void)
{
	uint32_t word = 0;
	size_t bytes = 0;
	void *p = NULL;

	CHECK_MSG(!cudaGetSymbolAddress(&p, &plain) && p && p != &plain,
		  "address of a plain variable");
	CHECK_MSG(!cudaGetSymbolSize(&bytes, &plain) && bytes == 4, "size of a plain variable");
	CHECK_MSG(!cudaMemcpy(&word, p, 4, TO_HOST) && word == 3, "what is there");
	CHECK_EQ(cudaGetSymbolAddress(&p, &unknown), INVALID_SYMBOL);
	CHECK_EQ(cudaGetSymbolAddress(&p, p), INVALID_SYMBOL);
	CHECK_EQ(cudaGetSymbolAddress(&p, NULL), INVALID_SYMBOL);
}

int main(void)
{
	void **image = __cudaRegisterFatBinary(text);
	void *p, *was;

	__cudaRegisterVar(image, &plain, NULL, "plain", 0, 4, 0, 0);
	__cudaRegisterManagedVar(image, (void **)&one, NULL, "one", 0, 4, 0, 0);
	__cudaRegisterManagedVar(image, (void **)&many, NULL, "many", 0, 16, 0, 0);
	__cudaRegisterFatBinaryEnd(image);
	CHECK_MSG(__cudaInitModule(image), "managed variables are made");
	test_managed();
	test_plain();
	was = many;
	__cudaUnregisterFatBinary(image);
	CHECK_EQ(cudaGetSymbolAddress(&p, was), INVALID_SYMBOL);
	return check_done();
}
