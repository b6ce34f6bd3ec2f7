# Sums the result lines of automake's test summaries: prints "passed failed skipped".
{ gsub(/\033\[[0-9;]*m/, "") }
/^# (PASS|XFAIL): +[0-9]+$/ { pass += $3 }
/^# (FAIL|XPASS|ERROR): +[0-9]+$/ { fail += $3 }
/^# SKIP: +[0-9]+$/ { skip += $3 }
END { print pass + 0, fail + 0, skip + 0 }
