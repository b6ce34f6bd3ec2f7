"""The command ``ptxloom``, as ``python -m ptxloom`` and as a script of the package."""

import os
import sys

from ._folders import command


def _become(name):
    try:
        path = command()
    except FileNotFoundError as error:
        sys.exit("ptxloom: error: %s" % error)
    os.execv(path, [name] + sys.argv[1:])


def main():
    """Become the command; its arguments are this process's."""
    _become("ptxloom")


def sanitizer():
    """Become ptxloom-sanitizer."""
    _become("ptxloom-sanitizer")


if __name__ == "__main__":
    main()
