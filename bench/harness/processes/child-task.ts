// The agreement between a bench and its child processes: the task that a child gets as its argument, and the pipe that
// ties it to its parent.

import type { Target } from '../../../test/harness/requests/exhaustion.ts';
import type { DearQuestions } from '../load/dear-questions.ts';
import type { LoadOptions } from '../load/load.ts';
import type { ShopShare } from '../shop/batches.ts';

/** A child's end of the pipe that its parent holds. */
export const parentFd = 3;

export type ChildTask =
  | { role: 'load'; options: LoadOptions }
  | { role: 'sink'; answer: string }
  | { role: 'gateway'; publicKey: string }
  | { role: 'attack'; attack: string; share: number; target: Target }
  | { role: 'dear questions'; asked: DearQuestions }
  | { role: 'engine'; path: string; database: string }
  | { role: 'shop'; share: ShopShare }
  | { role: 'endpoints'; count: number }
  | { role: 'dispatcher'; natsUrl: string };
