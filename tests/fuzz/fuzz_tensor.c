/*
 * Fuzzer of tensor maps: kernels copy by maps whose 128 bytes are anything, as hostile programs may
 * make them. A copy may fault; the host must live. Ways to use it:
 *   libFuzzer: clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined
 *   fuzz_tensor FILE...  runs these files once
 *   fuzz_tensor          makes maps, damages them and copies, the same on every run; --long [N
 *                        [FIRST]]: N of them
 * An input is 128 bytes of the map, then five coordinates, then a byte that chooses the kernel.
 */
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#include "src/base/file.h"
#include "src/async/tensor.h"

#include <ptxloom.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define BUFFER_BYTES (1u << 20)
#define TIMEOUT_MS 200

struct input {
	u8 map[TENSOR_MAP_BYTES];
	s32 at[TENSOR_RANK_MAX];
	u8 kernel;
};

static struct ptxloom_device *device;
static struct ptxloom_module *module;
static u8 *buffer;

static void hear(void *user, const char *text)
{
	(void)user;
	(void)text;
}

/* Coordinates {%c0, .. } of `rank` dimensions. */
static void add_place(struct text *t, u32 rank)
{
	text_puts(t, "[%d0, {");
	for (u32 i = 0; i < rank; i++)
		text_printf(t, "%s%%c%u", i ? ", " : "", i);
	text_puts(t, "}]");
}

static void add_kernel(struct text *t, u32 number, u32 rank, u32 kind)
{
	text_printf(
		t,
		".visible .entry k%u(.param .align 64 .b8 map[128], .param .align 4 .b8 at[20])\n{\n"
		".reg .b64 %%d<2>; .reg .b32 %%c<5>, %%s, %%m; .reg .b16 %%h<3>;\n"
		".shared .align 1024 .b8 s[32768]; .shared .align 8 .b64 bar;\n"
		"mov.b64 %%d0, map; cvta.param.u64 %%d0, %%d0; mov.u32 %%s, s; mov.u32 %%m, bar;\n"
		"mbarrier.init.shared.b64 [%%m], 1;\n"
		"mov.b16 %%h0, 1; mov.b16 %%h1, 0; mov.b16 %%h2, 2;\n",
		number);
	for (u32 i = 0; i < TENSOR_RANK_MAX; i++)
		text_printf(t, "ld.param.u32 %%c%u, [at+%u];\n", i, 4 * i);
	text_printf(t,
		    kind == 0   ? "cp.async.bulk.tensor.%ud.shared::cluster.global"
				  ".mbarrier::complete_tx::bytes [%%s], "
		    : kind == 1 ? "cp.async.bulk.tensor.%ud.shared::cluster.global.im2col"
				  ".mbarrier::complete_tx::bytes [%%s], "
		    : kind == 2
			    ? "cp.async.bulk.tensor.%ud.global.shared::cta.bulk_group "
			    : "cp.reduce.async.bulk.tensor.%ud.global.shared::cta.add.bulk_group ",
		    rank);
	add_place(t, rank);
	text_puts(t, kind < 2 ? ", [%m]" : ", [%s]");
	if (kind == 1)
		text_puts(t, rank == 3   ? ", {%h0}"
			     : rank == 4 ? ", {%h0, %h1}"
					 : ", {%h0, %h1, %h2}");
	text_puts(t, ";\n");
	if (kind >= 2)
		text_puts(t, "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n");
	text_puts(t, "ret;\n}\n");
}

#define KERNELS 18u

