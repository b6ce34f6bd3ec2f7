/*
 * Launches that are recorded with all they read, and repeated in another process, on another
 * machine: docs/record.md describes the file.
 *
 * A recorder belongs to a process and is asked at the start of every launch. It copies what device
 * memory holds, and either keeps that until the launch has ended, in case it faults, or writes it
 * at once, if this is the launch that was asked for. It writes one file.
 */
#ifndef PL_DEV_RECORD_H
#define PL_DEV_RECORD_H

#include "src/dev/device.h"

struct device_flight;
struct record_shot;
struct recorder;
struct replay;

/* ---- recording: record.c ---- */

/*
 * What PTXLOOM_RECORD and PTXLOOM_RECORD_LAUNCH ask for; settings: those of the process's launches,
 * copied. NULL: nothing, or, with a line in `why`, something that cannot be. Arenas of devices that
 * are opened afterwards get addresses that are likely to be free elsewhere.
 */
struct recorder *recorder_open(const struct device_settings *settings, struct text *why);
/* The process ends: say so on standard error when the launch that was asked for has not come. */
void recorder_say_end(const struct recorder *r);
/* No launch is under way. NULL is allowed. */
void recorder_close(struct recorder *r);
/* A launch is about to begin: a copy of its inputs, NULL: it is of no interest. */
struct record_shot *recorder_begin(struct recorder *r, const struct device_flight *f);
/* It has ended, without a fault if that is NULL. Frees the copy. */
void recorder_end(struct recorder *r, struct record_shot *s, const struct device_fault *fault);

/* ---- repeating: replay.c ---- */

/* Read a file up to the contents of memory. NULL, with a line in `why`: not one, or damaged. */
struct replay *replay_open(const char *path, struct text *why);
void replay_close(struct replay *r);
/* The settings that the launch ran with. */
void replay_settings(const struct replay *r, struct device_settings *s);
/* The profile that it ran on; the caller frees it. NULL after a report to d. */
struct arch *replay_profile(const struct replay *r, struct diag *d);
/* The texts of its program, at most max of them; borrowed from r. Returns how many there are. */
u32 replay_texts(const struct replay *r, struct device_text *out, u32 max);
/* The device that is opened next gets the address that the launch's had, if it is free. */
void replay_place(const struct replay *r);
/*
 * Give a device that has just been opened the memory of the launch, with its contents, and load the
 * program. The caller unloads it. False, with a line in `why` or a report to d: addresses are taken
 * here, the file is damaged, the program cannot be loaded.
 */
bool replay_load(struct replay *r, struct device *dev, struct diag *d, struct device_program **p,
		 struct text *why);
/* What is to be said beforehand: where it comes from, what the record lacks; lines, each ended. */
void replay_describe(const struct replay *r, struct text *out);
/* The launch, borrowed from r; valid once it is loaded. */
void replay_launch_of(const struct replay *r, struct device_launch *out);
/* Start it, once; the results are those of device_launch. */
enum status replay_launch(struct replay *r, device_done *done, void *user);

#endif
