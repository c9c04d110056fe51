// A PostHog batch export as JSON lines, of events that the bench of imports reads.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** The name and the kind of each event. */
export const imported = 'imported';
const days = 360;

/** Events as posthog-js sends them, of a year, in the order of time. */
export async function writeExport(directory: string, events: number): Promise<string> {
  const path = join(directory, `${randomUUID()}.jsonl`);
  const file = createWriteStream(path);
  const stepMs = (days * 86_400_000) / events;
  const startMs = Date.UTC(2025, 0, 1);
  for (let from = 0; from < events; from += 1_000) {
    const count = Math.min(1_000, events - from);
    const lines = Array.from({ length: count }, (_, n) =>
      exportLine(startMs + stepMs * (from + n)),
    );
    if (!file.write(lines.join(''))) await once(file, 'drain');
  }
  file.end();
  await finished(file);
  return path;
}

function exportLine(timeMs: number): string {
  const moment = new Date(timeMs).toISOString();
  // Events of twenty visits at once lie between each other, each of another machine.
  const visit = Math.floor(timeMs / 3_600_000) * 20 + (((timeMs / 1_000) & 0xff) % 20);
  const person = `person-${visit % 5_000}`;
  const path = `/products/page-${(timeMs / 7_000) & 0xff}`;
  const properties = {
    ...{ $os: oneOf(systems, visit), $browser: oneOf(browsers, visit), $device_type: 'Desktop' },
    ...{ $timezone: 'Europe/Berlin', $current_url: `https://shop.example${path}?utm_source=news` },
    ...{ $host: 'shop.example', $pathname: path, $browser_version: 120 + (visit % 30) },
    ...{ $browser_language: oneOf(languages, visit), $lib: 'web', utm_source: 'news' },
    ...{ $screen_height: oneOf(heights, visit), $screen_width: 1280, $device_id: person },
    ...{ $session_id: sessionOf(visit), title: 'Shop', plan: 'pro', seats: 7, price: 1.5 },
  };
  const row = {
    ...{ uuid: randomUUID(), timestamp: moment, _inserted_at: moment, created_at: moment },
    ...{ event: imported, properties, distinct_id: person, elements_chain: '' },
    ...{ person_properties: { plan: 'pro' }, person_id: '01956128-0000-0000-0000-000000000001' },
  };
  return `${JSON.stringify(row)}\n`;
}

const systems = ['Windows', 'Mac OS X', 'Linux', 'Android', 'iOS'] as const;
const browsers = ['Chrome', 'Safari', 'Firefox', 'Microsoft Edge'] as const;
const languages = ['en-US', 'de-DE', 'pl-PL', 'ja', 'fr', 'en-GB'] as const;
const heights = [720, 768, 900, 1_080, 1_440, 844, 926] as const;

function oneOf<Item>(items: readonly Item[], n: number): Item | undefined {
  return items[n % items.length];
}

function sessionOf(visit: number): string {
  return `0195612a-7b00-7c11-8d22-${visit.toString(16).padStart(12, '0').slice(-12)}`;
}
