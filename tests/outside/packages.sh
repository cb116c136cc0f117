#!/usr/bin/env bash
# Installs the programs that the tests run: from Debian's packages where this user may install
# packages, else it names those that are missing.
set -euo pipefail

# Debian gives ldconfig to root alone, though anybody may run it.
PATH=$PATH:/usr/sbin:/sbin

missing=()
need() { # the package, then a command that succeeds where the program is there
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
has_postgresql() { compgen -G '/usr/lib/postgresql/*/bin/initdb' || command -v initdb; }
has_cairo() { ldconfig -p | grep 'libcairo\.so\.2' || brew list cairo; }

need chromium command -v chromium
need npm command -v npm
need util-linux command -v unshare
need iproute2 command -v ip
need postgresql has_postgresql
need libcairo2 has_cairo
[ "${#missing[@]}" -eq 0 ] && exit

sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo -n)
if command -v apt-get >/dev/null && "${sudo[@]}" true 2>/dev/null; then
  "${sudo[@]}" apt-get update -q
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
else
  echo "The tests: these Debian packages are missing: ${missing[*]}." \
    "Install them, then run make test again: sudo apt-get install ${missing[*]}" >&2
  exit 1
fi
