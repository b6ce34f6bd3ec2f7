/*
 * im2col loads against the convolution they are for: with the corners of the map at minus the
 * padding and at the padding less the filter's reach, the column of pixels from the m-th on, at the
 * offset of a filter's tap, is the part of the matrix that an implicit matrix product multiplies
 * with that tap's weights. The model knows the convolution only: output pixel, tap and channel to
 * input pixel and channel. Rank 3 is a row of pixels, 4 a plane, 5 a volume, each with images
 * behind each other.
 */
#include "src/base/text.h"
#include "src/async/tensor.h"
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#include <stdlib.h>

#define THREADS 64u
#define NAN_FILL 0x7ff77ff7u /* what an H200 fills every 16 bits with */

static const char *level;

/* Dimensions of space are x, y, z; those a rank does not have are 1 wide. */
struct conv {
	const char *name;
	u32 rank, channels, size[3], images;
	s32 lower[3], upper[3];
	u32 step[3], taps[3], dilation[3];
	u32 channels_each, pixels_each, swizzle, fill;
};

/* clang-format off */
static const struct conv convs[] = {
	{"a row, three taps, padded", 3, 8, {13, 1, 1}, 3, {-1}, {-1}, {1, 1, 1}, {3, 1, 1}, {1, 1, 1}, 8, 5, 0, 0},
	{"a row, strided and dilated, NaN around it", 3, 12, {17, 1, 1}, 2, {-4}, {-4}, {2, 1, 1}, {3, 1, 1}, {4, 1, 1},
	 4, 7, 0, 1},
	{"a row whose corners lie inside, taps beyond its end", 3, 11, {8, 1, 1}, 1, {1}, {1}, {1, 1, 1}, {9, 1, 1},
	 {1, 1, 1}, 8, 6, 0, 0},
	{"a row and one pixel more, upper corner behind it", 3, 16, {3, 1, 1}, 1, {1}, {2}, {1, 1, 1}, {40, 1, 1},
	 {7, 1, 1}, 16, 9, 0, 0},
	{"a plane, not padded", 4, 4, {6, 5, 1}, 3, {0, 0}, {-2, -2}, {1, 1, 1}, {3, 3, 1}, {1, 1, 1}, 4, 16, 0, 0},
	{"a plane, 3 by 3, padded, swizzled", 4, 40, {7, 6, 1}, 2, {-1, -1}, {-1, -1}, {1, 1, 1}, {3, 3, 1}, {1, 1, 1},
	 32, 12, 3, 0},
	{"a plane, 5 by 2, strided, NaN", 4, 8, {9, 11, 1}, 2, {-2, 0}, {-2, -1}, {2, 3, 1}, {5, 2, 1}, {1, 1, 1},
	 8, 10, 0, 1},
	{"a plane narrower than the filter", 4, 4, {2, 9, 1}, 2, {-3, -3}, {0, -3}, {1, 2, 1}, {4, 4, 1}, {1, 2, 1},
	 4, 33, 0, 0},
	{"a volume, 2 by 3 by 2, padded", 5, 4, {4, 5, 3}, 2, {0, -1, -1}, {-1, -1, 0}, {1, 1, 1}, {2, 3, 2}, {1, 1, 1},
	 4, 25, 0, 0},
	{"a volume, strided and dilated, NaN", 5, 20, {7, 5, 6}, 2, {-2, -3, 0}, {-2, -3, -2}, {3, 2, 2}, {3, 3, 2},
	 {2, 3, 2}, 8, 9, 2, 1},
};
/* clang-format on */

/* What a CTA loads, as the kernel reads it. */
struct job {
	s32 coord[5];
	u32 offset[3];
};

/* For the model: the first output pixel, channel and the tap. */
struct place {
	u32 pixel, channel, tap[3];
};

struct plan {
	const struct conv *c;
	u32 out[3]; /* output pixels along each dimension */
	u32 pixels; /* of all images */
	u32 pitch;  /* words of a row of the tile in shared memory */
	u32 jobs;
	struct job *job;
	struct place *place;
};

static u32 tile_words(const struct plan *p)
{
	return p->pitch * p->c->pixels_each;
}

