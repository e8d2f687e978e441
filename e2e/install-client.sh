#!/bin/sh
# Installs the client that the tests drive, and prints where its program lies.
#
#	CLAUDE_BIN=$(e2e/install-client.sh) go test -tags e2e ./e2e/
set -eu
version=${CLAUDE_VERSION:-2.1.328}
dir=${CLAUDE_DIR:-$(cd "$(dirname "$0")" && pwd)/.client}
mkdir -p "$dir"
[ -f "$dir/package.json" ] || echo '{"private":true}' >"$dir/package.json"
npm install --prefix "$dir" --no-audit --no-fund --no-save "@anthropic-ai/claude-code@$version" >&2
for bin in "$dir"/node_modules/@anthropic-ai/claude-code-*/claude; do
  if [ -x "$bin" ]; then
    echo "$bin"
    exit 0
  fi
done
echo "install-client.sh: the package brought no program for this system" >&2
exit 1
