/** Certificates, addresses and the listening socket of the API server. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import {
  dialect,
  ensureSelfSigned,
  exitCodes,
  FatalError,
  type KeyPairPem,
  reachableAddress,
  serverTlsOptions,
  systemClock,
  urlHost,
} from '@orch/component';
import type { ApiServerOptions } from '../options/api-server-options.js';
import { readPem, usingFilesOf } from '../options/pem-files.js';

const selfSignedValidMs = 365 * 86_400_000;
const headersTimeoutMs = 30_000;
/** Time for which an idle connection stays open. */
export const keepAliveTimeoutMs = 180_000;
/**
 * Connections that the kernel accepts before this process does, which it limits itself to
 * `net.core.somaxconn`. Lower: when thousands of clients return after a restart, more of them
 * repeat their attempt after one, three and seven seconds.
 */
export const connectionBacklog = 4_096;
const handshakeTimeoutMs = 10_000;
const concurrentStreamsMax = 1_000;
/**
 * Bytes of the request line and headers of HTTP/1.1. Higher: more memory for incomplete requests.
 * Lower: long selectors are rejected. HTTP/2 has a fixed maximum of 64 KiB.
 */
export const headerBytesMax = 128 * 1024;

/** Returns the configured certificate, or the self-signed one of the data directory. */
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

/** Returns the names and addresses at which clients may reach this server. */
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

/** Returns the URL of the API of this server that operators see. */
export function clientUrl(options: ApiServerOptions): string {
  const { advertiseClientUrl } = options.consensus;
  if (advertiseClientUrl !== '') return advertiseClientUrl;
  return `https://${urlHost(advertiseAddress(options))}:${options.securePort}`;
}

/** Returns the address for nodes: a loopback address if only this machine can connect. */
export function advertiseAddress(options: ApiServerOptions): string {
  return options.advertiseAddress || reachableAddress(options.bindAddress);
}

/** Rejects with FatalError if the server cannot listen on the address; leaves no socket open. */
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
      : `cannot be used: ${error.message}`;
  return new FatalError(exitCodes.failed, `${host}:${port} ${why}`);
}

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** The authenticators decide which of the authorities may issue users, and which proxies. */
function joinedPem(...paths: readonly string[]): string | undefined {
  const texts = paths.flatMap((path) => readPem(path) ?? []);
  return texts.length > 0 ? texts.join('\n') : undefined;
}

export function tlsOptions(pair: KeyPairPem, options: ApiServerOptions): TlsOptions {
  const { clientCaFile, proxy } = options.authentication;
  const clientAuthoritiesPem = joinedPem(clientCaFile, proxy.clientCaFile);
  return serverTlsOptions({
    pair,
    ...options.tls,
    ...(clientAuthoritiesPem !== undefined && { clientAuthoritiesPem }),
  });
}

/**
 * Creates a server for HTTP/1.1 and HTTP/2; the TLS handshake selects the protocol. Throws
 * FatalError if the certificate is invalid.
 */
export function createHttpsServer(pair: KeyPairPem, options: ApiServerOptions): Http2SecureServer {
  const server = usingFilesOf('--tls-cert-file, --tls-private-key-file', () =>
    createSecureServer({
      ...tlsOptions(pair, options),
      allowHTTP1: true,
      handshakeTimeout: handshakeTimeoutMs,
      settings: { maxConcurrentStreams: concurrentStreamsMax },
    }),
  );
  Object.assign(server, {
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: 0,
    maxHeaderSize: headerBytesMax,
  });
  return server;
}
