/** Certificates, addresses and the listening socket of the API server. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { createServer, isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import {
  dialect,
  ensureSelfSigned,
  exitCodes,
  FatalError,
  type KeyPairPem,
  serverTlsOptions,
  systemClock,
} from '@orch/component';
import type { ApiServerOptions } from './api-server-options.js';

const selfSignedValidMs = 365 * 86_400_000;
const headersTimeoutMs = 30_000;
const keepAliveTimeoutMs = 180_000;
const concurrentStreamsMax = 1_000;
/**
 * Request line and headers of HTTP/1.1. Higher: more memory for connections that only ever begin a
 * request; lower: long selectors are refused. HTTP/2 has a fixed maximum of 64 KiB.
 */
export const headerBytesMax = 128 * 1024;

/** Throws FatalError for a file that cannot be read; undefined for no path. */
export function readPem(path: string): string | undefined {
  if (path === '') return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new FatalError(exitCodes.failed, `cannot read ${path}: ${cause}`, { cause: error });
  }
}

/** The configured certificate, or one kept in the data directory. */
export async function servingPair(
  options: ApiServerOptions,
  hosts: readonly string[],
): Promise<KeyPairPem> {
  const { tlsCertFile, tlsPrivateKeyFile, dataDir } = options;
  const certificatePem = readPem(tlsCertFile);
  const keyPem = readPem(tlsPrivateKeyFile);
  if (certificatePem !== undefined && keyPem !== undefined) return { certificatePem, keyPem };
  if (certificatePem !== undefined || keyPem !== undefined) {
    throw new FatalError(
      exitCodes.usage,
      '--tls-cert-file and --tls-private-key-file belong together: give both or neither',
    );
  }
  return ensureSelfSigned(
    join(dataDir, 'pki'),
    'apiserver',
    {
      commonName: `${dialect().word}-apiserver`,
      hosts,
      usages: ['server'],
      validMs: selfSignedValidMs,
    },
    systemClock,
  );
}

/** Names and addresses a client may know this server by. */
export function servingHosts(options: ApiServerOptions, serviceAddress: string): string[] {
  const { word } = dialect();
  const advertised = advertiseAddress(options);
  const hosts = [
    'localhost',
    '127.0.0.1',
    '::1',
    hostname(),
    word,
    `${word}.default`,
    `${word}.default.svc`,
    `${word}.default.svc.cluster.local`,
    serviceAddress,
    advertised,
  ];
  return [...new Set(hosts)];
}

/** Where operators are told to reach the API of this server. */
export function clientUrl(options: ApiServerOptions): string {
  const { advertiseClientUrl } = options.consensus;
  if (advertiseClientUrl !== '') return advertiseClientUrl;
  const host = advertiseAddress(options);
  return `https://${host.includes(':') ? `[${host}]` : host}:${options.securePort}`;
}

/** Where nodes reach this server: a loopback address when only this machine can. */
export function advertiseAddress(options: ApiServerOptions): string {
  if (options.advertiseAddress !== '') return options.advertiseAddress;
  const { bindAddress } = options;
  if (isIP(bindAddress) && !isAny(bindAddress)) return bindAddress;
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const first = addresses.find(({ internal, family }) => !internal && family === 'IPv4');
  return first?.address ?? '127.0.0.1';
}

function isAny(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

/** Rejects with FatalError when the address cannot be listened on; nothing stays open. */
export async function checkAddress(host: string, port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(host, port, error)));
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

export function listenFailure(host: string, port: number, error: NodeJS.ErrnoException): Error {
  const why =
    error.code === 'EADDRINUSE'
      ? 'is in use; choose another --secure-port'
      : `cannot be listened on: ${error.message}`;
  return new FatalError(exitCodes.failed, `${host}:${port} ${why}`, { cause: error });
}

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export function tlsOptions(pair: KeyPairPem, options: ApiServerOptions): TlsOptions {
  const clientAuthoritiesPem = readPem(options.clientCaFile);
  return serverTlsOptions({
    pair,
    minVersion: options.tlsMinVersion,
    ...(clientAuthoritiesPem !== undefined && { clientAuthoritiesPem }),
  });
}

/** One server for HTTP/1.1 and HTTP/2, told apart when the connection is made. */
export function createHttpsServer(
  pair: KeyPairPem,
  options: ApiServerOptions,
  listener: Listener,
): Http2SecureServer {
  const server = createSecureServer(
    {
      ...tlsOptions(pair, options),
      allowHTTP1: true,
      settings: { maxConcurrentStreams: concurrentStreamsMax },
    },
    listener as never,
  );
  Object.assign(server, {
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: 0,
    maxHeaderSize: headerBytesMax,
  });
  return server;
}
