#!/usr/bin/env bash
# usage: packaging/deb.sh [--binary FILE] [--output DIRECTORY]
# Makes a package for Debian and Ubuntu: target/packages/pgdyno_VERSION_ARCH.deb. Without --binary it builds one with --profile dist.
# DEB_COMPRESSION is dpkg-deb's -Z: xz, zstd, gzip or none.
set -euo pipefail
# shellcheck source=packaging/stage.sh
. "$(dirname "$0")/stage.sh"

case $target in
x86_64-*-linux-gnu) arch=amd64 ;;
aarch64-*-linux-gnu) arch=arm64 ;;
*) echo "$0: $target is no target of Debian: give a binary for x86_64 or aarch64 Linux with glibc" >&2 && exit 1 ;;
esac
tree=$work/pgdyno
stage "$tree/usr"
doc=$tree/usr/share/doc/pgdyno
rm "$doc"/LICENSE-*
gzip -9n <"$root/CHANGELOG.md" >"$doc/changelog.gz"
chmod 644 "$doc/changelog.gz"
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: pgdyno

Files: *
Copyright: the authors of pgdyno
License: Apache-2.0 or Expat

License: Apache-2.0
 On Debian systems /usr/share/common-licenses/Apache-2.0 has the text.

License: Expat
$(sed -e 's/^$/./' -e 's/^/ /' "$root/LICENSE-MIT")
END
# The newest symbol of the C library that it uses is the oldest version that it runs with.
libc=$(grep -aoE 'GLIBC_2\.[0-9]+' "$tree/usr/bin/pgdyno" | sort -uV | tail -n 1)
mkdir "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<END
Package: pgdyno
Version: $version
Architecture: $arch
Maintainer: the authors of pgdyno <noreply@example.org>
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f 1)
Depends: libc6 (>= ${libc#GLIBC_}), libgcc-s1
Recommends: ca-certificates
Suggests: postgresql
Section: database
Priority: optional
Description: benchmark for PostgreSQL
 Prepares a database, loads it, drives it, checks it and reports: TPROC-C,
 TPROC-H, YCSB, sysbench's and pgbench's workloads and your own scripts, on
 your server or a private one. Says whether to trust the figures, and what
 limited the server.
END
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
chmod -R u=rwX,go=rX "$tree"
package=$out/pgdyno_${version}_$arch.deb
dpkg-deb --root-owner-group "-Z${DEB_COMPRESSION:-xz}" --build "$tree" "$package" >/dev/null
echo "$package"
