// Every service of the definitions, read from the generated code: a test of all services misses none.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DescService } from '@bufbuild/protobuf';
import { root } from './source-tree.ts';

export async function definedServices(): Promise<DescService[]> {
  const folder = join(root, 'proto', 'gen');
  const services: DescService[] = [];
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!path.endsWith('_pb.js')) continue;
    services.push(...Object.values(await import(join(folder, path))).filter(isService));
  }
  return services;
}

function isService(value: unknown): value is DescService {
  return typeof value === 'object' && value !== null && Reflect.get(value, 'kind') === 'service';
}
