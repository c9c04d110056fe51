// The families of SDKs whose requests Millrace takes where a project's setting names them. Ingest has a decoder for
// each, control checks the setting.

export const compatFamilies = [
  'posthog',
  'segment',
  'rudderstack',
  'mixpanel',
  'amplitude',
  'plausible',
  'umami',
  'openpanel',
  'jitsu',
  'snowplow',
  'matomo',
  'ga4',
  'rybbit',
] as const;

export type CompatFamily = (typeof compatFamilies)[number];

export function isCompatFamily(name: string): name is CompatFamily {
  return compatFamilies.some((family) => family === name);
}
