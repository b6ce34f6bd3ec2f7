/*
 * Groups: what a thread collects between ncclGroupStart and ncclGroupEnd. A call outside of one is
 * a group of its own.
 */
#include "runtime/libs/nccl.h"

#include <stdlib.h>
#include <unistd.h>

struct group_task {
	struct nccl_task task;
	struct nccl_comm *comm;
	void *stream;
};

static _Thread_local struct {
	u32 depth, task_len, job_len;
	int status; /* the first that is not NCCL_SUCCESS */
	struct group_task *tasks;
	struct nccl_job *jobs;
} group;

void nccl_group_enter(void)
{
	group.depth++;
}

/* Room for one more of `bytes` each. */
static void *group_grow(void *at, u32 len, size_t bytes)
{
	return len & (len - 1) ? at : realloc(at, (len ? 2 * (size_t)len : 1) * bytes);
}

int nccl_group_add(const struct nccl_task *t, struct nccl_comm *c, void *stream)
{
	struct group_task *grown = group_grow(group.tasks, group.task_len, sizeof(*grown));

	if (!grown)
		return NCCL_SYSTEM_ERROR;
	group.tasks = grown;
	grown[group.task_len++] = (struct group_task){*t, c, stream};
	return NCCL_SUCCESS;
}

int nccl_group_job(const struct nccl_job *j)
{
	struct nccl_job *grown = group_grow(group.jobs, group.job_len, sizeof(*grown));

	if (!grown)
		return NCCL_SYSTEM_ERROR;
	group.jobs = grown;
	grown[group.job_len++] = *j;
	return NCCL_SUCCESS;
}

/* All are asked until none is under way. */
static int run_jobs(void)
{
	int status = NCCL_SUCCESS;
	u32 left = group.job_len;

	while (left) {
		left = 0;
		for (u32 i = 0; i < group.job_len; i++) {
			struct nccl_job *j = &group.jobs[i];
			int s = j->step ? j->step(j) : NCCL_SUCCESS;

			left += s == NCCL_IN_PROGRESS;
			if (s == NCCL_IN_PROGRESS)
				continue;
			if (j->step && !s && j->out)
				*j->out = j->comm;
			j->step = NULL;
			status = status ? status : s;
		}
		if (left)
			usleep(200);
	}
	return status;
}

/* A call of the group failed: nothing of it comes about, which ranks elsewhere learn. */
static void drop_jobs(void)
{
	for (u32 i = 0; i < group.job_len; i++)
		if (group.jobs[i].comm) {
			atomic_store(&group.jobs[i].comm->segment->failed, 1);
			nccl_forget_name(group.jobs[i].comm);
			nccl_close(group.jobs[i].comm);
		}
}

/* The group's tasks from `first` on for its communicator, which are taken out of it. */
static struct nccl_plan *nccl_make_plan(u32 first)
{
	struct nccl_comm *c = group.tasks[first].comm;
	struct nccl_plan *p =
		malloc(sizeof(*p) + (group.task_len - first) * sizeof(struct nccl_task));

	if (!p)
		return NULL;
	*p = (struct nccl_plan){.comm = c};
	for (u32 i = first; i < group.task_len; i++)
		if (group.tasks[i].comm == c)
			p->task[p->len++] = group.tasks[i].task;
	return p;
}

/* The other streams that calls for this communicator named; after: they wait for its end. */
static int join_streams(u32 first, bool after)
{
	const struct group_task *t = &group.tasks[first];
	int error = 0;

	for (u32 i = first + 1; !error && i < group.task_len; i++)
		if (group.tasks[i].comm == t->comm && group.tasks[i].stream != t->stream)
			error = after ? plrt_work_join(t->stream, group.tasks[i].stream)
				      : plrt_work_join(group.tasks[i].stream, t->stream);
	return error;
}

static int issue_plan(struct nccl_plan *p, u32 first)
{
	struct nccl_comm *c = p->comm;
	void *stream = group.tasks[first].stream;
	bool captured = plrt_work_is_captured(stream);
	int error;

	pthread_mutex_lock(&c->lock);
	if (captured)
		c->captured++;
	else
		p->ticket = ++c->issued;
	pthread_mutex_unlock(&c->lock);
	error = join_streams(first, false);
	if (!error)
		error = plrt_work_issue(p->task[0].f->name, stream, nccl_run, &p, sizeof(p),
					WORK_POLL);
	if (!error)
		return join_streams(first, true);
	pthread_mutex_lock(&c->lock);
	if (captured)
		c->captured--;
	else
		c->issued--;
	pthread_mutex_unlock(&c->lock);
	free(p);
	return error;
}

static int run_tasks(void)
{
	int status = NCCL_SUCCESS;

	for (u32 i = 0; i < group.task_len; i++) {
		struct nccl_comm *c = group.tasks[i].comm;
		struct nccl_plan *p;
		int error;

		if (!c)
			continue;
		p = nccl_make_plan(i);
		if (!p)
			return NCCL_SYSTEM_ERROR;
		error = plrt_work_enter(c->device);
		if (!error) {
			error = issue_plan(p, i);
			plrt_work_leave();
		} else {
			free(p);
		}
		if (error && !status)
			status = nccl_say(NCCL_CUDA_ERROR, "CUDA error %d", error);
		for (u32 k = group.task_len; k-- > i;)
			if (group.tasks[k].comm == c)
				group.tasks[k].comm = NULL;
	}
	return status;
}

int nccl_group_leave(int status)
{
	if (!group.depth)
		return nccl_say(NCCL_INVALID_USAGE, "ncclGroupEnd without ncclGroupStart");
	if (status && !group.status)
		group.status = status;
	if (--group.depth)
		return status;
	status = group.status;
	if (status)
		drop_jobs();
	else
		status = run_jobs();
	if (!status)
		status = run_tasks();
	free(group.tasks);
	free(group.jobs);
	group.tasks = NULL;
	group.jobs = NULL;
	group.task_len = group.job_len = 0;
	group.status = NCCL_SUCCESS;
	return status;
}
