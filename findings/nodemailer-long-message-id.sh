#!/usr/bin/env bash
# Where nodemailer 10.6.0 writes a Message-ID of 75 characters that its caller gives.
# Guess: behind the header's name, in one line: RFC 5322 recommends 78 characters and allows 998, and an id has no space.
# Seen: the header's line is empty, and the id stands alone in the next one. Whoever looks for the id by
# `^Message-ID: (.+)$`, in a log or a test, finds nothing; parsers of mail unfold it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund nodemailer@10.6.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createTransport } from 'nodemailer';
const messageId = `<${'a'.repeat(55)}@mail.example.com>`;
const mail = { from: 'a@example.com', to: 'b@example.com', subject: 's', text: 't', messageId };
const { message } = await createTransport({ streamTransport: true, buffer: true }).sendMail(mail);
const lines = message.toString().split('\r\n');
const at = lines.findIndex((line) => line.startsWith('Message-ID:'));
console.log('nodemailer 10.6.0:', lines.slice(at, at + 2));
assert.deepStrictEqual(lines.slice(at, at + 2), ['Message-ID:', ` ${messageId}`]);
NODE
timeout 60 node run.mjs
