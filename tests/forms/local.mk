# Which PTX the linter must accept and refuse; folders are distributed whole.
EXTRA_DIST += tests/errors tests/forms/legal tests/forms/illegal tests/forms/README.md \
	tests/forms/gen_forms.py tests/forms/mutate.py tests/forms/make_illegal.py
dist_check_SCRIPTS += tests/forms/agree.sh
TESTS += tests/forms/agree.sh
