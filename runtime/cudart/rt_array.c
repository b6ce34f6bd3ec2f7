/*
 * Arrays of the runtime interface, and what both interfaces need for them. A handle is the address
 * of the array in src/mem/array.h, looked up among those of every open device.
 */
#include "runtime/cudart/rt_texture.h"
#include "src/dev/memory/watch.h"

#define TILE_BYTES 65536u

/* ---- for both interfaces ---- */

static int array_status(enum mem_array_status s)
{
	return s == MEM_ARRAY_OK        ? STATUS_SUCCESS
	       : s == MEM_ARRAY_INVALID ? STATUS_INVALID_VALUE
					: STATUS_OUT_OF_MEMORY;
}

int rt_array_create(struct rt_device *d, const struct mem_array_desc *desc, struct mem_array **out)
{
	struct mem *m = &d->dev.mem;
	enum mem_array_status status = mem_array_create(m, d->dev.arch, desc, out);

	if (status == MEM_ARRAY_OK)
		memory_tell_alloc(m, (*out)->base - m->bias, (*out)->bytes, MEM_KIND_ARRAY);
	return array_status(status);
}

int rt_mipmap_create(struct rt_device *d, const struct mem_array_desc *desc, u32 levels,
		     struct mem_mipmap **out)
{
	struct mem *m = &d->dev.mem;
	enum mem_array_status status = mem_mipmap_create(m, d->dev.arch, desc, levels, out);

	if (status == MEM_ARRAY_OK)
		memory_tell_alloc(m, (*out)->base - m->bias, (*out)->bytes, MEM_KIND_ARRAY);
	return array_status(status);
}

struct mem_array *rt_array_find(const void *handle)
{
	struct rt *rt = rt_get();
	struct mem_array *a = NULL;

	for (u32 i = 0; i < rt->list.len && !a; i++)
		if (rt->device[i].is_open)
			a = mem_array_check(&rt->device[i].dev.mem, handle);
	return a;
}

struct mem_mipmap *rt_mipmap_find(const void *handle)
{
	struct rt *rt = rt_get();
	struct mem_mipmap *m = NULL;

	for (u32 i = 0; i < rt->list.len && !m; i++)
		if (rt->device[i].is_open)
			m = mem_mipmap_check(&rt->device[i].dev.mem, handle);
	return m;
}

/* Work that has been issued may use it still. */
static int wait_for_users(const struct mem *m)
{
	struct rt_device *d = rt_device_of(m);

	/* A capture, or a fault, ends the first of them early. */
	return rt_wait(d) && stream_device_finish(&d->dev) == STATUS_NOT_PERMITTED
		       ? (int)STATUS_NOT_PERMITTED
		       : cudaSuccess;
}

int rt_array_destroy(void *handle)
{
	struct mem_array *a = rt_array_find(handle);

	if (!a || a->owner)
		return STATUS_INVALID_HANDLE;
	if (wait_for_users(a->mem))
		return STATUS_NOT_PERMITTED;
	memory_tell_free(a->mem, a->base - a->mem->bias, a->bytes);
	return mem_array_destroy(a->mem, a) ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}

int rt_mipmap_destroy(void *handle)
{
	struct mem_mipmap *m = rt_mipmap_find(handle);

	if (!m)
		return STATUS_INVALID_HANDLE;
	if (wait_for_users(m->mem))
		return STATUS_NOT_PERMITTED;
	memory_tell_free(m->mem, m->base - m->mem->bias, m->bytes);
	return mem_mipmap_destroy(m->mem, m) ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}

/* CUDA Driver API "cuArrayGetMemoryRequirements": for arrays whose memory is mapped later. */
int rt_array_requirements(const struct mem_array_desc *d, u64 bytes, struct array_requirements *out)
{
	if (!(d->flags & MEM_ARRAY_DEFERRED))
		return STATUS_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	out->bytes = align_up(bytes, TILE_BYTES);
	out->align = TILE_BYTES;
	return STATUS_SUCCESS;
}

/*
 * Tiles are blocks of 64 KiB; sides of planes and volumes by the bytes of an element, halved in
 * turn.
 */
