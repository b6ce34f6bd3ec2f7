// Build with -DTRUTH: the program prints what a debugger must show.
#ifdef TRUTH
#define T(...) printf("truth " __VA_ARGS__)
#else
#define T(...) ((void)0)
#endif
