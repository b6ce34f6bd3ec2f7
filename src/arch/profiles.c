/*
 * The built-in profiles, made from the chips' .def files at compile time. A chip includes its
 * parent's file first, so inheritance is the order of initializers: the last one of a member
 * counts, which is what the warning is about.
 */
#include "src/arch/arch_int.h"

#pragma GCC diagnostic ignored "-Woverride-init"

/* clang-format off: braces in macros are initializers here, not blocks. */
#define PROFILE(name) .id = #name,
#define INHERIT(name) .parent = #name,
#define FIELD(field, value, where) .field = value, .source[ARCH_FIELD_##field] = where,
#define UNKNOWN(field) .source[ARCH_FIELD_##field] = NULL,
#define LIST(...)                                                                                  \
	{                                                                                          \
		.len = ARRAY_LEN(((const s32[]){__VA_ARGS__})), .at = { __VA_ARGS__ }              \
	}
#define SHAPE(rows, columns, depth)                                                                \
	{                                                                                          \
		.m = rows, .n = columns, .k = depth                                                \
	}
#define SHAPES(...)                                                                                \
	{                                                                                          \
		.len = ARRAY_LEN(((const struct arch_shape[]){__VA_ARGS__})),                      \
		.at = { __VA_ARGS__ }                                                              \
	}
#define NO_SHAPES                                                                                  \
	{                                                                                          \
		.len = 0                                                                           \
	}

/* Sources, named once. */
#define MEASURED "measured on an H200"
#define SYSTEM "measured on an H200, driver 580, Linux x86-64: a property of driver and system"
#define GUIDE(section) "CUDA C++ Programming Guide, \"" section "\""
#define TECH GUIDE("Technical Specifications per Compute Capability")
#define GREEN "CUDA Driver API, \"Green Contexts\", cuDevSmResourceSplitByCount"
#define THROUGHPUT GUIDE("Arithmetic Instructions") ", throughput table"
#define CALCULATOR "CUDA Occupancy Calculator, limits per compute capability"
#define PASCAL(section) "Pascal tuning guide, \"" section "\""
#define VOLTA(section) "Volta tuning guide, \"" section "\""
#define TURING(section) "Turing tuning guide, \"" section "\""
#define AMPERE(section) "Ampere tuning guide, \"" section "\""
#define TALK(slide) "Volta architecture and optimisation talk, \"" slide "\""
#define WHITEPAPER(what) "NVIDIA " what " white paper"
#define QUERY(board) "published deviceQuery output of " board
#define PROPERTIES(board) "properties of " board ", published in NVIDIA's developer forum"
#define SMI(board) "published nvidia-smi output of " board
#define MIG "NVIDIA Multi-Instance GPU User Guide, \"Supported GPUs\""
#define PTX(section) "PTX ISA, \"" section "\""
#define MMA_SIM "Xie et al., \"MMA-Sim\", arXiv 2511.10909"
#define TC_MODELS "Khattak and Mikaitis, arXiv 2512.07004"
#define PCI_IDS "the PCI ID Repository"

#define CHIP(name) static const struct arch name =

const struct arch arch_base = {
#include "src/arch/base.def"
};

CHIP(gp100){
#include "src/arch/gp100.def"
};

CHIP(gp104){
#include "src/arch/gp104.def"
};

CHIP(gv100){
#include "src/arch/gv100.def"
};

CHIP(tu102){
#include "src/arch/tu102.def"
};

CHIP(tu104){
#include "src/arch/tu104.def"
};

CHIP(ga100){
#include "src/arch/ga100.def"
};

CHIP(ga102){
#include "src/arch/ga102.def"
};

CHIP(h100){
#include "src/arch/h100.def"
};

CHIP(gh100){
#include "src/arch/gh100.def"
};

CHIP(gb202){
#include "src/arch/gb202.def"
};

const struct arch *const arch_profiles[] = {
	&gp100, &gp104, &gv100, &tu102, &tu104, &ga100, &ga102, &h100, &gh100, &gb202, NULL,
};
