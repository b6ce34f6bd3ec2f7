"""Wheels with the programs inside are for one platform, which build_wheel.sh names."""

import os

from setuptools import setup
from wheel.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    """py3-none-PLATFORM: there is nothing of Python's own interface in it."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = "WHEEL_PLATFORM" not in os.environ

    def get_tag(self):
        platform = os.environ.get("WHEEL_PLATFORM")
        return ("py3", "none", platform) if platform else super().get_tag()


setup(cmdclass={"bdist_wheel": Wheel})
