# Sourced by the scripts beside it: makes .venv in the checkout with tierspan (editable) and its development tools, and stands in the checkout.
# PYTHON names the interpreter to build it with; any Python from 3.11 on will do.

checkout="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$checkout"
python="$checkout/.venv/bin/python"
stamp="$checkout/.venv/tierspan.stamp"

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python; do
        if command -v "$candidate" >/dev/null && is_new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    echo "tierspan needs Python 3.11 or newer; none was found. Install one, or name it: PYTHON=/path/to/python $0" >&2
    return 1
}

# Made again when the checkout has moved (the scripts inside hold absolute paths), installed again when the declared dependencies have changed.
fingerprint() {
    echo "$checkout"
    "$python" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())' <pyproject.toml
}

has_moved() {
    local made_for=""
    if [[ -f "$stamp" ]]; then
        read -r made_for <"$stamp" || true
        [[ "$made_for" != "$checkout" ]]
    else
        return 1
    fi
}

if ! is_new_enough "$python" || ! "$python" -m pip --version >/dev/null 2>&1 || has_moved; then
    base="$(find_python)"
    echo "Making .venv with $base" >&2
    "$base" -m venv --clear .venv
fi
if [[ ! -x .venv/bin/tierspan || ! -f "$stamp" || "$(<"$stamp")" != "$(fingerprint)" ]]; then
    echo "Installing tierspan and its development tools into .venv" >&2
    "$python" -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
    fingerprint >"$stamp"
fi
