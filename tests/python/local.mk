dist_check_SCRIPTS += tests/python/python.sh tests/python/torch.sh
EXTRA_DIST += tests/python/test_saxpy.py tests/python/kernels.py tests/python/torch_operators.py
EXTRA_DIST += python/README.md python/pyproject.toml python/setup.py python/build_wheel.sh python/ptxloom/__init__.py python/ptxloom/__main__.py \
	python/ptxloom/_folders.py python/ptxloom/_library.py python/ptxloom/pytest_plugin.py
if !SANITIZED
TESTS += tests/python/python.sh tests/python/torch.sh
endif
# A wheel of this build, in the folder dist.
wheel: all
	$(SHELL) $(srcdir)/python/build_wheel.sh $(srcdir) . dist
.PHONY: wheel

# What programs find by themselves under `ptxloom run`.
ptxloomtorchdir = $(pkgdatadir)/python/ptxloom_torch
dist_ptxloomtorch_DATA = python/torch/ptxloom_torch/__init__.py python/torch/ptxloom_torch/attention.py \
	python/torch/ptxloom_torch/capture.py \
	python/torch/ptxloom_torch/generators.py python/torch/ptxloom_torch/memory.py \
	python/torch/ptxloom_torch/operators.py python/torch/ptxloom_torch/special.py
ptxloomtorchinfodir = $(pkgdatadir)/python/ptxloom_torch-0.1.0.dist-info
dist_ptxloomtorchinfo_DATA = python/torch/ptxloom_torch-0.1.0.dist-info/METADATA \
	python/torch/ptxloom_torch-0.1.0.dist-info/entry_points.txt
