/*
 * Observers of what a launch does. struct exec_env names one; its launches run with
 * the instrumented tables (struct exec_ops, `watched`), whose memory and synchronising handlers
 * tell the observer first and then do what the plain ones do, and whose loop calls the observer
 * before each micro-op. Plain tables test nothing: without an observer there is no cost.
 *
 * Functions may be NULL. With several workers they are called from several threads at once, for
 * different CTAs. Programs are to be lowered without fusion, so that each micro-op is of one
 * instruction, unless the observer says that it `fuses`. What they get is valid during the call.
 */
#ifndef PL_EXEC_OBSERVER_H
#define PL_EXEC_OBSERVER_H

#include "src/exec/exec.h"

enum exec_access_kind {
	ACCESS_LOAD,
	ACCESS_STORE,
	ACCESS_ATOM,         /* reads, writes, gives the old value */
	ACCESS_RED,          /* reads and writes */
	ACCESS_COPY_READ,    /* source of an asynchronous copy */
	ACCESS_COPY_WRITE,   /* its destination; later */
	ACCESS_COPY_DONE,    /* the mbarrier that it completes; later */
	ACCESS_MATRIX_LOAD,  /* ldmatrix: a row of 16 bytes for each of the lanes that name one */
	ACCESS_MATRIX_STORE, /* stmatrix, likewise */
};

/*
 * One warp's part in a memory instruction, before it takes place: it may still fault. Generic
 * accesses come sorted by space, one event for each that lanes go to.
 */
struct exec_access {
	const struct cta *cta;
	const struct uop *in;
	u32 pc;         /* micro-op */
	u32 warp;       /* in the CTA */
	u8 kind;        /* enum exec_access_kind */
	u8 space;       /* enum mem_space: global (constants too), shared, local, param */
	u8 size, count; /* bytes of an element, and how many lie side by side */
	bool bypass;    /* copies: past the first cache (.cg) */
	bool extra;     /* only for observers that want accesses of every kind */
	u32 mask;       /* lanes */
	u64 bytes;      /* that each lane touches, from its address on */
	/*
	 * By lane: device addresses; offsets in shared memory with the CTA's field above them, as
	 * in mem.h; offsets in the thread's local memory or in the parameters.
	 */
	const u64 *address;
	const u64 *other; /* of cp.async: where its other side is, by lane; else NULL */
	u32 done;         /* as in struct exec_span */
	bool folded;      /* it is told by exec_observer.alike, too */
	/* with that: the same for accesses of a CTA that are alike; 0: not known */
	u64 pattern;
	u64 more; /* with that: further ones like it, by warps of other CTAs, too */
};

/* A texel that a lane reads or writes, and where it is. */
struct exec_texel {
	/*
	 * As caches see it: of arrays, where their texels lie in blocks, of 4 rows of 32 bytes in a
	 * line and 2 rows of 16 bytes in a sector (measured on an H200); else a device address.
	 */
	u64 address;
	u32 bytes;
	u32 lane;
};

/*
 * One request of a warp to its texture unit, before it takes place: the lanes of an instruction go
 * by fours or eights.
 */
struct exec_texture {
	const struct cta *cta;
	const struct uop *in;
	u32 pc, warp;
	u8 kind; /* ACCESS_LOAD, ACCESS_STORE, ACCESS_RED */
	bool is_surface;
	bool is_first; /* of the instruction of the warp */
	u32 mask;      /* lanes of the request */
	u32 len;
	const struct exec_texel *texel; /* in the order of the lanes; some may come twice */
};

/*
 * Where all that a gang, or the warp that runs alone, is about to touch lies: its lanes' addresses
 * are in [lo, end), in one space, as in struct exec_access. end 0: anywhere in that space.
 */
struct exec_span {
	const struct gang *g;
	const struct uop *in;
	u8 kind;    /* enum exec_access_kind */
	u8 space;   /* enum mem_space */
	bool dense; /* stores: all of it is touched */
	u64 lo, end;
	/* For what stands for several observers: those that need to know no more of this access. */
	u32 *done;
};

/*
 * The part of warp `w` (0 .. exec_step_warps - 1) of a span in a space that is not generic, as it
 * would be told; address: room for it. False: no lane of it takes part.
 */
bool exec_span_access(const struct exec_span *s, u32 w, u64 address[WARP_LANES],
		      struct exec_access *a);

/* Lanes have come to an instruction that makes them wait for others, or orders memory. */
struct exec_sync {
	const struct cta *cta;
	const struct uop *in;
	u32 pc, warp, mask;
	/*
	 * An observer that writes a line here says why the lanes will wait for ever. The launch
	 * ends with a deadlock, of which this is the reason. As large as fault.text.
	 */
	char *stuck;
	/* enum exec_op: OP_bar_sync, OP_bar_arrive, OP_bar_red, OP_warp_sync, OP_fence .. */
	u16 op;
};

enum exec_hint_kind {
	HINT_POLICY, /* of what the instruction accesses: values are policies (l2_policy.h) */
	HINT_NORMAL, /* applypriority: the line of the address; so is that of discard */
	HINT_DISCARD,
	HINT_PREFETCH,      /* likewise; of whole lines */
	HINT_BULK_PREFETCH, /* from the address on, `bytes` of them */
};

