#!/bin/sh
# make_folders.sh BIN INCLUDE LIB: prints ptxloomFolders.cmake. Relative names are seen from its folder.
set -eu
place()
{
	case $2 in
	/*) printf 'set(_ptxloom_%s "%s")\n' "$1" "$2" ;;
	*) printf 'get_filename_component(_ptxloom_%s "${_ptxloom_here}/%s" ABSOLUTE)\n' "$1" "$2" ;;
	esac
}
place bin "$1"
place include "$2"
place lib "$3"
