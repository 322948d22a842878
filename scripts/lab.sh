#!/usr/bin/env bash
# Opens JupyterLab on the quickstart: on loopback, with a token, and further arguments as given.
set -euo pipefail

arguments=(
  --ServerApp.ip=127.0.0.1
  "--ServerApp.port=${PORT:-8888}"
  # Not as an argument of its own: the URL that is printed would not lead to it.
  --LabApp.default_url=/lab/tree/examples/quickstart.ipynb
)
# Without a screen there is nothing to open: JupyterLab prints the URL and serves.
if [[ $(uname) != Darwin && -z ${DISPLAY:-} && -z ${WAYLAND_DISPLAY:-} ]]; then
  arguments+=(--no-browser)
fi
if [[ ${EUID} -eq 0 ]]; then
  arguments+=(--allow-root)
fi

# In the background of a script, JupyterLab does not hear Ctrl-C itself: this shell passes it on as
# the signal that asks no question, and waits until the kernels are shut down.
jupyter lab "${arguments[@]}" "$@" &
server=$!
trap 'kill -TERM "${server}" 2>/dev/null || true' INT TERM HUP
status=0
while kill -0 "${server}" 2>/dev/null; do
  status=0
  wait "${server}" || status=$?
done
# Ended by the signal is how it is meant to end.
((status > 128)) && status=0
exit "${status}"
