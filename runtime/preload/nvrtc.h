/*
 * What stands in front of NVRTC. Private to the preloaded library.
 */
#ifndef PL_NVRTC_H
#define PL_NVRTC_H

/*
 * The function for who asked a library for `name` and found `real` (NULL: nothing there); NULL:
 * that one. handle: the library's, as dlsym takes it.
 */
void *nvrtc_stand_in(void *real, const char *name, void *handle);

#endif
