/*
 * Private to src/dev: launches that are prepared or under way.
 */
#ifndef PL_DEV_DEVICE_INT_H
#define PL_DEV_DEVICE_INT_H

#include "src/dev/device.h"
#include "src/dev/window.h"
#include "src/exec/observer.h"

/* Device memory that holds the parameters of a running launch. */
struct device_params {
	struct device_params *next; /* among the spare ones */
	u64 address;                /* 0: none yet */
	u8 *host;                   /* where the host has it */
	u32 cap;
	u64 workspace; /* of cooperative launches, 0: none yet */
};

/* Threads, CTAs or clusters of a shape; grids and blocks that were checked do not overflow. */
static inline u64 device_volume(const u32 *dim)
{
	return (u64)dim[0] * dim[1] * dim[2];
}

/* One dimension of a directive or an attribute, where 0 says that it was not given. */
static inline u32 device_extent(u32 given)
{
	return given ? given : 1;
}

/* What a launch comes to with its clusters. */
struct device_shape {
	u32 grid[3]; /* in CTAs */
	u32 block[3];
	u32 cluster[3];
	bool explicit_cluster; /* asked for by the launch or the kernel */
};

/* A checked launch: prepared, then under way. Kept for the next launch. */
struct device_flight {
	struct device_flight *next; /* among the spare ones */
	struct device *dev;
	struct device_kernel *kernel;
	const struct program *program;
	device_done *done;
	void *user;
	u8 *values; /* of the parameters, laid out as the kernel sees them */
	u32 values_cap;
	struct device_shape shape;
	u32 dynamic_bytes;
	u32 resident; /* CTAs an SM holds */
	bool cooperative;
	struct device_params *params; /* while it runs */
	u64 grid_id;
	u64 started_ns;                       /* where the device has on_end */
	struct host_from from;                /* as in device_launch */
	u64 context, stream;                  /* as in struct device_look */
	const void *tag;                      /* likewise */
	struct access_window window;          /* of the second cache; no bytes: there is none */
	const struct exec_observer *observer; /* while it runs; NULL: none */
	bool is_unobserved;                   /* the device's is_observed says so */
	u64 place;                            /* of the launch in the program: sched_launch.place */
	struct nested *family;   /* what its threads and theirs have launched; NULL: nothing yet */
	struct sched_pool *pool; /* to run on, NULL: the device's */
	struct graph_run
		*run; /* of the graph that it is a node of, if its kernel may launch graphs */
	struct exec_observer told; /* of the device's observer, what the launch needs */
	struct exec_count *counts; /* of a program that counts; owned */
	struct record_shot *shot;  /* what would be recorded of it; NULL: nothing */
	u32 depth;                 /* of a grid that a kernel launched: how many are above it */
	u64 parent;                /* of that one: the grid_id of the grid above it; else 0 */
};

/*
 * The two halves of device_launch, for launches that wait for earlier work. Prepare: check, copy
 * the parameters, lower the kernel. Start: once, or drop it instead; when it fails, the flight is
 * gone and `done` is not called.
 */
enum status device_flight_prepare(const struct device_launch *l, struct device_flight **out);
enum status device_flight_start(struct device_flight *f, bool may_inline, device_done *done,
				void *user);
void device_flight_drop(struct device_flight *f);
/* Does its kernel call cudaGraphLaunch? Such run as nodes of graphs only. */
bool device_flight_launches_graphs(const struct device_flight *f);
/* A flight under way is over: notify the waiting threads. */
void device_flight_finish(struct device_flight *f, enum status status,
			  const struct device_fault *fault);

/* ---- cluster.c ---- */

/* Check the clusters of a launch and fill in its shape. */
enum status device_cluster_resolve(const struct device_launch *l, struct device_shape *s);
/* CTAs that a cluster of this kernel may have at most. */
u32 device_cluster_limit(const struct device_kernel *k);

#endif
