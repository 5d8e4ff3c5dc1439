#!/usr/bin/env bash
# Makes .venv from the lock, once: a stamp with the hash of both tells a later run that nothing has changed.
#   bootstrap.sh runtime|development|lock
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:?runtime, development or lock}

find_python() {
  local name
  for name in ${KAFKA_CAPACITY_PYTHON:-} python3.12 python3.11 python3.13 python3; do
    if command -v "$name" >/dev/null 2>&1 &&
      "$name" -c 'import sys, venv, ensurepip; raise SystemExit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  echo "error: no Python 3.11, 3.12 or 3.13 with venv found; install one, or name it in KAFKA_CAPACITY_PYTHON" >&2
  exit 1
}

if [ ! -x .venv/bin/python ]; then
  python=$(find_python)
  echo "making .venv with $("$python" --version)"
  "$python" -m venv .venv
fi
if [ ! -x .venv/bin/uv ]; then
  .venv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5' || echo "uv is not available; using pip" >&2
fi
mkdir -p .state

if [ "$kind" = lock ]; then
  lock() { .venv/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
    --override local/lock_overrides.txt --custom-compile-command "make lock" "$@"; }
  lock requirements.in -o requirements.txt
  lock -c requirements.txt requirements-dev.in -o requirements-dev.txt
  lock -c requirements.txt docker/requirements-postgres.in -o docker/requirements-postgres.txt
  exit 0
fi

case $kind in
  runtime) lock_file=requirements.txt ;;
  development) lock_file=requirements-dev.txt ;;
  *) echo "error: $kind is not runtime or development" >&2; exit 2 ;;
esac
stamp=.venv/.$kind
hash=$(cat requirements.txt "$lock_file" local/bootstrap.sh | .venv/bin/python -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())')
if [ "$(cat "$stamp" 2>/dev/null)" != "$hash" ]; then
  echo "installing $lock_file"
  # The lock is whole; what lock_overrides.txt leaves out would be missed by who looks for dependencies.
  if [ -x .venv/bin/uv ]; then
    UV_PROJECT_ENVIRONMENT=.venv .venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps --require-hashes -r "$lock_file"
  else
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock_file"
  fi
  # The project itself, as it stands here: one line of path and the command.
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  pwd > "$site/kafka_capacity_project.pth"
  printf '#!%s/.venv/bin/python\nfrom kafka_capacity.cli import main\nif __name__ == "__main__":\n    main()\n' "$PWD" > .venv/bin/kafka-capacity
  chmod +x .venv/bin/kafka-capacity
  # What development needs contains what running needs.
  [ "$kind" = development ] && cat requirements.txt requirements.txt | .venv/bin/python -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())' > .venv/.runtime
  echo "$hash" > "$stamp"
fi
touch "$stamp"