static void put_kernel(struct text *t, const struct plan *p)
{
	static const char *const coords[] = {"c0, c1, c2", "c0, c1, c2, c3", "c0, c1, c2, c3, c4"};
	static const char *const offsets[] = {"h0", "h0, h1", "h0, h1, h2"};
	u32 d = p->c->rank - 3;

	text_printf(
		t,
		".version 8.0\n.target sm_90\n.address_size 64\n"
		".visible .entry k(.param .u64 pj, .param .u64 po, .param .u64 pf)\n{\n"
		".reg .pred p; .reg .b32 t, b, m, n, a, v, c<5>; .reg .b16 h<3>; .reg .b64 j, o, f, x, y;\n"
		".shared .align 1024 .b8 s[32768]; .shared .align 8 .b64 mb;\n"
		"ld.param.u64 j, [pj]; ld.param.u64 o, [po]; ld.param.u64 f, [pf];\n"
		"mov.u32 t, %%tid.x; mov.u32 b, %%ctaid.x; mad.wide.u32 j, b, 32, j; mul.lo.u32 b, b, %u;\n"
		"mad.wide.u32 o, b, 4, o; mov.u32 n, s; mov.u32 m, mb; setp.ne.u32 p, t, 0; @p bra W;\n"
		"ld.global.v4.u32 {c0, c1, c2, c3}, [j]; ld.global.u32 c4, [j+16]; ld.global.u16 h0, [j+20];\n"
		"ld.global.u16 h1, [j+24]; ld.global.u16 h2, [j+28]; mbarrier.init.shared.b64 [m], 1;\n"
		"fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [m], %u;\n"
		"cp.async.bulk.tensor.%ud.shared::cluster.global.im2col.mbarrier::complete_tx::bytes\n"
		"  [n], [f, {%s}], [m], {%s};\n"
		"W: bar.sync 0;\n"
		"L: mbarrier.try_wait.parity.shared.b64 p, [m], 0; @!p bra L;\n"
		"C: setp.ge.u32 p, t, %u; @p bra END; mad.lo.u32 a, t, 4, n; ld.shared.u32 v, [a];\n"
		"mad.wide.u32 y, t, 4, o; st.global.u32 [y], v; add.u32 t, t, %u; bra C;\nEND: ret;\n}\n",
		tile_words(p), p->c->channels_each * p->c->pixels_each * 4, p->c->rank, coords[d],
		offsets[d], tile_words(p), THREADS);
}

static void add_job(struct plan *p, u32 pixel, u32 channel, const u32 *tap)
{
	const struct conv *c = p->c;
	struct job *j = &p->job[p->jobs];
	u32 rest = pixel, space = c->rank - 2;

	*j = (struct job){.coord = {(s32)channel}};
	for (u32 d = 0; d < space; d++) {
		j->coord[1 + d] = c->lower[d] + (s32)(rest % p->out[d] * c->step[d]);
		j->offset[d] = tap[d] * c->dilation[d];
		rest /= p->out[d];
	}
	j->coord[1 + space] = (s32)rest;
	p->place[p->jobs++] = (struct place){pixel, channel, {tap[0], tap[1], tap[2]}};
}

/*
 * Every tap of every column of pixels of every slice of channels; the last column ends behind the
 * last image.
 */
static void plan_jobs(struct plan *p)
{
	const struct conv *c = p->c;
	u32 taps = c->taps[0] * c->taps[1] * c->taps[2], columns, slices;

	p->pixels = c->images;
	for (u32 d = 0; d < 3; d++) {
		u32 box = (u32)((s32)c->size[d] + c->upper[d] - c->lower[d]);

		p->out[d] = (box + c->step[d] - 1) / c->step[d];
		p->pixels *= p->out[d];
	}
	p->pitch = c->swizzle ? 4u << c->swizzle : c->channels_each;
	columns = (p->pixels + c->pixels_each - 1) / c->pixels_each;
	slices = (c->channels + c->channels_each - 1) / c->channels_each;
	p->job = calloc((size_t)taps * columns * slices, sizeof(*p->job));
	p->place = calloc((size_t)taps * columns * slices, sizeof(*p->place));
	for (u32 k = 0; p->job && p->place && k < taps * columns * slices; k++) {
		u32 tap[3] = {k % c->taps[0], k / c->taps[0] % c->taps[1],
			      k / c->taps[0] / c->taps[1] % c->taps[2]};

		add_job(p, k / taps % columns * c->pixels_each,
			k / taps / columns * c->channels_each, tap);
	}
}

/* Words of a pixel in memory: rows of channels are whole pieces of 16 bytes. */
static u32 pixel_words(const struct conv *c)
{
	return (u32)align_up(c->channels, 4);
}

