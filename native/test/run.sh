#!/bin/sh
# Runs test programs, in the folder of the Makefile: test/run.sh PROGRAM... Two at a time, because most of them wait for times
# of the product, and those first that take the longest. After the first that fails no other begins. TSAN_RUN: command
# before programs of ThreadSanitizer.
set -u
LIMIT_S=1200 # a program that takes longer is a failure, too
LONGEST='explorer kills collector_state collector_faults state_deaths hostile_files two_writers'
logs=build/test-logs

# Prints a line with the result, after the output of a program that failed. Ends with 255, at which xargs begins no other.
if [ "$1" = --one ]; then
  name=$(echo "${2#build/}" | tr / -)
  begin=$(date +%s)
  before=
  case $2 in build/tsan/*) before=${TSAN_RUN-} ;; esac
  timeout -k 10 "$LIMIT_S" $before "./$2" >"$logs/$name" 2>&1 </dev/null
  code=$?
  if [ "$code" = 0 ]; then
    echo "ok   $2 ($(($(date +%s) - begin)) s)"
    touch "$logs/$name.passed"
    exit 0
  fi
  cat "$logs/$name"
  echo "FAIL $2 (exit code $code; 124: took longer than $LIMIT_S s)"
  exit 255
fi

rm -rf "$logs"
mkdir -p "$logs"
in_order() {
  for word in $LONGEST; do printf '%s\n' "$@" | grep "$word" || true; done
  printf '%s\n' "$@" | grep -vE "$(echo "$LONGEST" | tr ' ' '|')"
}
failed=0
in_order "$@" | xargs -n 1 -P 2 "$0" --one || failed=1
echo "$(find "$logs" -name '*.passed' | wc -l) passed, $((failed * ($# - $(find "$logs" -name '*.passed' | wc -l)))) failed or not run"
[ "$failed" = 0 ]
