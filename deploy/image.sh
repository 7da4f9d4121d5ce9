#!/bin/sh
# Makes what the image holds: the wheel in a virtual environment of its own, without what it
# does not need. Arguments: a Python with the build tools, the environment's directory (it holds
# the locked requirements already). Run where pyproject.toml stands.
set -eu
build_python=$1
target=$2

wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
"$build_python" -m build --wheel --no-isolation --outdir "$wheels" .
"$target/bin/python" -m pip install --no-deps --no-index "$wheels"/*.whl

# Of Kubernetes' definitions only the strict ones in one file a version are read: 100 MB less.
site=$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
definitions="$site/kubernetes_validate/kubernetes-json-schema"
find "$definitions" -mindepth 1 -maxdepth 1 -type d ! -name '*-local-strict' -exec rm -rf {} +
find "$definitions" -type f ! -name _definitions.json -delete
