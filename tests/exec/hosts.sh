# configure refuses what a build would fail on later: hosts whose code the redirection of static runtimes does not know.
. "${srcdir:-.}/tests/style/tap.sh"
top=$(cd "$srcdir" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
if [ ! -x "$top/configure" ]; then
	skip "a host that is not supported" "no configure"
	finish
fi
cd "$scratch" || exit 1
"$top/configure" --build=x86_64-pc-linux-gnu --host=aarch64-linux-gnu >out 2>err
ok "$([ $? -ne 0 ]; echo $?)" "configure refuses aarch64"
grep -q 'error: hosts other than x86-64 are not supported, and this is aarch64' err
ok $? "it says which host it is"
grep -q 'redirect_code\.c' err
ok $? "and what is missing"
ok "$([ ! -e config.status ]; echo $?)" "nothing is left that could be built"
finish
