// `npm run webhook-listen`: a receiver of webhooks that prints every delivery whose signatures are right.

import { readFlags, runCommand, wholeNumber } from './command.ts';
import { RequestRefused } from './sending/request-refused.ts';
import { startListener } from './webhooks/listener.ts';
import { deliveryLine } from './webhooks/present.ts';

const usage = 'npm run webhook-listen -- --port N --secret S [--host ADDRESS]';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

await runCommand('webhook-listen', async () => {
  const text = { type: 'string' } as const;
  const flags = readFlags({ options: { port: text, secret: text, host: text } }, usage).values;
  const port = wholeNumber('--port', flags.port, 9_000, 0, 65_535);
  const { secret, host } = flags;
  if (secret === undefined || secret === '') throw new RequestRefused(`usage: ${usage}`);
  const listener = await startListener({
    ...(host !== undefined && { host }),
    port,
    secret: () => secret,
    onDelivery: (delivery) => say(deliveryLine(delivery)),
    onRefused: () => say('401  a request whose signatures are not right'),
  });
  say(`listening for webhooks at ${listener.url}; Ctrl+C ends it`);
  const end = () => void listener.close();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
});
