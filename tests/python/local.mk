dist_check_SCRIPTS += tests/python/python.sh
EXTRA_DIST += tests/python/test_saxpy.py tests/python/kernels.py
EXTRA_DIST += python/README.md python/pyproject.toml python/setup.py python/build_wheel.sh python/ptxloom/__init__.py python/ptxloom/__main__.py \
	python/ptxloom/_folders.py python/ptxloom/_library.py python/ptxloom/pytest_plugin.py
if !SANITIZED
TESTS += tests/python/python.sh
endif
# A wheel of this build, in the folder dist.
wheel: all
	$(SHELL) $(srcdir)/python/build_wheel.sh $(srcdir) . dist
.PHONY: wheel