static void start(void)
{
	struct ptxloom_options o = {.size = sizeof(o),
				    .device = "h200",
				    .workers = 1,
				    .timeout_ms = TIMEOUT_MS,
				    .message = hear};
	struct text t = {0};
	u32 n = 0;

	text_puts(&t, ".version 8.5\n.target sm_90\n.address_size 64\n");
	for (u32 kind = 0; kind < 4; kind++)
		for (u32 rank = kind == 1 ? 3 : 1; rank <= TENSOR_RANK_MAX; rank++)
			add_kernel(&t, n++, rank, kind);
	if (n != KERNELS || ptxloom_device_open(&o, &device) ||
	    ptxloom_module_load(device, t.at, t.len, &module))
		abort();
	buffer = ptxloom_alloc(device, BUFFER_BYTES);
	text_fini(&t);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct ptxloom_config c = {.grid = {1}, .block = {1}};
	struct ptxloom_kernel *kernel;
	_Alignas(64) struct input in;
	void *args[] = {in.map, in.at};
	char name[8];

	if (size < sizeof(in.map) + sizeof(in.at) + 1)
		return 0;
	if (!device)
		start();
	memcpy(in.map, data, sizeof(in.map));
	memcpy(in.at, data + sizeof(in.map), sizeof(in.at));
	in.kernel = data[sizeof(in.map) + sizeof(in.at)];
	snprintf(name, sizeof(name), "k%u", in.kernel % KERNELS);
	kernel = ptxloom_module_kernel(module, name);
	if (!kernel)
		abort();
	ptxloom_launch(kernel, &c, args);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

#define ROUNDS 200000

/* Arguments of which most are taken: a tensor in the buffer. */
static void random_shape(struct tensor_shape *s, u64 *state)
{
	static const u8 bytes[TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
	u64 stride;

	*s = (struct tensor_shape){.address = (u64)(uintptr_t)buffer};
	s->type = (u32)(mutate_next(state) % TENSOR_TYPES);
	s->rank = 1 + (u32)(mutate_next(state) % TENSOR_RANK_MAX);
	s->im2col = s->rank >= 3 && mutate_next(state) % 2;
	s->interleave = mutate_next(state) % 4 ? 0 : (u32)(mutate_next(state) % 3);
	s->swizzle = (u32)(mutate_next(state) % 4);
	s->fill = (u32)(mutate_next(state) % 2);
	s->channels = 16u / bytes[s->type];
	s->pixels = 1 + (u32)(mutate_next(state) % 16);
	stride = 16;
	for (u32 i = 0; i < s->rank; i++) {
		s->dim[i] = i ? 1 + mutate_next(state) % 9 : 16u / bytes[s->type];
		s->box[i] = i ? 1 + (u32)(mutate_next(state) % 4) : 16u / bytes[s->type];
		s->step[i] = 1 + (u32)(mutate_next(state) % 8 == 0);
		if (i + 1 < s->rank)
			s->stride[i] = stride = stride * (i ? s->dim[i] : 1);
	}
	for (u32 i = 0; i < 3; i++) {
		s->lower[i] = (s32)(mutate_next(state) % 5) - 2;
		s->upper[i] = (s32)(mutate_next(state) % 5) - 2;
	}
}

/* How many of the maps that were made were good ones. */
static u64 encoded;

static void fuzz_map(u64 number)
{
	static const u8 telling[] = {0, 1, 2, 3, 5, 6, 13, 0x7f, 0x80, 0xff};
	u64 state = MUTATE_SEED ^ (number + 1) * 0x9e3779b97f4a7c15u;
	u32 changes = (u32)(number % 6);
	struct tensor_shape s;
	struct tensor_map m;
	struct input in = {0};

	for (u32 i = 0; i < 8; i++)
		mutate_next(&state);
	random_shape(&s, &state);
	memset(&m, 0, sizeof(m));
	encoded += tensor_encode(&m, &s);
	memcpy(in.map, &m, sizeof(m));
	for (u32 i = 0; i < TENSOR_RANK_MAX; i++)
		in.at[i] = mutate_next(&state) % 16 ? (s32)(mutate_next(&state) % 16) - 4
						    : (s32)mutate_next(&state);
	in.kernel = (u8)mutate_next(&state);
	while (changes--)
		in.map[mutate_next(&state) % sizeof(m)] =
			telling[mutate_next(&state) % sizeof(telling)];
	LLVMFuzzerTestOneInput((const u8 *)&in, sizeof(in));
}

static int fuzz_maps(struct mutate_rounds r)
{
	start();
	for (u64 i = r.first; i < r.first + r.n; i++)
		fuzz_map(i);
	printf("# %llu maps, %llu of them good before they were damaged\n", (unsigned long long)r.n,
	       (unsigned long long)encoded);
	CHECK_MSG(r.n && 4 * encoded > r.n, "damaged tensor maps do no harm");
	return check_done();
}

int main(int argc, char **argv)
{
	int status;

	_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "a map fits");
	status = mutate_makes(argc, argv) ? fuzz_maps(mutate_rounds(argc, argv, ROUNDS))
					  : mutate_files(argc - 1, argv + 1);
	ptxloom_device_close(device);
	return status;
}

#endif
