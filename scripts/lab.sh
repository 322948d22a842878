#!/usr/bin/env bash
# Opens JupyterLab on the quickstart: on loopback, with a token, and further arguments as given.
set -euo pipefail

arguments=(--ServerApp.ip=127.0.0.1 "--ServerApp.port=${PORT:-8888}" --ServerApp.answer_yes=True)
# Without a screen there is nothing to open: JupyterLab prints the URL and serves.
if [[ $(uname) != Darwin && -z ${DISPLAY:-} && -z ${WAYLAND_DISPLAY:-} ]]; then
  arguments+=(--no-browser)
fi
if [[ ${EUID} -eq 0 ]]; then
  arguments+=(--allow-root)
fi

# Ctrl-C reaches JupyterLab too; this shell waits for it to shut its kernels down.
trap 'true' INT
jupyter lab examples/quickstart.ipynb "${arguments[@]}" "$@" &
server=$!
trap 'kill -TERM "${server}" 2>/dev/null || true' TERM
status=0
while kill -0 "${server}" 2>/dev/null; do
  status=0
  wait "${server}" || status=$?
done
# Ended by Ctrl-C (130) or by a polite kill (143) is how it is meant to end.
[[ ${status} -eq 130 || ${status} -eq 143 ]] && status=0
exit "${status}"