/* What an instruction of a warp says about caches, before it runs. */
struct exec_hint {
	const struct cta *cta;
	const struct uop *in;
	u32 pc, warp, mask;
	u8 kind;          /* enum exec_hint_kind */
	const u64 *value; /* by lane */
	const u32 *bytes; /* likewise; NULL unless the kind has them */
};

struct exec_observer {
	void *user;
	/* Launches of a device (src/dev/launch.c), from any thread. */
	void (*launch_begin)(void *user, const struct program *p, u64 grid_id);
	void (*launch_end)(void *user, const struct program *p, u64 grid_id);
	void (*cta_begin)(void *user, const struct cta *c);
	void (*cta_end)(void *user, const struct cta *c);
	/*
	 * Before each micro-op, helpers of lowering among them: exec_is_first tells which begin an
	 * instruction. Each is told once for the lanes that run it together. g->mode says whether
	 * all warps of the gang are about to run it, or warp g->warp alone; exec_step_mask gives
	 * the lanes. May block, as a debugger does.
	 */
	void (*step)(void *user, const struct gang *g, const struct uop *in);
	const u8 *step_at; /* by micro-op: is `step` wanted before it? NULL: before each */
	/*
	 * It sets gang.quiet, which an exec_observer.cta_begin initializes, to be spared the steps
	 * of that gang, but for those before micro-ops of rest_at (NULL: all of them).
	 */
	bool rests;
	const u8 *rest_at;
	void (*access)(void *user, const struct exec_access *a);
	/*
	 * For observers that only count: instead of `access`, where it can be, loads, stores and
	 * atomics of an instruction that are alike are told once for all of them, when the launch
	 * ends at the latest. They differ by a multiple of 128 bytes, of 4 in shared and local
	 * memory. Parameters are left out.
	 */
	void (*alike)(void *user, const struct exec_access *a);
	/*
	 * Spaces, a bit for each enum mem_space: beside `alike`, `access` is wanted for each access
	 * there nevertheless. Of observers without `alike`: those that they need to know, 0: all.
	 */
	u32 each;
	/*
	 * Loads, stores and atomics: before the access of each warp is told. True: nothing more of
	 * this one is needed. NULL: accesses are told at once.
	 */
	bool (*span)(void *user, const struct exec_span *s);
	/* It wants bounds, too, if it needs to know more: it is asked again with them. */
	bool bounds;
	/*
	 * Accesses of every kind: also bulk and tensor copies, what st.async and red.async send,
	 * mbarriers, fragments of wmma, factors of wgmma in shared memory, surfaces, and what the
	 * device runtime is passed. These have `size` and `count` 1; counters have no rules for
	 * them.
	 */
	bool every;
	/* Textures and surfaces. */
	void (*texture)(void *user, const struct exec_texture *t);
	void (*sync)(void *user, const struct exec_sync *s);
	/* Of programs that are lowered with LOWER_CACHE_HINTS. */
	void (*hint)(void *user, const struct exec_hint *h);
	/* A thread has got this memory of the device's heap. */
	void (*heap)(void *user, const struct cta *c, u64 address, u64 bytes);
	/*
	 * Behind launch_begin: *o is a copy of the observer, for this launch. What the launch does
	 * not need is taken out of it; what it names then lasts up to launch_end.
	 */
	void (*narrow)(void *user, const struct exec_env *e, struct exec_observer *o);
	/*
	 * The launch has ended, and these are the counts of its program (struct program_insn).
	 * Before launch_end; not called of programs that do not count.
	 */
	void (*counted)(void *user, const struct program *p, u64 grid_id,
			const struct exec_count *counts);
	/* It does without steps: programs may be lowered as usual, with fusion. */
	bool fuses;
	/*
	 * It needs accesses to shared memory alone, and only those whose lanes are not all within
	 * one variable: launches run with the tables `apart` of struct exec_ops, for which programs
	 * may be lowered as usual.
	 */
	bool only_apart;
};

/* Is the launch observed so that nothing may be left out? */
static inline bool exec_is_observed(const struct exec_env *e)
{
	return e->observer && !e->observer->only_apart;
}

/* Lanes of warp g->warp + w that are about to run; w: 0 .. exec_step_warps - 1. */
static inline u32 exec_step_mask(const struct gang *g, u32 w)
{
	return g->mode == MODE_GANG ? g->warp_at[w].live : g->active;
}

static inline u32 exec_step_warps(const struct gang *g)
{
	return g->mode == MODE_GANG ? g->warps : 1;
}

/*
 * For loops of an observed launch: notify the observer of the micro-op that is about to run; at the
 * end, note which one it was. A gang may find that it cannot run a micro-op as one, or that its
 * time slice is over, after the observer was notified: its warps then come to it again, and it is
 * not notified twice.
 */
void exec_tell_step(struct gang *g, const struct uop *in);
void exec_tell_stop(struct gang *g, u32 pc);

struct isa_form;
/* The form of the instruction that a micro-op is of; NULL: it is of none. */
const struct isa_form *exec_form(const struct program *p, const struct uop *in);
/* Does a read of this form ask memory each time, since other threads may write there? */
bool exec_form_rereads(const struct isa_form *form);
/* Is the micro-op the first of a PTX instruction (of a program without fusion)? */
bool exec_is_first(const struct program *p, u32 pc);
/* Lanes of that instruction that its guard lets through, of those of warp g->warp + w. */
u32 exec_step_passes(const struct gang *g, const struct uop *in, u32 w);

#endif
