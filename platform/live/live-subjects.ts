// The subjects of core messages that no stream keeps: those of live views, and one that has senders slow down. What
// they hold is in proto/wire/live/.
//
//   refused.<project>    ingest: requests that it refused, always
//   preflight            ingest: a page, nobody knows whose, asked whether it may send; at most once a second
//   watching.<project>   query: somebody watches the project; repeated while it is so
//   watch.<project>      pipeline: what became of the project's events, while somebody watches
//   crowding.<shard>     pipeline: the projects whose events fill the shard's queue; repeated while it is so
//
// Besides, query hears the frames of watched shards on their way into the stream: events.<shard> (broker/streams.ts).

export const preflightSubject = 'preflight';

/** Every such subject, with a star for the project or the shard. */
export const liveSubjects = [
  'refused.*',
  'watching.*',
  'crowding.*',
  'watch.*',
  preflightSubject,
] as const;
export const [allRefused, allWatching, allCrowding] = liveSubjects;
export const crowdingSubject = (shard: number): string => `crowding.${shard}`;

type LiveTopic = 'refused' | 'watching' | 'watch';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Undefined for an id that is no UUID: nothing else may become a part of a subject. */
export function liveSubject(topic: LiveTopic, projectId: string): string | undefined {
  return uuid.test(projectId) ? `${topic}.${projectId}` : undefined;
}

/** The project of a subject of live views; undefined where it names none. */
export function projectOfSubject(subject: string): string | undefined {
  const projectId = subject.slice(subject.indexOf('.') + 1);
  return uuid.test(projectId) ? projectId : undefined;
}
