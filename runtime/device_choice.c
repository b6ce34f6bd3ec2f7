/*
 * The device of a process whose user has named none. It is the default one, unless the code that
 * programs and libraries have registered when CUDA is first used was made for others: PTX for
 * compute_90a runs on one kind of chip alone, and libraries pick their kernels by the device, so
 * that it should be one for which they have PTX.
 */
#include "runtime/device_choice.h"

#include "runtime/process.h"
#include "src/arch/arch.h"
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/dev/image/image.h"

#include <stdio.h>

/* Containers of a program without PTX images that are opened: each costs milliseconds. */
#define CUBINS_OPENED 16u

struct survey {
	const void *within; /* the object whose images count (its first address); NULL: all */
	const struct arch *now;
	struct image_suits suits;
	u32 cubins;
	/* The first image that the device does not suit. */
	char object[256];
	struct text targets;
};

/* Does the program itself hold it? Only libraries have a suffix. */
static bool is_in_program(const struct rt_image *image)
{
	return image->object && !strstr(file_base_name(image->object_path), ".so");
}

/* Is this list the first that does not suit the device? Remember why. */
static void note_misfit(struct survey *s, const struct image_list *l, const struct rt_image *image)
{
	struct image_suits one = {0};
	u32 none = 0;

	image_suits_add(&one, l, &none);
	if (s->targets.len || !image_suits_better(&one, s->now))
		return;
	if (image_list_targets(l, UINT32_MAX, IMAGE_PTX, &s->targets))
		snprintf(s->object, sizeof(s->object), "%s",
			 image->object && !is_in_program(image) ? file_base_name(image->object_path)
								: "the program");
}

static void survey_image(void *handle, void *user)
{
	const struct rt_image *image = handle;
	struct survey *s = user;
	u32 none = 0, *cubins = &none;
	struct image_list l;
	struct diag quiet;

	if (s->within && image->object != s->within)
		return;
	if (is_in_program(image))
		cubins = &s->cubins;
	diag_init(&quiet, NULL, NULL);
	image_list_init(&l, &quiet, "");
	if ((image->size ? image_list_add(&l, image->code, image->size, 0)
			 : image_list_add_pointer(&l, image->code)) == IMAGE_OK) {
		image_suits_add(&s->suits, &l, cubins);
		note_misfit(s, &l, image);
	}
	image_list_fini(&l);
	diag_fini(&quiet);
}

/* ---- at first use ---- */

static const struct arch *choose_by_images(bool say)
{
	struct survey s = {.now = arch_default(), .cubins = CUBINS_OPENED};
	const struct arch *better;

	pthread_mutex_lock(&the_process.images);
	rt_handle_each(RT_HANDLE_LIBRARY, survey_image, &s);
	pthread_mutex_unlock(&the_process.images);
	better = image_suits_better(&s.suits, s.now);
	if (better && say && s.targets.len)
		fprintf(stderr,
			"ptxloom: the device is %s (%s), as %s has PTX for %s; PTXLOOM_DEVICE or "
			"`ptxloom run -d` chooses another.\n",
			better->id, better->name, s.object, s.targets.at);
	else if (better && say)
		fprintf(stderr,
			"ptxloom: the device is %s (%s), which suits the program's code; "
			"PTXLOOM_DEVICE or `ptxloom run -d` chooses another.\n",
			better->id, better->name);
	text_fini(&s.targets);
	return better ? better : s.now;
}

const char *plrt_device_spec(bool decide)
{
	const char *spec = setting_text(SETTING_DEVICE);
	const struct arch *chosen = __atomic_load_n(&the_process.chosen, __ATOMIC_ACQUIRE);

	if (spec)
		return spec;
	if (!chosen)
		chosen = choose_by_images(decide);
	if (decide)
		__atomic_store_n(&the_process.chosen, chosen, __ATOMIC_RELEASE);
	return chosen == arch_default() ? NULL : chosen->id;
}

/* ---- later ---- */

/* The device that all of the process's calls see, if it was not the user's choice. */
static const struct arch *device_not_chosen(void)
{
	return setting_text(SETTING_DEVICE)
		       ? NULL
		       : __atomic_load_n(&the_process.chosen, __ATOMIC_ACQUIRE);
}

void device_choice_look(const struct rt_image *image)
{
	struct survey s = {.now = device_not_chosen()};
	const struct arch *better;

	if (!s.now || __atomic_load_n(&the_process.choice_said, __ATOMIC_RELAXED))
		return;
	survey_image((void *)(uintptr_t)image, &s);
	better = image_suits_better(&s.suits, s.now);
	if (better && s.targets.len &&
	    !__atomic_exchange_n(&the_process.choice_said, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"ptxloom: %s has PTX for %s, and the device is %s, as no other was asked for; "
			"`ptxloom run -d %s` suits it.\n",
			s.object, s.targets.at, s.now->id, better->id);
	text_fini(&s.targets);
}

const struct arch *device_choice_for(const struct rt_image *image)
{
	struct survey s = {.within = image->object, .now = rt_get()->list.at[rt_device_index()]};

	rt_handle_each(RT_HANDLE_LIBRARY, survey_image, &s);
	text_fini(&s.targets);
	return image_suits_better(&s.suits, s.now);
}
