// The settings of a project that an Update may change: the rules of each field, and the form in which it is stored.

import type { ProjectRecord } from '../../platform/access/projects.ts';
import { compatFamilies, isCompatFamily } from '../../platform/compat/compat-families.ts';
import {
  maxAllowedOrigins,
  maxOriginCharacters,
  originPattern,
} from '../../platform/senders/allowed-origins.ts';
import type { UpdateRequest } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { displayNameField, invalidArgument, timezoneField } from '../request-fields.ts';

type ProjectSettings = Pick<
  ProjectRecord,
  'displayName' | 'timezone' | 'compat' | 'allowedOrigins'
>;

/** Only the settings that the request names. Throws invalid_argument. */
export function changedSettings(request: UpdateRequest): Partial<ProjectSettings> {
  const { displayName, timezone, compat, allowedOrigins } = request;
  return {
    ...(displayName !== undefined && { displayName: displayNameField('displayName', displayName) }),
    ...(timezone !== undefined && { timezone: timezoneField('timezone', timezone) }),
    ...(compat !== undefined && { compat: compatField('compat.families', compat.families) }),
    ...(allowedOrigins !== undefined && {
      allowedOrigins: originsField('allowedOrigins.origins', allowedOrigins.origins),
    }),
  };
}

function compatField(field: string, names: readonly string[]): readonly string[] {
  if (names.every(isCompatFamily)) return compatFamilies.filter((family) => names.includes(family));
  throw invalidArgument(field, `must be names of ${compatFamilies.join(', ')}`);
}

function originsField(field: string, texts: readonly string[]): readonly string[] {
  if (texts.length > maxAllowedOrigins) {
    throw invalidArgument(field, `must have at most ${maxAllowedOrigins}`);
  }
  const patterns = texts.map((text, index) => {
    const pattern = text.length > maxOriginCharacters ? undefined : originPattern(text);
    if (pattern !== undefined) return pattern;
    throw invalidArgument(
      `${field}[${index}]`,
      `must be an origin such as https://example.com, example.com:8080 or *.example.com, of at most ${maxOriginCharacters} characters`,
    );
  });
  return [...new Set(patterns)];
}
