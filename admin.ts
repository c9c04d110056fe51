// `npm run admin -- <command>`: reads the command line, reaches the instance's broker, whether the instance runs or
// not, and prints the command's text. The commands are commands.ts's.

import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { reachEngines } from './admin/reach-engines.ts';
import { restoreCommand } from './admin/restore-command.ts';
import { backupCommand, checkCommand } from './admin/store-commands.ts';
import { createTellOfReset } from './control/mail/tell-of-reset.ts';
import {
  createCustomer,
  exportRecords,
  type Operator,
  prepareInstanceKeyCommand,
  resetSecondFactor,
  restoreRecords,
  rotateInstanceKeyCommand,
  rotateSigningKeyCommand,
  setSuperAdmin,
} from './control/operator/commands.ts';
import { listErasures, repeatErasures } from './control/operator/erasure-log.ts';
import { makeNewBuckets } from './control/operator/new-buckets.ts';
import { unmerge } from './control/operator/unmerge.ts';
import { buckets } from './platform/broker/buckets.ts';
import { noSuchStream } from './platform/broker/connection/error-codes.ts';
import { unlessCode } from './platform/broker/ensure-stream.ts';
import { connectBroker, type NatsConnection } from './platform/broker/nats.ts';
import { ensureTopology } from './platform/broker/topology.ts';
import { type Config, readConfig } from './platform/config.ts';
import { eventsDiskBudget } from './platform/engines/embedded-broker.ts';
import { createLog, type Log } from './platform/log.ts';

const usage = `npm run admin -- [--data DIR] <command>
  create-customer --email E [--name N] [--password P] [--super-admin]
  grant-super-admin --email E
  revoke-super-admin --email E
  reset-second-factor --email E
  rotate-instance-key [--prepare | --drop-old]
  rotate-signing-key [--drop-old]
  export FILE
  restore FILE
  unmerge --project ID DISTINCT_ID
  erasures
  repeat-erasures FILE
  check
  backup DIR
  restore DIR
`;

const flags = {
  data: { type: 'string' },
  email: { type: 'string' },
  name: { type: 'string' },
  password: { type: 'string' },
  project: { type: 'string' },
  'super-admin': { type: 'boolean' },
  prepare: { type: 'boolean' },
  'drop-old': { type: 'boolean' },
} as const;

type Command = (config: Config, log: Log) => Promise<string>;

try {
  const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
  const command = storeCommandOf(positionals) ?? commandOf(positionals, values);
  const config = configOf(values.data);
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel);
  process.stdout.write(`${await command(config, log)}\n`);
} catch (error) {
  process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

interface Flags {
  email?: string;
  name?: string;
  password?: string;
  project?: string;
  'super-admin'?: boolean;
  prepare?: boolean;
  'drop-old'?: boolean;
}

/** Of the commands that reach ClickHouse. */
function storeCommandOf([name, path]: string[]): Command | undefined {
  if (name === 'check') return checkCommand;
  if (path === undefined) return undefined;
  if (name === 'backup') return (config, log) => backupCommand(config, log, path);
  const isBackup = name === 'restore' && statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return isBackup ? (config, log) => restoreCommand(config, log, path) : undefined;
}

function commandOf(positionals: string[], values: Flags): Command {
  const command = brokerCommandOf(positionals, values);
  return (config, log) => withBroker(config, log, command);
}

type BrokerCommand = (operator: Operator, config: Config) => Promise<string>;

function brokerCommandOf([name, file]: string[], values: Flags): BrokerCommand {
  const { email = '', name: displayName, password, project: projectId } = values;
  switch (name) {
    case 'create-customer':
      return (operator) =>
        createCustomer(operator, {
          email,
          superAdmin: values['super-admin'] ?? false,
          ...(displayName !== undefined && { name: displayName }),
          ...(password !== undefined && { password }),
        });
    case 'grant-super-admin':
      return (operator) => setSuperAdmin(operator, { email, on: true });
    case 'revoke-super-admin':
      return (operator) => setSuperAdmin(operator, { email, on: false });
    case 'reset-second-factor':
      return (operator, config) => {
        const tell = createTellOfReset(config, operator.log);
        return resetSecondFactor(operator, { email, tell });
      };
    case 'rotate-instance-key':
      if (values.prepare && values['drop-old']) break;
      if (values.prepare) return prepareInstanceKeyCommand;
      return (operator) =>
        rotateInstanceKeyCommand(operator, { dropOld: values['drop-old'] ?? false });
    case 'rotate-signing-key':
      return (operator) =>
        rotateSigningKeyCommand(operator, { dropOld: values['drop-old'] ?? false });
    case 'export':
      if (file !== undefined) return (operator) => exportRecords(operator, file);
      break;
    case 'restore':
      if (file !== undefined) return (operator) => restoreRecords(operator, file);
      break;
    case 'erasures':
      return listErasures;
    case 'repeat-erasures':
      if (file !== undefined) return (operator) => repeatErasures(operator, file);
      break;
    case 'unmerge':
      if (file === undefined || projectId === undefined) break;
      return ({ connection, log }) => unmerge({ connection, log, projectId, distinctId: file });
  }
  throw new Error(`no such command\n${usage}`);
}

function configOf(dataDir: string | undefined): Config {
  const read = readConfig(process.env, dataDir === undefined ? [] : ['--data', dataDir]);
  if (read.kind === 'refused') throw new Error(read.problems.join('\n'));
  return read.config;
}

/** Uses the running broker; if none runs, starts the data directory's broker for the command. */
async function withBroker(config: Config, log: Log, command: BrokerCommand): Promise<string> {
  const { dataDir } = config;
  const reach = reachEngines(config, log);
  try {
    const { url, isOwn } = await reach.broker('service');
    const connection = await connectBroker(url, log);
    try {
      // An instance that runs, or that has run there, has its settings: the operator's shell may have others.
      if (isOwn || (await isNew(connection))) {
        const { shards, eventsMaxBytes = eventsDiskBudget(dataDir) } = config;
        await ensureTopology(connection, { eventsMaxBytes, shards });
      } else {
        await makeNewBuckets(connection);
      }
      return await command({ connection, dataDir, log }, config);
    } finally {
      await connection.close();
    }
  } finally {
    await reach.stop();
  }
}

async function isNew(connection: NatsConnection): Promise<boolean> {
  const { streams } = await connection.jetstreamManager();
  const info = streams.info(`KV_${buckets.instance}`);
  return (await unlessCode(noSuchStream, info)) === undefined;
}
