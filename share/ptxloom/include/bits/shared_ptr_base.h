/*
 * libstdc++'s header of this name says __attribute__((__noinline__)); CUDA's macro __noinline__ is
 * not there while it is read.
 */
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
