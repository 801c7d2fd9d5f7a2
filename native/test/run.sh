#!/bin/sh
# Runs test programs, in the folder of the Makefile: test/run.sh PROGRAM... They run one after another, because they measure
# time and load the machine themselves, and the first that fails ends the run. Only explorers run beside the others: they
# have one thread, and measure nothing. TSAN_RUN: command before programs of ThreadSanitizer.
set -u
LIMIT_S=600 # a program that takes longer is a failure, too
logs=build/test-logs
rm -rf "$logs"
mkdir -p "$logs"

# Prints a line with the result, after the output of a program that failed.
run() {
  name=$(echo "${1#build/}" | tr / -)
  begin=$(date +%s)
  before=
  case $1 in build/tsan/*) before=${TSAN_RUN-} ;; esac
  if timeout -k 10 "$LIMIT_S" $before "./$1" >"$logs/$name" 2>&1 </dev/null; then
    echo "ok   $1 ($(($(date +%s) - begin)) s)"
    touch "$logs/$name.passed"
  else
    code=$?
    cat "$logs/$name"
    echo "FAIL $1 (exit code $code; 124: took longer than $LIMIT_S s)"
    return 1
  fi
}

# Runs those programs whose names match a pattern ($1: `is`), or do not (`is-not`).
run_those() {
  wanted=$1 pattern='*explorer_test'
  shift
  for program; do
    case $program in $pattern) found=is ;; *) found=is-not ;; esac
    [ "$found" != "$wanted" ] || run "$program" || return
  done
}

failed=0
run_those is "$@" &
run_those is-not "$@" || failed=1
wait $! || failed=$((failed + 1))
echo "$(find "$logs" -name '*.passed' | wc -l) passed, $failed failed"
[ "$failed" = 0 ]
