// The time range of a page, in the address: `range=7d`, or `from` and `to` as days of the project's zone, both
// included.

import { useState } from 'preact/hooks';
import { address, setQuery } from '../router.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { currentZone, formatTime } from './time.tsx';
import { currentWeekStart } from './weekdays.ts';
import { dayOf, parseDay, startOfDay, startOfDayAt, startOfWeekAt } from './zone.ts';

export type Range = { from: Date; to: Date; name: string };

/** `days`: back from the end of today. */
const presets = [
  { id: 'today', name: 'Today', days: 1 },
  { id: '7d', name: 'Last 7 days', days: 7 },
  { id: '30d', name: 'Last 30 days', days: 30 },
  { id: '90d', name: 'Last 90 days', days: 90 },
  { id: '12m', name: 'Last 12 months', days: 365 },
] as const;

/** Those that end with a day of the calendar, or begin with one. */
const calendarRanges = [
  { id: 'yesterday', name: 'Yesterday' },
  { id: 'week', name: 'This week' },
  { id: 'lastweek', name: 'Last week' },
  { id: 'month', name: 'This month' },
  { id: 'lastmonth', name: 'Last month' },
] as const;

const standard = '7d';

/** The range that the address asks for; the last seven days where it asks for none or for nonsense. Ends exclusive. */
export function readRange(query: URLSearchParams, zone: string, now = new Date()): Range {
  const from = parseDay(query.get('from') ?? '', zone);
  const last = parseDay(query.get('to') ?? '', zone);
  if (from && last && from <= last) {
    const to = startOfDayAt(last, zone, 1);
    return {
      from,
      to,
      name: `${formatTime(from, 'day', zone)} to ${formatTime(last, 'day', zone)}`,
    };
  }
  const id = query.get('range') ?? standard;
  const end = startOfDayAt(now, zone, 1);
  if (id === 'yesterday')
    return { from: startOfDayAt(now, zone, -1), to: startOfDayAt(now, zone), name: 'Yesterday' };
  if (id === 'week' || id === 'lastweek') {
    const from = startOfWeekAt(now, zone, currentWeekStart());
    if (id === 'week') return { from, to: end, name: 'This week' };
    return { from: startOfDayAt(from, zone, -7), to: from, name: 'Last week' };
  }
  if (id === 'month' || id === 'lastmonth') {
    const { year, month } = dayOf(now, zone);
    const from = startOfDay(year, month, 1, zone);
    if (id === 'month') return { from, to: end, name: 'This month' };
    return { from: startOfDay(year, month - 1, 1, zone), to: from, name: 'Last month' };
  }
  const preset = presets.find((one) => one.id === id) ?? presets[1];
  return { from: startOfDayAt(now, zone, 1 - preset.days), to: end, name: preset.name };
}

/** The current page's range. */
export function useRange(): Range {
  return readRange(address.value.query, currentZone());
}

/** Whether the address names a range. */
export function hasRange(query: URLSearchParams): boolean {
  return query.has('range') || query.has('from');
}

const loadOwnDays = async () => (await import('./own-days.tsx')).OwnDays;

/** A menu of ranges, and a dialog for days of one's own. `saved`: the name of the range where the address has none. */
export function RangePicker({ saved }: { saved?: string }) {
  const asked = useRange();
  const isSaved = saved !== undefined && !hasRange(address.value.query);
  const range = isSaved ? { ...asked, name: saved } : asked;
  const [isOwn, setOwn] = useState(false);
  const choose = (id: string): void => setQuery({ range: id, from: undefined, to: undefined });
  return (
    <>
      <Menu
        label={`Time range: ${range.name}`}
        align="end"
        button={
          <span class="row tight" data-shortcut="t">
            <Icon name="clock" />
            {range.name}
            <Icon name="down" />
          </span>
        }
      >
        {saved === undefined ? null : (
          <MenuItem
            isChosen={isSaved}
            onChoose={() => setQuery({ range: undefined, from: undefined, to: undefined })}
          >
            As saved: {saved}
          </MenuItem>
        )}
        {presets.map(({ id, name }) => (
          <MenuItem key={id} isChosen={!isSaved && range.name === name} onChoose={() => choose(id)}>
            {name}
          </MenuItem>
        ))}
        {calendarRanges.map(({ id, name }) => (
          <MenuItem key={id} isChosen={!isSaved && range.name === name} onChoose={() => choose(id)}>
            {name}
          </MenuItem>
        ))}
        <MenuItem onChoose={() => setOwn(true)}>Custom range…</MenuItem>
      </Menu>
      {isOwn ? (
        <Dialog title="Custom range" onClose={() => setOwn(false)}>
          <Loaded
            load={loadOwnDays}
            name="the fields"
            with={{ range, onDone: () => setOwn(false) }}
          />
        </Dialog>
      ) : null}
    </>
  );
}
