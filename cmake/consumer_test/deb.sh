#!/bin/sh
# The packages of `make deb` install on a Debian where nothing else is, serve CMake and pkg-config there, and
# leave nothing behind when they are removed.
# Usage: deb.sh SOURCE_DIR WORK_DIR      WORK_DIR is emptied first; 77 unless TARN_LONG_TESTS=1
set -eu
[ $# -eq 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
source=$1 work=$2
here=$source/cmake/consumer_test
[ "${TARN_LONG_TESTS:-}" = 1 ] || exit 77

rm -rf "$work"
mkdir -p "$work/files"
make -C "$source" deb BUILD="$work/build"
cp "$work"/build-deb/*.deb "$work/files"
cp -R "$here" "$work/files/consumer_test"
cat >"$work/in_root.sh" <<'END'
#!/bin/sh
set -eu
cd /tarn
find / -xdev -path /tarn -prune -o -print | sort >before
dpkg -i ./libtarn*.deb ./tarn-tools*.deb
mkdir -p source/cmake
cp -R consumer_test source/cmake
source/cmake/consumer_test/run.sh /tarn/source /usr /tarn/work
man=$(find /usr/share/man -name 'tarn*' | wc -l)
[ "$man" -ge 20 ] || { echo "deb: $man manual pages" >&2; exit 1; }
dpkg --purge $(dpkg-query --show --showformat '${Package} ' 'libtarn*' 'tarn-tools*')
find / -xdev -path /tarn -prune -o -print | sort >after
diff before after | grep '^>.*tarn' && { echo "deb: files are left" >&2; exit 1; }
exit 0
END
chmod +x "$work/in_root.sh"
exec "$here/clean_root.sh" "$source" "$work/debian12" bookworm "g++ make cmake pkg-config" "$work/files" \
  "$work/in_root.sh"
