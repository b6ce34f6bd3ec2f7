dist_check_SCRIPTS += tests/profile/caches.sh tests/profile/figures.sh tests/profile/links.sh tests/profile/managed.sh tests/profile/names.sh tests/profile/profile.sh tests/profile/programs.sh tests/profile/options.sh tests/profile/pages.sh tests/profile/ranges.sh tests/profile/textures.sh tests/profile/schema.sh tests/profile/together.sh tests/profile/variables.sh tests/profile/window.sh
EXTRA_DIST += tests/profile/counts.ptx tests/profile/figures.ptx tests/profile/figures.tsv tests/profile/launches.cu tests/profile/links.cu tests/profile/managed.cu tests/profile/ranges.cu tests/profile/schema.py tests/profile/textures.cu tests/profile/variables.cu tests/profile/window.cu
if !SANITIZED
TESTS += tests/profile/caches.sh tests/profile/figures.sh tests/profile/links.sh tests/profile/managed.sh tests/profile/names.sh tests/profile/profile.sh tests/profile/programs.sh tests/profile/options.sh tests/profile/pages.sh tests/profile/ranges.sh tests/profile/textures.sh tests/profile/schema.sh tests/profile/together.sh tests/profile/variables.sh tests/profile/window.sh
endif

# Launches with machine code beside their PTX, as an H200 counted them; code.cu is what made code.fatbin.
dist_check_SCRIPTS += tests/profile/code.sh
EXTRA_DIST += tests/counters/code.cu tests/counters/code.fatbin tests/counters/code.tsv
if !SANITIZED
TESTS += tests/profile/code.sh
endif
