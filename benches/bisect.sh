#!/bin/bash
# Finds a slowdown among five commits by `git bisect run` with `pgdyno ab`, as docs/guides/postgres-patch.md describes. The third of five
# commits makes binding a statement slower; the others change nothing that takes time.
#
# Usage: benches/bisect.sh PGDYNO SOURCE.tar.bz2. SOURCE is PostgreSQL's: `apt-get source --download-only postgresql-15` has it. About
# twenty minutes on two CPUs.
set -euo pipefail

pgdyno=$(realpath "$1")
source=$(realpath "$2")
here=$(mktemp -d /var/tmp/bisect-XXX)
chmod 755 "$here"
trap 'rm -rf "$here"' EXIT
cd "$here"

mkdir tree
tar -xjf "$source" -C tree --strip-components 1
cd tree
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@example.org GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@example.org
git init -q
git config gc.auto 0
git add -A
git commit -q -m 'as released'
git tag good

# A change, and the commit of it.
commit() {
    git commit -q -a -m "$1"
    echo "commit $(git rev-parse --short HEAD): $1"
}
sed -i 's/"too many notifications in the NOTIFY queue"/"there are too many notifications in the NOTIFY queue"/' src/backend/commands/async.c
echo '/* one more comment */' >>src/backend/commands/async.c
commit 'a message of NOTIFY'
echo '/* one more comment */' >>src/backend/commands/vacuum.c
commit 'a comment on VACUUM'
perl -0pi -e 's/(\nexec_bind_message\(StringInfo input_message\)\n\{)/$1\n\tfor (volatile int i = 0; i < 20000; i++)\n\t\t;/' src/backend/tcop/postgres.c
commit 'binding is slower'
echo '/* one more comment */' >>src/backend/commands/analyze.c
commit 'a comment on ANALYZE'
echo '/* one more comment */' >>src/backend/commands/copy.c
commit 'a comment on COPY'
git tag bad

# Builds what is checked out.
build() {
    make -s -j"$(nproc)" >"$here/make.log" 2>&1 && make -s install >>"$here/make.log" 2>&1
}
git checkout -q good
./configure -q --prefix="$here/good" --without-readline --without-icu --without-zlib CFLAGS=-O2 >/dev/null
build
make -s distclean >/dev/null
./configure -q --prefix="$here/new" --without-readline --without-icu --without-zlib CFLAGS=-O2 >/dev/null

cat >"$here/step.sh" <<STEP
#!/bin/bash
{ make -s -j$(nproc) && make -s install; } >$here/make.log 2>&1 || exit 125
cd $here
$pgdyno ab select-only -s 2 -c 2 --a embedded:$here/good/bin --b embedded:$here/new/bin --margin 10% --budget 5min --yes
case \$? in
    0) exit 0 ;;
    20) exit 1 ;;
    21) exit 125 ;;
    *) exit 255 ;;
esac
STEP
chmod +x "$here/step.sh"
git bisect start bad good
git bisect run "$here/step.sh"
found=$(git log -1 --format=%s refs/bisect/bad)
echo "found: $found"
[ "$found" = 'binding is slower' ]
