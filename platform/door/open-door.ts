// The ports of a service: taken at its start, before anything that takes time, and answered while nobody serves them.

import type { Config } from '../config.ts';
import { createStartPort, type StartPort } from '../http/start-port.ts';
import { allOrProblems } from '../start-problems.ts';
import { Entrance } from './entrance.ts';
import type { Begun, Keeper } from './keeper.ts';

export interface Door {
  entrance: Entrance;
  operatorEntrance: Entrance | undefined;
  startPort: StartPort;
}

/**
 * Nobody is refused who came while another process was here: they wait as long as a request waits for the broker, and
 * are then told to come again. Rejects with a sentence for each port that cannot be had.
 */
export async function openDoor(
  config: Pick<Config, 'host' | 'port' | 'operatorPort' | 'publishDeadlineMs'>,
  keeper: Keeper | undefined,
  begun: Begun | undefined,
): Promise<Door> {
  const { host, port, operatorPort, publishDeadlineMs } = config;
  const at = (number: number, setting: string): Promise<Entrance> =>
    Entrance.at({
      ...{ host, port: number, setting },
      ...(keeper && { bind: keeper.bind, isHandedOn: () => keeper.isFollowed }),
    });
  const [entrance, operatorEntrance] = await allOrProblems([
    at(port, '--port'),
    operatorPort === undefined ? undefined : at(operatorPort, 'MILLRACE_OPERATOR_PORT'),
  ]);
  const startPort = createStartPort([entrance, ...(operatorEntrance ? [operatorEntrance] : [])]);
  if (begun?.isAgain) startPort.openAfter(Math.max(0, publishDeadlineMs - begun.waitedMs));
  return { entrance, operatorEntrance, startPort };
}
