#!/bin/sh
# In a root with glibc 2.31: what `make packages` made, installed in PREFIX, runs: on_old_libc.sh PREFIX
set -eu
prefix=$1
fail() { echo "on an old libc: $*" >&2; exit 1; }
threads='
import threading
def work():
  for i in range(200): blocks = [bytes(100 + j) for j in range(1000)]
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
'
libraries=$(dirname "$(ls "$prefix"/lib*/libtarn.so)")
for library in libtarn libtarn-hardened libtarn_core; do
  export LD_PRELOAD="$libraries/$library.so"
  grep -q "$library" /proc/self/maps && ls -l / >/dev/null && python3 -c "$threads" || fail "$library"
  unset LD_PRELOAD
done

cd /tmp
"$prefix/bin/tarn" run -- python3 -c "$threads" || fail "tarn run"
"$prefix/bin/tarn" run --hardened -- python3 -c "$threads" || fail "tarn run --hardened"
"$prefix/bin/tarn" record -o calls.trace -- ls / >/dev/null || fail "tarn record"
"$prefix/bin/tarn" replay calls.trace --rounds 1 --with none --verify --quiet >/dev/null || fail "tarn replay"
LD_PRELOAD=$libraries/libtarn.so python3 -c "
import sys
while True: exec(sys.argv[1])" "$threads" &
program=$!
trap 'kill $program' EXIT
for try in 1 2 3 4 5; do
  if "$prefix/bin/tarn" top $program --json >top; then break; fi
  sleep 1
done
grep -q libtarn.so top || fail "tarn top"
for look in map heap leaks doctor; do
  "$prefix/bin/tarn" $look $program >look || fail "tarn $look: $(cat look)"
done
"$prefix/bin/tarn" profile $program --for 2 -o profile.json >look || fail "tarn profile: $(cat look)"
echo "$("$prefix/bin/tarn" --version) in $prefix runs on $(getconf GNU_LIBC_VERSION)"
