/*
 * Cubes: which face a direction points at, and which texel lies beyond the edge of a face.
 * docs/textures.md has the rules in words. Source: CUDA C++ Programming Guide "Cubemap Textures".
 */
#include "src/tex/texture.h"

#include <math.h>

/* Not a number is smaller than everything. */
static f64 magnitude(f64 x)
{
	return x != x ? -1 : fabs(x);
}

/* x / m by way of the reciprocal r, with subnormal results flushed. */
static f64 divide_axis(f64 x, f64 m, f64 r)
{
	f64 q = r < 0x1p-126 ? x * 0 : x / m;

	return fabs(q) < 0x1p-126 ? 0 : q;
}

/*
 * The face a direction points at, and where on it, from -1 to 1. A direction whose reciprocal is
 * too small for an f32 is none: 0, or not a number where it was infinite.
 * Faces: +x -x +y -y +z -z. CUDA C++ Programming Guide "Cubemap Textures".
 */
u32 tex_face_of(const u32 coord[3], f64 out[2])
{
	f64 x = f32_bits(coord[0]), y = f32_bits(coord[1]), z = f32_bits(coord[2]);
	f64 m = fmax(fmax(fabs(x), fabs(y)), fabs(z)), ax, ay, az, r = 1 / m;

	x = divide_axis(x, m, r);
	y = divide_axis(y, m, r);
	z = divide_axis(z, m, r);
	ax = magnitude(x);
	ay = magnitude(y);
	az = magnitude(z);
	if (az >= ax && az >= ay) {
		out[0] = z < 0 ? -x : x;
		out[1] = -y;
		return z < 0 ? 5 : 4;
	}
	if (ay >= ax) {
		out[0] = x;
		out[1] = y < 0 ? -z : z;
		return y < 0 ? 3 : 2;
	}
	out[0] = x < 0 ? z : -z;
	out[1] = -y;
	return x < 0 ? 1 : 0;
}

/* Directions of a face: its own, to the right, down. Index of the axis, negative axes from 3 on. */
static const u8 face_axes[6][3] = {{0, 5, 4}, {3, 2, 4}, {1, 0, 2},
				   {4, 0, 5}, {2, 0, 4}, {5, 3, 4}};

/*
 * A texel beyond one edge of a face is the nearest one of the face beyond the edge. at: column and
 * row, moved there. Returns its face.
 */
u32 tex_cross_edge(u32 face, s64 at[2], u32 size)
{
	s64 v[3], n = size, to[2] = {2 * at[0] + 1 - n, 2 * at[1] + 1 - n}, side = n - 1;
	u32 next = 0;

	for (u32 i = 0; i < 3; i++) {
		u32 axis = face_axes[face][i];
		s64 x = !i ? side : to[i - 1];

		v[axis % 3] = axis < 3 ? x : -x;
	}
	for (u32 i = 0; i < 3; i++)
		if (v[i] > n - 1 || v[i] < 1 - n)
			next = 2 * i + (v[i] < 0);
	for (u32 i = 0; i < 2; i++) {
		u32 axis = face_axes[next][i + 1];

		at[i] = ((axis < 3 ? v[axis] : -v[axis - 3]) + n - 1) / 2;
	}
	return next;
}

void tex_face_project(u32 face, const f64 v[3], f64 out[2])
{
	f64 m = 0, to[2] = {0, 0};

	for (u32 i = 0; i < 3; i++) {
		u32 axis = face_axes[face][i];
		f64 x = axis < 3 ? v[axis] : -v[axis - 3];

		if (i)
			to[i - 1] = x;
		else
			m = x;
	}
	out[0] = m > 0 ? to[0] / m : 0;
	out[1] = m > 0 ? to[1] / m : 0;
}
