#!/usr/bin/env bash
# usage: packaging/archive.sh [--binary FILE] [--output DIRECTORY]
# Makes an archive of the binary, its manual pages and completions: target/packages/pgdyno-TARGET.tar.gz, with everything in one
# directory. Without --binary it builds one with --profile dist.
set -euo pipefail
# shellcheck source=packaging/stage.sh
. "$(dirname "$0")/stage.sh"

name=pgdyno-$version-$target
stage "$work/$name"
find "$work/$name" -exec touch -h -t "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M.%S 2>/dev/null ||
    date -u -r "$SOURCE_DATE_EPOCH" +%Y%m%d%H%M.%S)" {} +
archive=$out/pgdyno-$target.tar.gz
(cd "$work" && find "$name" | LC_ALL=C sort | tar -cf - --no-recursion -T - | gzip "-${GZIP_LEVEL:-9}n") >"$archive"
echo "$archive"
