// Sends a file in parts, each small enough for a slow line and for the bodies that proxies take. It goes on while its
// page is left for another one of the app, and waits where the service is away.

import { Code, ConnectError } from '@connectrpc/connect';
import { signal } from '@preact/signals';
import type { Import } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { inProject } from '../client.ts';
import { importsClient } from './imports-client.ts';

/** The upload of this tab. `fault` ended it. */
export type Upload = { id: string; sentBytes: number; totalBytes: number; fault?: unknown };

export const upload = signal<Upload | undefined>(undefined);

const partBytes = 524_288;
const againMs = 2_000;
/** A service that starts again is back before. */
const maxTries = 60;

/** Resolves when the file is whole, or a fault is told. */
export async function sendFile(projectId: string, record: Import, file: File): Promise<void> {
  const { id } = record;
  const isOurs = (): boolean => upload.peek()?.id === id;
  const tell = (sentBytes: number, fault?: unknown): void => {
    upload.value = {
      id,
      sentBytes,
      totalBytes: file.size,
      ...(fault === undefined ? {} : { fault }),
    };
  };
  let offset = Number(record.uploadedBytes);
  let tries = 0;
  tell(offset);
  while (offset < file.size && isOurs()) {
    try {
      const data = new Uint8Array(await file.slice(offset, offset + partBytes).arrayBuffer());
      const part = { id, offset: BigInt(offset), data };
      const { uploadedBytes } = await importsClient.upload(part, inProject(projectId));
      offset = Number(uploadedBytes);
      tries = 0;
      if (isOurs()) tell(offset);
    } catch (cause) {
      const isAway = ConnectError.from(cause).code === Code.Unavailable && ++tries < maxTries;
      if (!isAway) {
        if (isOurs()) tell(offset, cause);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, againMs));
      offset = (await arrivedBytes(projectId, id)) ?? offset;
    }
  }
  if (isOurs()) upload.value = undefined;
}

/** The answer to a part may have been lost, and the part not. */
async function arrivedBytes(projectId: string, id: string): Promise<number | undefined> {
  try {
    const { imports } = await importsClient.list({}, inProject(projectId));
    const found = imports.find((one) => one.id === id);
    return found && Number(found.uploadedBytes);
  } catch {
    return undefined;
  }
}
