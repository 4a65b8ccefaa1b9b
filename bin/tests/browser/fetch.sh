#!/usr/bin/env bash
# Fetches a headless Chromium and what drives it, npm packages, into node_modules/, which is never
# committed. A second run finds them there and does nothing. Linux on x86-64 only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [ -d node_modules/puppeteer-core ] && [ -d node_modules/@sparticuz/chromium ]; then
    echo "node_modules/ holds a browser already"
    exit 0
fi
npm install --silent --no-audit --no-fund --no-package-lock --prefix . \
    @sparticuz/chromium@147 puppeteer-core@24
echo "a browser is in $PWD/node_modules"
