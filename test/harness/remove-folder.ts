// The folder of a test, removed after whoever wrote into it was asked to end.

import { rm } from 'node:fs/promises';

/** Five seconds and more, by tries 50, 100, 150 ms apart and so on. */
const maxRetries = 15;
const retryDelay = 50;

/**
 * On a busy machine an engine or a broker whose service has ended may still write for a moment: a file that comes
 * between the look into a folder and its removal is removed by the next try. Nothing happens where there is none.
 */
export function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries, retryDelay });
}
