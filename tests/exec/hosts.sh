# configure refuses what a build would fail on later: hosts whose code the redirection of static runtimes does not know.
. "${srcdir:-.}/tests/tap.sh"
if [ ! -x "$top/configure" ]; then
	skip_rest "no configure"
fi
cd "$scratch" || exit 1
ends 1 "configure refuses aarch64" "$top/configure" --build=x86_64-pc-linux-gnu --host=aarch64-linux-gnu
says err 'error: hosts other than x86-64 are not supported, and this is aarch64' "it says which host it is"
says err 'redirect_code\.c' "and what is missing"
ok "$([ ! -e config.status ]; echo $?)" "nothing is left that could be built"
finish
