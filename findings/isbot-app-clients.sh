#!/usr/bin/env bash
# isbot 5.2.3 on the agents of events that apps and games send for people, as their platform's HTTP client names itself.
# Guess: it knows browsers from robots; an app's own client is either always a person or always a robot.
# Seen: an app on Android (okhttp), a game made with Unity (the word libcurl) and apps with Ktor are robots, as are the
# mobile SDKs of PostHog and Segment's for Android; the same apps on iOS (CFNetwork, Alamofire), with Flutter, Godot or
# Cronet are people.
# So a filter of robots at the door of an analytics service drops one platform's events and keeps the other's, and a
# product seems to have users of iPhones alone: ask isbot of browsers' events only (agents that begin with Mozilla/).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund isbot@5.2.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { isbot } from 'isbot';
const isRobot = {
  'okhttp/4.12.0': true,
  'Shop/2.3.1 (Android 14; Pixel 8) okhttp/4.12.0': true,
  'ktor-client': true,
  'UnityPlayer/2022.3.10f1 (UnityWebRequest/1.0, libcurl/8.1.1-DEV)': true,
  'posthog-android/3.9.0': true,
  'posthog-ios/3.15.0': true,
  'analytics-kotlin/1.16.0': true,
  'Shop/412 CFNetwork/1568.200.51 Darwin/24.1.0': false,
  'Shop/2.3.1 (com.example.shop; build:412; iOS 18.1.0) Alamofire/5.9.1': false,
  'Dart/3.5 (dart:io)': false,
  'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UQ1A.240205.004)': false,
  'GodotEngine/4.3.stable.official (Android)': false,
  'com.example.shop/2.3 (Linux; U; Android 14; de_DE; Pixel 8; Build/UQ1A; Cronet/131.0.6778.39)': false,
};
const seen = Object.fromEntries(Object.keys(isRobot).map((agent) => [agent, isbot(agent)]));
console.log('isbot 5.2.3, taken for a robot:', seen);
assert.deepStrictEqual(seen, isRobot);
NODE
timeout 30 node run.mjs
