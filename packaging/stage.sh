# Sourced by deb.sh and archive.sh: options, the binary, and the files that both install.
# Sets root, binary, version, target, out; `stage PREFIX` fills PREFIX with bin, share/man and completions.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
binary='' out=$root/target/packages
while [ $# -gt 0 ]; do
    case $1 in
    --binary) binary=$2 && shift 2 ;;
    --output) out=$2 && shift 2 ;;
    *) echo "usage: $0 [--binary FILE] [--output DIRECTORY]" >&2 && exit 1 ;;
    esac
done
if [ -z "$binary" ]; then
    cargo build --profile dist --features dist --locked -p pgdyno --manifest-path "$root/Cargo.toml"
    binary=${CARGO_TARGET_DIR:-$root/target}/dist/pgdyno
fi
about=$("$binary" --version --verbose)
version=$(sed -n 's/^pgdyno \([^ ]*\).*/\1/p' <<<"$about")
target=$(sed -n 's/^target: *//p' <<<"$about")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The time of all files: the same input makes the same package.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
mkdir -p "$out"

stage() {
    local prefix=$1
    mkdir -p "$prefix/bin"
    install -m 755 "$binary" "$prefix/bin/pgdyno"
    # Of a binary that was given: debugging information is nine tenths of a debug one.
    case $target in
    *-apple-*) strip -x "$prefix/bin/pgdyno" ;;
    *) if command -v strip >/dev/null; then strip --strip-unneeded "$prefix/bin/pgdyno"; fi ;;
    esac
    install -d "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
        "$prefix/share/zsh/vendor-completions" "$prefix/share/fish/vendor_completions.d"
    "$binary" man "$prefix/share/man/man1" >/dev/null
    gzip -9n "$prefix"/share/man/man1/*.1
    "$binary" completions bash >"$prefix/share/bash-completion/completions/pgdyno"
    "$binary" completions zsh >"$prefix/share/zsh/vendor-completions/_pgdyno"
    "$binary" completions fish >"$prefix/share/fish/vendor_completions.d/pgdyno.fish"
    install -d "$prefix/share/doc/pgdyno"
    install -m 644 "$root/README.md" "$root/LICENSE-APACHE" "$root/LICENSE-MIT" "$prefix/share/doc/pgdyno"
}
