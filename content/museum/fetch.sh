#!/usr/bin/env bash
# Fetches the museum's models, 82 GLB files of the npm package @webxr-input-profiles/assets, into
# models/, which is never committed. A second run finds them there and does nothing.
#
#   content/museum/fetch.sh && node content/museum/generate.mjs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

package=@webxr-input-profiles/assets@1.0.20
wanted=82

if [ -d models ] && [ "$(find models -name '*.glb' | wc -l)" -eq "$wanted" ]; then
    echo "models/ holds $wanted models already"
    exit 0
fi

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
npm pack --silent --pack-destination "$temporary" "$package" >/dev/null
tar -xzf "$temporary"/*.tgz -C "$temporary"

# Each model is named after its folder: oculus-go/none.glb becomes oculus-go-none.glb.
mkdir "$temporary/models"
find "$temporary/package/dist/profiles" -name '*.glb' | LC_ALL=C sort | while read -r file; do
    cp "$file" "$temporary/models/$(basename "$(dirname "$file")")-$(basename "$file")"
done
cp "$temporary/package/LICENSE.md" "$temporary/models/LICENSE.txt"

found=$(find "$temporary/models" -name '*.glb' | wc -l)
if [ "$found" -ne "$wanted" ]; then
    echo "the package holds $found models, expected $wanted" >&2
    exit 1
fi
rm -rf models
mv "$temporary/models" models
echo "models/ holds $found models"
