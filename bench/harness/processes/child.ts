// The entry of the benches' child processes: load generator, sink and engine must not share a process, and with it an
// event loop, with the subject of a measurement. argv[2] is the task.

import { Socket } from 'node:net';
import { type ChildTask, parentFd } from './child-task.ts';

const task: ChildTask = JSON.parse(process.argv[2] ?? '');
const print = (text: string): void => void process.stdout.write(`${text}\n`);
// The parent holds the other end: once it is gone, nobody reads the report.
const parent = new Socket({ fd: parentFd });
parent.once('end', () => process.exit(0));

// Each loads what it needs alone: the engine's library by itself is more memory than a sender of webhooks holds.
switch (task.role) {
  case 'load': {
    parent.resume();
    const { runLoad } = await import('../load/load.ts');
    print(JSON.stringify(await runLoad(task.options)));
    break;
  }
  case 'sink': {
    parent.resume();
    const { startSink } = await import('./sink.ts');
    print(String(await startSink(task.answer)));
    break;
  }
  case 'gateway': {
    parent.resume();
    const { startGateway } = await import('./gateway-server.ts');
    print(String(await startGateway(task.publicKey)));
    break;
  }
  case 'attack': {
    parent.resume();
    const { runAttack } = await import('../load/attack.ts');
    await runAttack(task.attack, task.target, task.share, () => print('begun'));
    break;
  }
  case 'dear questions': {
    const { askDearQuestions } = await import('../load/dear-questions.ts');
    await askDearQuestions(task.asked, parent, process.stdout);
    break;
  }
  case 'engine': {
    const { serveEngine } = await import('./engine-child.ts');
    await serveEngine(task.path, task.database, parent);
    break;
  }
  case 'shop': {
    parent.resume();
    const { storeShare } = await import('../shop/batches.ts');
    await storeShare(task.share, () => print('stored'));
    print('done');
    break;
  }
  case 'endpoints': {
    const { serveEndpoints } = await import('../webhooks/receiving.ts');
    await serveEndpoints(task.count, parent);
    break;
  }
  case 'dispatcher': {
    parent.resume();
    const { startDispatching } = await import('../webhooks/dispatching.ts');
    await startDispatching(task.natsUrl);
    print('begun');
    break;
  }
  default:
    task satisfies never;
}
