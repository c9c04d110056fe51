// Roles by name.

import { Role } from '../workspace.ts';

const names = new Map([
  [Role.VIEWER, 'Viewer'],
  [Role.MEMBER, 'Member'],
  [Role.ADMIN, 'Admin'],
]);

export const roleChoices = [...names].map(([role, name]) => ({ value: String(role), name }));

export function roleName(role: Role): string {
  return names.get(role) ?? '–';
}
