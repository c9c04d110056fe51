// The packages of other vendors in the versions that docs/switch.md names, installed into a temporary folder by npm's
// own configuration.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const nodePackages = [
  'posthog-node@5.70.0',
  '@segment/analytics-node@3.1.0',
  'analytics-node@6.2.0',
  '@rudderstack/rudder-sdk-node@3.0.13',
  'mixpanel@0.24.0',
  '@amplitude/analytics-node@1.5.73',
  '@umami/node@0.4.0',
  '@openpanel/sdk@1.3.1',
  '@snowplow/node-tracker@4.8.0',
  'matomo-tracker@2.2.4',
  '@rybbit/node@1.0.0',
  'electron-google-analytics4@1.2.1',
];

export const browserPackages = [
  'posthog-js@1.449.2',
  '@segment/analytics-next@1.84.3',
  '@rudderstack/analytics-js@3.34.1',
  'rudder-sdk-js@2.52.21',
  'mixpanel-browser@2.83.0',
  '@amplitude/analytics-browser@2.48.1',
  'amplitude-js@8.21.10',
  '@plausible-analytics/tracker@0.4.6',
  'plausible-tracker@0.3.9',
  '@openpanel/web@1.4.1',
  '@jitsu/js@1.11.0',
  '@snowplow/browser-tracker@4.10.1',
  '@rybbit/js@0.6.2',
  '@minimal-analytics/ga4@1.8.7',
  'matomo-tracker-react-native@0.3.3',
];

/** Of MCP, as docs/agents.md has them. */
export const agentPackages = [
  '@modelcontextprotocol/sdk@1.32.2',
  '@modelcontextprotocol/client@2.4.0',
  '@ai-sdk/mcp@2.0.99',
];

/** S3-compatible storage. Of its name alone, s3rver 3.7.1 takes any signature of version 4. */
export const storagePackages = ['@20minutes/s3rver@5.0.0'];

const installMs = 280_000;

/** Returns the folder, which the caller removes. Scripts of packages do not run. */
export function installPackages(packages: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-sdks-'));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', ['install', ...quiet, ...packages], {
    ...{ cwd: folder, encoding: 'utf8', timeout: installMs },
  });
  if (status !== 0) throw new Error(`npm install: ${status} ${stderr}`);
  return folder;
}
