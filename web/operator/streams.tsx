// The servers of a broker of several that hold each stream: who leads it, who follows and how far. A broker of one
// server has nothing to tell here.

import type { Stream } from '../../proto/gen/dashboard/operator/v1/operator_pb.js';
import { streamRows } from './stream-row.ts';

export function Streams({ streams }: { streams: readonly Stream[] }) {
  const { rows, faults } = streamRows(streams);
  return (
    <section class="card">
      <header class="row between">
        <h2>Streams</h2>
        {faults.length === 0 ? (
          <span class="badge" data-tone="good">
            each has its leader and followers
          </span>
        ) : (
          <ul class="row">
            {faults.map((fault) => (
              <li key={fault} class="badge" data-tone="bad">
                {fault}
              </li>
            ))}
          </ul>
        )}
      </header>
      <p class="hint">
        A stream takes messages while it has a leader that most of its servers follow. Behind counts
        entries of its log that a follower does not hold yet.
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Streams: table">
        <table>
          <thead>
            <tr>
              <th scope="col">Stream</th>
              <th scope="col">Leader</th>
              <th scope="col">Followers</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, leader, followers }) => (
              <tr key={name}>
                <td>{name}</td>
                <td class={leader === undefined ? 'bad-text' : ''}>{leader ?? 'no leader'}</td>
                <td>
                  {followers.length === 0 ? (
                    '–'
                  ) : (
                    <ul class="row">
                      {followers.map(({ name: server, text, tone }) => (
                        <li key={server} class="badge" data-tone={tone}>
                          {server}: {text}
                        </li>
                      ))}
                    </ul>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
