#!/usr/bin/env bash
# What nodemailer 10.6.1 makes of `list: { unsubscribe: [url, { url: mail }] }`, the two ways of RFC 8058 and RFC 2369.
# Guess: one header List-Unsubscribe with both in angle brackets, separated by a comma, the addresses as given or encoded.
# Seen: two headers, of which RFC 2369 allows one (a receiver may take neither, or the first); only an array within the
# array makes one. A space in the subject of a mailto address is dropped, not encoded: "leave weekly" arrives as
# "leaveweekly". And 'unsubscribe-post' as part of `list` becomes <http://List-Unsubscribe=One-Click>, which is no consent
# to one click.
# So nest the array, encode addresses before, and give List-Unsubscribe-Post under `headers`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund nodemailer@10.6.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createTransport } from 'nodemailer';
const mail = { from: 'shop@example.com', to: 'ada@example.com', subject: 'Weekly', text: 'Numbers' };
const both = ['https://shop.example/leave', { url: 'leave@shop.example?subject=leave weekly' }];
const transport = createTransport({ streamTransport: true, buffer: true });
const headers = async (list) => {
  const { message } = await transport.sendMail({ ...mail, list });
  return message.toString().replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n').filter((line) => line.startsWith('List-'));
};
const seen = {
  array: await headers({ unsubscribe: both }),
  nested: await headers({ unsubscribe: [both] }),
  post: await headers({ 'unsubscribe-post': 'List-Unsubscribe=One-Click' }),
};
console.log('nodemailer 10.6.1:', seen);
assert.deepStrictEqual(seen, {
  array: [
    'List-Unsubscribe: <https://shop.example/leave>',
    'List-Unsubscribe: <mailto:leave@shop.example?subject=leaveweekly>',
  ],
  nested: ['List-Unsubscribe: <https://shop.example/leave>, <mailto:leave@shop.example?subject=leaveweekly>'],
  post: ['List-Unsubscribe-Post: <http://List-Unsubscribe=One-Click>'],
});
NODE
timeout 60 node run.mjs
