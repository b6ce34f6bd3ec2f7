/* The kernels of bench.cu in OpenCL C. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void vadd(__global const float *a, __global const float *b, __global float *c, int n)
{ int i = get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }
__kernel void sgemm(__global const float *a, __global const float *b, __global float *c, int n)
{ __local float as[16][16], bs[16][16];
  int tx = get_local_id(0), ty = get_local_id(1), row = get_global_id(1), col = get_global_id(0); float sum = 0;
  for (int t = 0; t < n; t += 16) {
    as[ty][tx] = a[row * n + t + tx]; bs[ty][tx] = b[(t + ty) * n + col]; barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE); }
  c[row * n + col] = sum; }
__kernel void mandel(__global int *out, int w, int h, int limit)
{ int x = get_global_id(0), y = get_global_id(1), i = 0;
  float cr = -2.2f + 3.0f * x / w, ci = -1.5f + 3.0f * y / h, zr = 0, zi = 0;
  if (x >= w || y >= h) return;
  while (i < limit && zr * zr + zi * zi < 4.0f) { float t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; i++; }
  out[y * w + x] = i; }
__kernel void hash(__global unsigned *out, int n)
{ __local unsigned s[256]; int i = get_global_id(0), t = get_local_id(0); unsigned x = i * 2654435761u + 12345u;
  for (int k = 0; k < 64; k++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; x = x * 1664525u + 1013904223u; }
  s[t] = i < n ? x : 0; barrier(CLK_LOCAL_MEM_FENCE);
  for (int o = 128; o; o >>= 1) { if (t < o) s[t] += s[t + o]; barrier(CLK_LOCAL_MEM_FENCE); }
  if (t == 0) atomic_add(out, s[0]); }
__kernel void stencil(__global const double *in, __global double *out, int n)
{ int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  out[y * n + x] = 0.5 * in[y * n + x] +
    0.125 * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]); }
__kernel void reduce(__global const unsigned *in, __global unsigned *out, int n)
{ __local unsigned s[256]; unsigned sum = 0; int t = get_local_id(0);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
  s[t] = sum; barrier(CLK_LOCAL_MEM_FENCE);
  for (int o = 128; o; o >>= 1) { if (t < o) s[t] += s[t + o]; barrier(CLK_LOCAL_MEM_FENCE); }
  if (t == 0) atomic_add(out, s[0]); }