static void tile_of(const struct mem_array_desc *d, unsigned tile[3])
{
	static const unsigned plane[5][3] = {
		{256, 256, 1}, {256, 128, 1}, {128, 128, 1}, {128, 64, 1}, {64, 64, 1}};
	static const unsigned volume[5][3] = {
		{64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
	u32 bytes = mem_format_bytes(d->format, d->channels), log = 0;
	bool is_volume = d->depth && !(d->flags & (MEM_ARRAY_LAYERED | MEM_ARRAY_CUBEMAP));

	while (log < 4 && 1u << log < bytes)
		log++;
	memcpy(tile, is_volume ? volume[log] : plane[log], 3 * sizeof(*tile));
}

int rt_array_sparse(const struct mem_array_desc *d, const struct mem_mipmap *levels,
		    struct sparse_properties *out)
{
	u32 n = levels ? levels->levels : 1;

	if (!(d->flags & MEM_ARRAY_SPARSE))
		return STATUS_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	tile_of(d, out->tile);
	for (out->tail_level = 0; out->tail_level < n && levels; out->tail_level++) {
		const struct mem_array_desc *l = &levels->level[out->tail_level].desc;

		if (l->width < out->tile[0] || (l->height && l->height < out->tile[1]))
			break;
	}
	for (u32 i = out->tail_level; i < n && levels; i++)
		out->tail_bytes += levels->level[i].bytes;
	out->tail_bytes = align_up(out->tail_bytes, TILE_BYTES);
	return STATUS_SUCCESS;
}

/* ---- channel descriptions ---- */

enum {
	KIND_SIGNED,
	KIND_UNSIGNED,
	KIND_FLOAT,
	KIND_NORMALIZED = 5,
	KIND_BLOCKS = 17,
	KIND_PACKED = 31
};

/* Bits of each channel beside the format, from kind 5 on. */
static const struct kind_row {
	u8 kind, format, channels, bits;
} kinds[] = {
	{5, 0xc0, 1, 8},  {6, 0xc1, 2, 8},   {7, 0xc2, 4, 8},   {8, 0xc3, 1, 16},
	{9, 0xc4, 2, 16}, {10, 0xc5, 4, 16}, {11, 0xc6, 1, 8},  {12, 0xc7, 2, 8},
	{13, 0xc8, 4, 8}, {14, 0xc9, 1, 16}, {15, 0xca, 2, 16}, {16, 0xcb, 4, 16},
	{17, 0x91, 4, 8}, {18, 0x92, 4, 8},  {19, 0x93, 4, 8},  {20, 0x94, 4, 8},
	{21, 0x95, 4, 8}, {22, 0x96, 4, 8},  {23, 0x97, 1, 8},  {24, 0x98, 1, 8},
	{25, 0x99, 2, 8}, {26, 0x9a, 2, 8},  {27, 0x9b, 3, 16}, {28, 0x9c, 3, 16},
	{29, 0x9d, 4, 8}, {30, 0x9e, 4, 8},  {31, 0x50, 4, 10},
};

static u32 plain_format(int kind, int bits)
{
	static const u32 formats[3][3] = {{MEM_FORMAT_S8, MEM_FORMAT_S16, MEM_FORMAT_S32},
					  {MEM_FORMAT_U8, MEM_FORMAT_U16, MEM_FORMAT_U32},
					  {0, MEM_FORMAT_F16, MEM_FORMAT_F32}};

	if (bits != 8 && bits != 16 && bits != 32)
		return 0;
	return formats[kind][bits == 8 ? 0 : bits == 16 ? 1 : 2];
}

bool rt_channels_read(const struct channel_desc *c, u32 *format, u32 *channels)
{
	u32 n = 0;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (c->kind == kinds[i].kind) {
			*format = kinds[i].format;
			*channels = kinds[i].channels;
			return c->bits[0] == kinds[i].bits;
		}
	if (c->kind < KIND_SIGNED || c->kind > KIND_FLOAT)
		return false;
	while (n < 4 && c->bits[n])
		n++;
	for (u32 i = 0; i < 4; i++)
		if (c->bits[i] != (i < n ? c->bits[0] : 0))
			return false;
	*format = plain_format(c->kind, c->bits[0]);
	*channels = n;
	return *format && (n == 1 || n == 2 || n == 4);
}

struct channel_desc rt_channels_make(u32 format, u32 channels)
{
	struct channel_desc c = {.kind = KIND_UNSIGNED};
	int bits = 8 * (int)mem_format_channel_bytes(format);

	if (format == MEM_FORMAT_S8 || format == MEM_FORMAT_S16 || format == MEM_FORMAT_S32)
		c.kind = KIND_SIGNED;
	else if (format == MEM_FORMAT_F16 || format == MEM_FORMAT_F32)
		c.kind = KIND_FLOAT;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (format == kinds[i].format) {
			c.kind = kinds[i].kind;
			bits = kinds[i].bits;
		}
	for (u32 i = 0; i < channels && i < 4; i++)
		c.bits[i] = c.kind == KIND_PACKED && i == 3 ? 2 : bits;
	return c;
}

/* ---- the runtime interface ---- */

/* CUDA Runtime API: wrong handles are invalid values there. */
static int as_value(int status)
{
	return status == STATUS_INVALID_HANDLE ? cudaErrorInvalidValue : status;
}

static int array_desc_of(const struct channel_desc *c, struct rt_extent e, unsigned flags,
			 struct mem_array_desc *d)
{
	*d = (struct mem_array_desc){
		.width = e.width, .height = e.height, .depth = e.depth, .flags = flags};
	if (!c)
		return cudaErrorInvalidValue;
	return rt_channels_read(c, &d->format, &d->channels) ? cudaSuccess
							     : STATUS_INVALID_CHANNEL_DESCRIPTOR;
}

static int make_array(struct mem_array **out, const struct channel_desc *c, struct rt_extent e,
		      unsigned flags)
{
	struct mem_array_desc desc;
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return status;
	if (!out)
		return cudaErrorInvalidValue;
	status = (int)device_capture_guard(&d->dev);
	status = status ? status : array_desc_of(c, e, flags, &desc);
	return status ? status : rt_array_create(d, &desc, out);
}

RT_FN(cudaMallocArray, (struct mem_array * *out, const struct channel_desc *c, size_t width,
			size_t height, unsigned flags))
{
	return rt_error(make_array(out, c, (struct rt_extent){width, height, 0}, flags));
}

RT_FN(cudaMalloc3DArray,
      (struct mem_array * *out, const struct channel_desc *c, struct rt_extent e, unsigned flags))
{
	return rt_error(make_array(out, c, e, flags));
}

RT_FN(cudaMallocMipmappedArray, (struct mem_mipmap * *out, const struct channel_desc *c,
				 struct rt_extent e, unsigned levels, unsigned flags))
{
	struct mem_array_desc desc;
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return rt_error(status);
	if (!out)
		return rt_error(cudaErrorInvalidValue);
	status = array_desc_of(c, e, flags, &desc);
	return rt_error(status ? status : rt_mipmap_create(d, &desc, levels ? levels : 1, out));
}

RT_FN(cudaGetMipmappedArrayLevel, (struct mem_array * *out, const void *mipmap, unsigned level))
{
	struct mem_mipmap *m = rt_mipmap_find(mipmap);

	if (!mipmap)
		return rt_error(cudaErrorInvalidResourceHandle);
	if (!out || !m || level >= m->levels)
		return rt_error(cudaErrorInvalidValue);
	*out = &m->level[level];
	return cudaSuccess;
}

RT_FN(cudaFreeArray, (void *array))
{
	int status;

	if (!rt_device_now(&status))
		return rt_error(status);
	/* A level goes with its mipmapped array. */
	if (!array || (rt_array_find(array) && rt_array_find(array)->owner))
		return cudaSuccess;
	return rt_error(as_value(rt_array_destroy(array)));
}

RT_FN(cudaFreeMipmappedArray, (void *mipmap))
{
	int status;

	if (!rt_device_now(&status))
		return rt_error(status);
	return rt_error(mipmap ? as_value(rt_mipmap_destroy(mipmap)) : cudaSuccess);
}

RT_FN(cudaArrayGetInfo,
      (struct channel_desc * c, struct rt_extent *e, unsigned *flags, const void *array))
{
	const struct mem_array *a = rt_array_find(array);

	if (!a)
		return rt_error(array ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
	if (c)
		*c = rt_channels_make(a->desc.format, a->desc.channels);
	if (e)
		*e = (struct rt_extent){a->desc.width, a->desc.height, a->desc.depth};
	if (flags)
		*flags = a->desc.flags;
	return cudaSuccess;
}

RT_FN(cudaGetChannelDesc, (struct channel_desc * c, const void *array))
{
	return c ? plrt_cudaArrayGetInfo(c, NULL, NULL, array) : rt_error(cudaErrorInvalidValue);
}

/* Planes are those of video formats, which there are none of here. */
RT_FN(cudaArrayGetPlane, (struct mem_array * *out, const void *array, unsigned plane))
{
	(void)out, (void)array, (void)plane;
	return rt_error(cudaErrorInvalidValue);
}

RT_FN(cudaArrayGetMemoryRequirements,
      (struct array_requirements * out, const void *array, int device))
{
	const struct mem_array *a = rt_array_find(array);
	int status = rt_device_check(device);

	if (!out || !a)
		return rt_error(cudaErrorInvalidValue);
	return rt_error(status ? status : rt_array_requirements(&a->desc, a->bytes, out));
}

RT_FN(cudaMipmappedArrayGetMemoryRequirements,
      (struct array_requirements * out, const void *mipmap, int device))
{
	const struct mem_mipmap *m = rt_mipmap_find(mipmap);
	int status = rt_device_check(device);

	if (!out || !m)
		return rt_error(cudaErrorInvalidValue);
	return rt_error(status ? status : rt_array_requirements(&m->desc, m->bytes, out));
}

RT_FN(cudaArrayGetSparseProperties, (struct sparse_properties * out, const void *array))
{
	const struct mem_array *a = rt_array_find(array);

	if (!out || !a)
		return rt_error(cudaErrorInvalidValue);
	return rt_error(rt_array_sparse(&a->desc, NULL, out));
}

RT_FN(cudaMipmappedArrayGetSparseProperties, (struct sparse_properties * out, const void *mipmap))
{
	const struct mem_mipmap *m = rt_mipmap_find(mipmap);

	if (!out || !m)
		return rt_error(cudaErrorInvalidValue);
	return rt_error(rt_array_sparse(&m->desc, m, out));
}

struct channel_desc plrt_cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
	return (struct channel_desc){{x, y, z, w}, kind};
}