static u64 make_map(struct harness *h, const struct conv *c, u64 address)
{
	struct tensor_shape s = {
		.address = address,
		.dim = {c->channels},
		.type = TENSOR_F32,
		.rank = c->rank,
		.swizzle = c->swizzle,
		.fill = c->fill,
		.im2col = true,
		.channels = c->channels_each,
		.pixels = c->pixels_each,
	};
	u64 at = mem_alloc(&h->mem, TENSOR_MAP_BYTES, 128, MEM_KIND_DEVICE),
	    bytes = 4 * (u64)pixel_words(c);

	for (u32 d = 0; d < c->rank - 2; d++) {
		s.dim[1 + d] = c->size[d];
		s.lower[d] = c->lower[d];
		s.upper[d] = c->upper[d];
	}
	s.dim[c->rank - 1] = c->images;
	for (u32 d = 0; d < c->rank; d++) {
		s.step[d] = d && d < c->rank - 1 ? c->step[d - 1] : 1;
		if (d + 1 < c->rank) {
			s.stride[d] = bytes;
			bytes *= s.dim[1 + d];
		}
	}
	CHECK(tensor_encode((struct tensor_map *)(uintptr_t)at, &s));
	return at;
}

static u32 input_words(const struct conv *c)
{
	return pixel_words(c) * c->size[0] * c->size[1] * c->size[2] * c->images;
}

/* The convolution's input for an output pixel, a tap and a channel. */
static u32 wanted(const struct plan *p, const u32 *in, u32 pixel, u32 channel, const u32 *tap)
{
	const struct conv *c = p->c;
	u32 at = pixel / (p->out[0] * p->out[1] * p->out[2]);
	bool inside = at < c->images && channel < c->channels;

	for (u32 d = 3, o; d-- > 0;) {
		u32 before = d == 0 ? 1 : d == 1 ? p->out[0] : p->out[0] * p->out[1];
		s32 x;

		o = pixel / before % p->out[d];
		x = c->lower[d] + (s32)(o * c->step[d] + tap[d] * c->dilation[d]);
		inside &= x >= 0 && x < (s32)c->size[d];
		at = at * c->size[d] + (inside ? (u32)x : 0);
	}
	return inside ? in[at * pixel_words(c) + channel] : c->fill ? NAN_FILL : 0;
}

/* Where a word of the tile is, with pieces of 16 bytes exchanged as the swizzle has it. */
static u32 place_of(const struct plan *p, u32 row, u32 channel)
{
	u32 word = row * p->pitch + channel, line = word / 32;

	return word ^ (p->c->swizzle ? (line % (1u << p->c->swizzle)) * 4 : 0);
}

static u32 count_wrong(const struct plan *p, const u32 *in, const u32 *out)
{
	const struct conv *c = p->c;
	u32 wrong = 0;

	for (u32 j = 0; j < p->jobs; j++)
		for (u32 i = 0; i < c->pixels_each * c->channels_each; i++) {
			u32 row = i / c->channels_each, channel = i % c->channels_each;
			const struct place *at = &p->place[j];
			u32 want = wanted(p, in, at->pixel + row, at->channel + channel, at->tap),
			    got = out[j * tile_words(p) + place_of(p, row, channel)];

			if (want != got && !wrong++)
				printf("# pixel %u channel %u tap %u,%u,%u: %08x, not %08x\n",
				       at->pixel + row, at->channel + channel, at->tap[0],
				       at->tap[1], at->tap[2], got, want);
		}
	return wrong;
}

static void run(struct plan *p, const char *ptx)
{
	const struct conv *c = p->c;
	u64 bytes = (u64)p->jobs * tile_words(p) * 4;
	struct {
		u64 jobs, out, map;
	} params;
	struct harness h;
	u32 *in;

	if (!CHECK_MSG(harness_open(&h, ptx), "the kernel is read"))
		return;
	h.turns = 2000;
	in = (u32 *)(uintptr_t)mem_alloc(&h.mem, (u64)input_words(c) * 4, 0, MEM_KIND_DEVICE);
	params.jobs = mem_alloc(&h.mem, p->jobs * sizeof(*p->job), 0, MEM_KIND_DEVICE);
	params.out = mem_alloc(&h.mem, bytes, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < input_words(c); i++)
		in[i] = 0x3f800000 + i;
	memcpy((void *)(uintptr_t)params.jobs, p->job, p->jobs * sizeof(*p->job));
	params.map = make_map(&h, c, (u64)(uintptr_t)in);
	CHECK_EQ(harness_run(&h, "k", p->jobs, THREADS, &params, level), STOP_DONE);
	CHECK_MSG(!count_wrong(p, in, (const u32 *)(uintptr_t)params.out), c->name);
	harness_close(&h);
}

static void test_conv(const struct conv *c)
{
	struct plan p = {.c = c};
	struct text ptx = {0};

	plan_jobs(&p);
	put_kernel(&ptx, &p);
	if (CHECK(p.jobs && ptx.at))
		run(&p, ptx.at);
	text_fini(&ptx);
	free(p.job);
	free(p.place);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		level = levels[i];
		if (!check_level(exec_ops_select(level), level))
			continue;
		for (size_t k = 0; k < ARRAY_LEN(convs); k++)
			test_conv(&convs[k]);
	}
	return check_done();
}
