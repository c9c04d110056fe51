#!/usr/bin/env bash
# @redocly/cli 2.77.0, recommended rules, on an OpenAPI 3.1 document with `webhooks`.
# Guess: rules for operations of the described server (its security, names for generated clients) leave out `webhooks`,
# which describe requests that the server sends and others answer.
# Seen: security-defined and operation-operationId are reported for the webhook, too.
# So a sender of webhooks has to state a security and a name for its receivers' operations, or the document is invalid.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > openapi.yaml <<'YAML'
openapi: 3.1.0
info:
  title: A sender
  version: '1'
  license: { name: MIT, identifier: MIT }
servers: [{ url: 'https://service.test' }]
paths: {}
webhooks:
  told:
    post:
      summary: Something happened
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { '200': { description: Taken } }
YAML
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
timeout 180 npm install --silent --no-audit --no-fund @redocly/cli@2.77.0 >/dev/null
timeout 60 node_modules/.bin/redocly lint --format json openapi.yaml > report.json 2>/dev/null || true
timeout 30 node - <<'NODE'
const assert = require('node:assert');
const text = require('node:fs').readFileSync('report.json', 'utf8');
const { problems } = JSON.parse(text.slice(text.indexOf('{')));
const ofWebhook = problems.filter(({ location: [at] }) => at.pointer.startsWith('#/webhooks/'));
const seen = [...new Set(ofWebhook.map(({ ruleId }) => ruleId))].sort();
console.log('@redocly/cli 2.77.0, rules reported below #/webhooks/:', seen);
assert.deepStrictEqual(seen, ['operation-operationId', 'security-defined']);
NODE
