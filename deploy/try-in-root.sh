#!/usr/bin/env bash
# Does in a bare root what deploy/Dockerfile does in an image: installs the packed file without a compiler, starts the daemon as a user without rights and asks it.
#   sudo deploy/try-in-root.sh ROOT PACKAGE
# ROOT is a folder with a bare system; one that is not there is made by debootstrap (Debian 12, with libstdc++6 and ca-certificates). Node.js and npm are copied
# into it from this machine. Needs Linux and root.
set -euo pipefail
root=$(realpath -m "$1")
package=$(realpath "$2")

say() { printf '== %s\n' "$*"; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/root "$@"; }

[ -d "$root/bin" ] || debootstrap --variant=minbase --include=ca-certificates,libstdc++6 bookworm "$root"
for tool in cc c++ g++ gcc clang cmake make git python3; do
  if inside sh -c "command -v $tool" >/dev/null; then echo "$root has $tool; take a bare root" >&2; exit 1; fi
done

say "Node.js $(node --version) and npm $(npm --version)"
install -D "$(realpath "$(command -v node)")" "$root/usr/local/bin/node"
npm_folder=$(dirname "$(dirname "$(realpath "$(command -v npm)")")")
mkdir -p "$root/usr/local/lib/node_modules"
[ -d "$root/usr/local/lib/node_modules/npm" ] || cp -r "$npm_folder" "$root/usr/local/lib/node_modules/npm"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
cp "$package" "$root/tmp/quern.tgz"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
[ -c "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
[ -c "$root/dev/urandom" ] || mknod -m 666 "$root/dev/urandom" c 1 9
[ -e "$root/dev/fd" ] || ln -s /proc/self/fd "$root/dev/fd"
daemon=
finish() {
  [ -z "$daemon" ] || kill -9 "$daemon" 2>/dev/null || true
  umount "$root/proc"
}
trap finish EXIT

install_package() { inside npm install --global --offline --ignore-scripts --no-audit --no-fund /tmp/quern.tgz; }
say 'an installation that is killed in its middle'
install_package >/dev/null 2>&1 & installing=$!
sleep "${KILL_AFTER_S:-8}"
pkill -9 -P "$installing" || true
wait "$installing" || true
inside ls /usr/local/lib/node_modules

say 'the installation'
time install_package
inside quern version
du -sm "$root/usr/local/lib/node_modules/quern"

say 'the daemon, as a user without rights'
# Of no name there, as a container's user may be.
user=900
mkdir -p "$root/data" && chown "$user:$user" "$root/data" && chmod 700 "$root/data"
port=${PORT:-24680}
chroot --userspec="$user:$user" "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/data DATA_DIR=/data NODE_ENV=production \
  PORT="$port" RUNTIME_PORT=$((port + 1)) quern start & daemon=$!
healthy="fetch('http://127.0.0.1:$port/health/liveness').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"
for _ in $(seq 60); do inside node -e "$healthy" && break; sleep 0.5; done
question='{"messages":[{"role":"user","content":"Hello!"}],"max_tokens":16}'
inside node -e "fetch('http://127.0.0.1:$port/v1/projects/default/quickstart/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '$question' }).then((answer) => answer.json()).then(({ choices }) => console.log('answer:', choices[0].message.content))"

say 'an addon that is not what was packed'
addon=$root/usr/local/lib/node_modules/quern/build/native/Release/quern_core.node
cp "$addon" "$root/tmp/addon"
kill -TERM "$daemon"
wait "$daemon" && echo 'the daemon ended with 0'
daemon=
printf 'x' >> "$addon"
inside DATA_DIR=/tmp/other quern start --port 0 --runtime-port 0 && { echo 'a changed addon was loaded' >&2; exit 1; } || echo "refused with exit code $?"
cp "$root/tmp/addon" "$addon"
say 'all of it works'
