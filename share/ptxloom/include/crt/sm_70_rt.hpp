/* For clang's CUDA headers, which look for this file: matches within a warp. */
#ifndef PTXLOOM_SM_70_RT_HPP
#define PTXLOOM_SM_70_RT_HPP

#include "../ptxloom/match.h"

#endif
