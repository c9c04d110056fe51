// A server of another user of this machine that pretends to be a broker: it takes a port as soon as it is free, greets,
// and keeps what it is sent. Only root can start a process of another user; for everybody else it is their own.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Impostor {
  port: number;
  /** What clients sent, each as a JSON string. */
  received: readonly string[];
  stop(): void;
}

const nobody = 65_534;
export const uidOfImpostor = process.getuid?.() || nobody;

const program = (host: string, port: number): string => `
  const print = (line) => process.stdout.write(line + '\\n');
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      print(JSON.stringify(String(data)));
      socket.write('PONG\\r\\n');
    });
    socket.write('INFO {"server_id":"x","version":"2.9.10","headers":true,"max_payload":1048576}\\r\\n');
  });
  const listen = () => server.listen(${port}, '${host}');
  server.on('error', () => setTimeout(listen, 5));
  server.on('listening', () => print(server.address().port));
  listen();
`;

/** Resolves when it has the port; `host` may be a wildcard. */
export function takePort(host: string, port = 0): Promise<Impostor> {
  const child = spawn(process.execPath, ['-e', program(host, port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...(uidOfImpostor === nobody && { uid: nobody, gid: nobody }),
  });
  const received: string[] = [];
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the impostor has ended')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('"')) received.push(line);
      else resolve({ port: Number(line), received, stop: () => void child.kill('SIGKILL') });
    });
  });
}
