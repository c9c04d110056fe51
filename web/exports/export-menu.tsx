// Takes what a list shows away: at once as a file, with the reader's session, or as files that are kept for a week.

import { useState } from 'preact/hooks';
import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import { download } from '../browser/download.ts';
import { accessToken } from '../client.ts';
import { type Condition, toPropertyFilter } from '../filter/condition.ts';
import { navigate } from '../router.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { runLoaded } from '../ui/run-loaded.ts';
import { toast } from '../ui/toasts.tsx';
import { hasRole, Role } from '../workspace.ts';

const formats = [
  { name: 'CSV, for spreadsheets', format: 'csv', extension: 'csv', columns: 'flat' },
  { name: 'Parquet', format: 'parquet', extension: 'parquet', columns: 'maps' },
  { name: 'JSON lines, gzipped', format: 'ndjson', extension: 'ndjson.gz', columns: 'maps' },
] as const;

export function ExportMenu(props: {
  projectId: string;
  what: 'events' | 'profiles';
  /** Those of `GET /export` that select rows; empty ones select nothing. */
  params: Record<string, string>;
  conditions: readonly Condition[];
  /** Takes the rows that are loaded, in the columns that are shown. */
  onShown?: () => void;
}) {
  const { projectId, what, params, conditions, onShown } = props;
  const [isBusy, setBusy] = useState(false);
  const take = async ({ format, extension, columns }: (typeof formats)[number]): Promise<void> => {
    setBusy(true);
    try {
      const asked = new URLSearchParams({ ...params, what, format, columns });
      if (format === 'ndjson') asked.set('compression', 'gzip');
      const filters = conditions.map((one) => plain(toPropertyFilter(one)));
      if (filters.length > 0) asked.set('filters', JSON.stringify(filters));
      const file = await exported(projectId, asked);
      download(`${what}.${extension}`, file.type, file);
    } catch (cause) {
      toast(cause instanceof Refused ? cause.message : 'The export broke off: no file was kept.');
    } finally {
      setBusy(false);
    }
  };
  const keep = async ({ format, columns }: (typeof formats)[number]): Promise<void> => {
    setBusy(true);
    const load = () => import('./exports-client.ts');
    await runLoaded(load, async ({ keepExport }) => {
      await keepExport(projectId, {
        ...{ what, params, conditions, format },
        isFlat: columns === 'flat',
      });
      navigate(`/p/${projectId}/exports`);
    });
    setBusy(false);
  };
  return (
    <Menu label="Export" align="end" button={isBusy ? 'Exporting…' : 'Export'}>
      {formats.map((form) => (
        <MenuItem key={form.format} onChoose={() => void (isBusy || take(form))}>
          {form.name}
        </MenuItem>
      ))}
      {onShown ? <MenuItem onChoose={onShown}>CSV of these rows and columns</MenuItem> : null}
      {hasRole(Role.MEMBER)
        ? formats.map((form) => (
            <MenuItem key={form.extension} onChoose={() => void (isBusy || keep(form))}>
              {`Keep for 7 days: ${form.name}`}
            </MenuItem>
          ))
        : null}
      <MenuItem onChoose={() => navigate(`/p/${projectId}/exports`)}>Kept exports</MenuItem>
    </Menu>
  );
}

/** The members of its JSON: the code that writes any message is larger than a page's. */
function plain({ property, operator, value, values, source }: PropertyFilter): object {
  return { property, operator, value, values, source };
}

/** What the service says of an export that it did not begin. */
class Refused extends Error {}

/** The whole file: one that breaks off throws. */
async function exported(projectId: string, asked: URLSearchParams): Promise<Blob> {
  const authorization = `Bearer ${await accessToken()}`;
  const headers = { authorization, 'x-project-id': projectId };
  const response = await fetch(`/export?${asked}`, { headers });
  if (!response.ok) throw new Refused(Object(await response.json()).message);
  return response.blob();
}
