#!/bin/sh
# tether.sh COMMAND...: runs COMMAND, and ends it with everything it started when standard input closes.
# The caller holds the other end of that pipe and starts this detached (a process group of its own), so nothing
# outlives the caller, even one that was killed and could clean up nothing.
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
(
  cat <&3 >/dev/null
  kill -TERM "$child"
  sleep 5
  kill -KILL 0
) &
wait "$child"
status=$?
trap '' TERM
kill -TERM 0
exit "$status"
