#!/usr/bin/env bash
# convlab pins releases of torch and transformers that current Pythons lack: install it alone.
set -euo pipefail
python -m pip install --quiet --no-deps convlab==3.0.1
