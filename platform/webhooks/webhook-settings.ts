// The operator's settings of webhooks. config.ts reads them.

import type { BlockList } from 'node:net';

export interface WebhookSettings {
  /** Networks that endpoints may be in besides the public internet; plain http may be spoken there. */
  allowedNetworks: BlockList;
  /** Answers of endpoints in those networks are kept in the log, not their status alone. */
  logsAllowedBodies: boolean;
  /** Events of public keys trigger no webhook at all. */
  privateOnly: boolean;
}
