#!/bin/sh
# make_front.sh FOLDER: prints the program `nvidia-smi`; FOLDER is where ptxloom is, seen from its own folder.
cat <<END
#!/bin/sh
exec "\${0%/*}/$1/ptxloom" smi "\$@"
END
