// A stream's cells at a broker of several servers. A stream without a leader takes nothing.

import { figure } from '../../platform/words/figures.ts';
import type { Follower, Stream } from '../../proto/gen/dashboard/operator/v1/operator_pb.js';

type Tone = 'good' | 'warn' | 'bad';

export interface StreamRow {
  name: string;
  /** undefined where there is none. */
  leader: string | undefined;
  followers: { name: string; text: string; tone: Tone }[];
}

export interface StreamRows {
  /** What needs the operator comes first: streams without a leader, then those with a follower that is offline. */
  rows: StreamRow[];
  /** Empty where all is well. */
  faults: string[];
}

export function streamRows(streams: readonly Stream[]): StreamRows {
  const withoutLeader = streams.filter(({ leader }) => leader === '');
  // A stream without a leader has no followers.
  const withOffline = streams.filter(({ followers }) => followers.some(({ offline }) => offline));
  const troubled = new Set([...withoutLeader, ...withOffline]);
  const others = streams.filter((stream) => !troubled.has(stream));
  return {
    rows: [...troubled, ...others].map(rowOf),
    faults: faultsOf(withoutLeader.length, withOffline.length),
  };
}

function rowOf({ name, leader, followers }: Stream): StreamRow {
  return {
    name,
    leader: leader === '' ? undefined : leader,
    followers: followers.map((follower) => ({ name: follower.name, ...stateOf(follower) })),
  };
}

function stateOf({ offline, behind = 0n }: Follower): { text: string; tone: Tone } {
  if (offline) return { text: 'offline', tone: 'bad' };
  if (behind === 0n) return { text: 'current', tone: 'good' };
  return { text: `${figure(behind)} behind`, tone: 'warn' };
}

function faultsOf(withoutLeader: number, withOffline: number): string[] {
  return [
    ...(withoutLeader > 0 ? [`${figure(withoutLeader)} without a leader`] : []),
    ...(withOffline > 0 ? [`${figure(withOffline)} with a follower offline`] : []),
  ];
}
