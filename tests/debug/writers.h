// Fragments of 16 by 16 floats by PTX, where the toolkit's headers are not.
#define STORE(to, f)                                                                               \
	asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 "                                \
		     "[%0], {%1, %2, %3, %4, %5, %6, %7, %8}, 16;"                                 \
		     :                                                                             \
		     : "l"(to), "f"(f[0]), "f"(f[1]), "f"(f[2]), "f"(f[3]), "f"(f[4]), "f"(f[5]),  \
		       "f"(f[6]), "f"(f[7])                                                        \
		     : "memory")
#define LOAD(f, from)                                                                              \
	asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.f32 "                                 \
		     "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;"                                 \
		     : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3]), "=f"(f[4]), "=f"(f[5]),     \
		       "=f"(f[6]), "=f"(f[7])                                                      \
		     : "l"(from)                                                                   \
		     : "memory")
