// Connects to an endpoint: resolves its name once, vets every address, and connects to one of those, so that no second
// look-up can lead elsewhere. What a URL may say is endpoint-url.ts's.

import { type BlockList, isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { areReachable, type Internet } from '../mail/internet.ts';
import { isReachableAddress } from '../private-networks.ts';
import { isAllowedAddress } from './endpoint-url.ts';

export interface ConnectorOptions {
  /** The operator's networks: beside the public internet, and the only ones for plain http. */
  allowed: BlockList;
  internet: Internet;
  connectTimeoutMs: number;
  /** Certificates that are trusted besides the usual ones. */
  extraCertificates?: string;
  /** Called before a connection to an address that only the operator's setting allows. */
  onOpenedNetwork(): void;
  /** Opens the socket; a test watches or replaces it. */
  connect?: ((options: buildConnector.BuildOptions) => buildConnector.connector) | undefined;
}

/** An address that may not be reached, or a name with one. To the outside it is a connection that failed. */
export class RefusedAddress extends Error {}

/** The connector of an undici client, see its option `connect`. */
export function createEndpointConnector(options: ConnectorOptions): buildConnector.connector {
  const { allowed, internet, connectTimeoutMs: timeout, extraCertificates: ca } = options;
  const isVetted = (protocol: string, addresses: readonly { address: string }[]): boolean => {
    if (addresses.some(({ address }) => !internet.isPublic(address))) options.onOpenedNetwork();
    return (
      addresses.length > 0 &&
      (protocol === 'https:'
        ? areReachable(addresses, internet, allowed)
        : addresses.every(({ address }) => isAllowedAddress(address, allowed)))
    );
  };
  const connectorFor = (protocol: string): buildConnector.connector =>
    (options.connect ?? buildConnector)({
      timeout,
      allowH2: false,
      rejectUnauthorized: true,
      lookup: vettedLookup(internet, (addresses) => isVetted(protocol, addresses)),
      ...(ca !== undefined && { ca }),
    });
  const connectors = { 'https:': connectorFor('https:'), 'http:': connectorFor('http:') };
  return (target, callback) => {
    const { protocol, hostname } = target;
    const literal = hostname.replace(/^\[(.*)\]$/, '$1');
    // Node asks no look-up about a literal.
    if (isIP(literal) !== 0 && !isVetted(protocol, [{ address: literal }])) {
      callback(new RefusedAddress(), null);
      return;
    }
    const connect = protocol === 'https:' ? connectors['https:'] : connectors['http:'];
    connect({ ...target, hostname: literal }, (...result) => {
      const [error, socket] = result;
      if (error !== null) return callback(error, null);
      if (!isPeerVetted(socket, options, protocol)) {
        socket.destroy();
        return callback(new RefusedAddress(), null);
      }
      callback(null, socket);
    });
  };
}

/** Looks at the address that the socket is really connected to, whatever led there. */
function isPeerVetted(
  { remoteAddress = '' }: Pick<Socket, 'remoteAddress'>,
  { allowed, internet }: ConnectorOptions,
  protocol: string,
): boolean {
  if (isAllowedAddress(remoteAddress, allowed)) return true;
  if (protocol !== 'https:') return false;
  return internet.isPublic(remoteAddress) || isReachableAddress(remoteAddress, allowed);
}

function vettedLookup(
  internet: Internet,
  isVetted: (addresses: readonly { address: string }[]) => boolean,
): LookupFunction {
  return (hostname, { all }, callback) => {
    const found = internet.resolve(hostname).then((addresses) => {
      if (!isVetted(addresses)) throw new RefusedAddress();
      return addresses.map(({ address }) => ({ address, family: isIP(address) }));
    });
    found.then(
      (addresses) => {
        const [first] = addresses;
        if (all === true || first === undefined) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}
