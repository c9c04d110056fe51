import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { afterAll, expect, it } from 'vitest';
import { ImportSchema } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { eventually } from '../../test/harness/clients/client.ts';
import { ImportProcess } from './import-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-process-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('what a process says last is heard, although its end is told first', async () => {
  const script = join(directory, 'says.mjs');
  const says = "process.send({ kind: 'failed', why: 'read' }, () => process.exit());";
  writeFileSync(script, `process.on('message', () => { ${says} });`);
  for (let n = 0; n < 5; n++) {
    const job = { record: create(ImportSchema), path: '', secret: '', target: undefined };
    const child = new ImportProcess(script, job);
    // The process has its job, and ends while nobody here hears anything.
    await new Promise(setImmediate);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
    const outcome = await eventually(async () => child.outcome, Boolean);
    expect(outcome).toEqual({ kind: 'failed', why: 'read' });
  }
});
