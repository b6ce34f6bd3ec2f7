# Sources of src/arch.
libcore_la_SOURCES += \
	src/arch/arch.c src/arch/arch.h src/arch/arch_int.h \
	src/arch/attribute.c src/arch/attributes.def \
	src/arch/devices.c \
	src/arch/identity.c \
	src/arch/limits.h src/arch/occupancy.c \
	src/arch/profiles.c src/arch/fields.def src/arch/base.def \
	src/arch/gp100.def src/arch/gp104.def src/arch/gv100.def src/arch/tu102.def src/arch/tu104.def \
	src/arch/ga100.def src/arch/ga102.def src/arch/gh100.def src/arch/h100.def src/arch/gb202.def \
	src/arch/user.c src/arch/window.h

dist_check_SCRIPTS += tests/golden/devices.sh
TESTS += tests/golden/devices.sh
EXTRA_DIST += tests/vectors/occupancy_gh100.tsv tests/vectors/carveout_gh100.tsv tests/vectors/smem_config_gh100.tsv tests/vectors/available_smem_gh100.tsv \
	tests/vectors/attributes_gh100.tsv tests/golden/devices.out tests/golden/devices_list.json \
	tests/golden/mygpu.profile docs/devices.md
