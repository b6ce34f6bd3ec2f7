"""Where the command and the library are: in this package, or installed."""

import os
import shutil

_HERE = os.path.dirname(os.path.abspath(__file__))


def command():
    """Path of the command ``ptxloom``. Raises FileNotFoundError."""
    inside = os.path.join(_HERE, "_install", "bin", "ptxloom")
    if os.path.exists(inside):
        return inside
    found = shutil.which("ptxloom")
    if not found:
        raise FileNotFoundError("the command 'ptxloom' is not in PATH")
    return found


def library():
    """Path of libptxloom.so, of the same installation as the command. Raises FileNotFoundError."""
    folder = os.path.dirname(os.path.realpath(command()))
    for place in ("../lib/libptxloom.so", ".libs/libptxloom.so", "../lib64/libptxloom.so",
                  "../lib/x86_64-linux-gnu/libptxloom.so.0"):
        path = os.path.normpath(os.path.join(folder, place))
        if os.path.exists(path):
            return path
    raise FileNotFoundError("libptxloom.so is not where %s is installed" % command())
