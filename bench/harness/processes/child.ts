// The entry of the benches' child processes: load generator, sink and engine must not share a process, and with it an
// event loop, with the subject of a measurement. argv[2] is the task.

import { Socket } from 'node:net';
import { runAttack } from '../load/attack.ts';
import { runLoad } from '../load/load.ts';
import { storeShare } from '../shop/batches.ts';
import { type ChildTask, parentFd } from './child-task.ts';
import { serveEngine } from './engine-child.ts';
import { startGateway } from './gateway-server.ts';
import { startSink } from './sink.ts';

const task: ChildTask = JSON.parse(process.argv[2] ?? '');
const print = (text: string): void => void process.stdout.write(`${text}\n`);
// The parent holds the other end: once it is gone, nobody reads the report.
const parent = new Socket({ fd: parentFd });
parent.once('end', () => process.exit(0));

switch (task.role) {
  case 'load':
    parent.resume();
    print(JSON.stringify(await runLoad(task.options)));
    break;
  case 'sink':
    parent.resume();
    print(String(await startSink(task.answer)));
    break;
  case 'gateway':
    parent.resume();
    print(String(await startGateway(task.publicKey)));
    break;
  case 'attack':
    parent.resume();
    await runAttack(task.attack, task.target, task.share, () => print('begun'));
    break;
  case 'engine':
    await serveEngine(task.path, task.database, parent);
    break;
  case 'shop':
    parent.resume();
    await storeShare(task.share, () => print('stored'));
    print('done');
    break;
  default:
    task satisfies never;
}
