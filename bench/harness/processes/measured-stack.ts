// The product that a bench measures: this checkout's build, or another one under the same load. The load is this
// checkout's either way, so that a pair of builds tells of their code and not of the events that they were sent.

import { type Stack, startStack } from '../../../test/harness/servers/stack.ts';

/** As startStack, with the build in the folder that MILLRACE_BENCH_BUILD names. */
export function startMeasuredStack(options: Parameters<typeof startStack>[0] = {}): Promise<Stack> {
  const dist = process.env['MILLRACE_BENCH_BUILD'];
  return startStack({ ...options, ...(dist !== undefined && { dist }) });
}
