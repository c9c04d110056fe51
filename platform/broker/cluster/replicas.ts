// How many of the broker's servers hold each stream and bucket, as the setting says.

/** An even number bears no more failures than the odd one below it. */
const replicaNumbers = [1, 3, 5];

/** Unset: three where the URL names three servers or more, else one. Adds to `problems` where it cannot be. */
export function readReplicas(
  text: string | undefined,
  natsUrl: string | undefined,
  problems: string[],
): number {
  const servers = natsUrl?.split(',').length ?? 1;
  const replicas = text === undefined ? (servers >= 3 ? 3 : 1) : Number(text);
  if (!replicaNumbers.includes(replicas)) {
    problems.push(`MILLRACE_REPLICAS must be one of ${replicaNumbers.join(', ')}`);
  } else if (replicas > 1 && natsUrl === undefined) {
    problems.push('MILLRACE_REPLICAS above 1 needs NATS_URL: the embedded broker is one server');
  }
  return replicas;
}
