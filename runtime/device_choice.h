/*
 * The device of a process whose user has named none.
 */
#ifndef PL_DEVICE_CHOICE_H
#define PL_DEVICE_CHOICE_H

#include "runtime/rt.h"

/*
 * What PTXLOOM_DEVICE says, or else the device that suits the images registered so far, NULL for
 * the default one. `decide`: it remains this one, and if it is another one, why is said. NVML
 * looks for this function, too.
 */
RT_API const char *plrt_device_spec(bool decide);

/*
 * An image is loaded that was not there when the device was chosen: say once which device suits it,
 * if its code was compiled for newer ones only.
 */
void device_choice_look(const struct rt_image *image);
/* The device that suits the images of this one's library better, NULL: none does. */
const struct arch *device_choice_for(const struct rt_image *image);

#endif
