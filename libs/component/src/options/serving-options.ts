/** Flags of processes that serve their own health, metrics and configuration. */
import { IsInt, Max, Min } from 'class-validator';
import { Flag, Flags } from './flag.js';
import { ProfilingOptions } from './profiling-options.js';
import { TlsFlags } from './tls-flags.js';

export class ServingOptions {
  @Flag({
    name: 'bind-address',
    description: 'address to listen on; 0.0.0.0 and :: listen on all addresses',
    default: '0.0.0.0',
  })
  bindAddress!: string;

  @Flag({
    name: 'secure-port',
    description: 'HTTPS port for health, metrics and configuration; 0 disables it',
    default: 0,
  })
  @IsInt()
  @Min(0)
  @Max(65_535)
  securePort!: number;

  @Flag({
    name: 'tls-cert-file',
    description: 'PEM file of the serving certificate; a self-signed one is created by default',
  })
  tlsCertFile?: string;

  @Flag({ name: 'tls-private-key-file', description: 'PEM file of the key of --tls-cert-file' })
  tlsPrivateKeyFile?: string;

  @Flags(TlsFlags)
  readonly tls!: TlsFlags;

  @Flag({
    name: 'client-ca-file',
    description: 'PEM file of the authorities whose client certificates are accepted',
  })
  clientCaFile?: string;

  @Flag({
    name: 'authorization-always-allow-paths',
    description: 'paths that need no authorization; the API server authorizes all others',
    default: '/healthz,/readyz,/livez',
  })
  alwaysAllowPaths!: string[];

  @Flag({
    name: 'authentication-token-webhook-cache-ttl',
    description:
      'time for which the result of a token review is cached. Higher: a revoked token works longer. Lower: more requests to the API server.',
    default: '10s',
    type: 'duration',
  })
  @Min(0)
  tokenCacheTtlMs!: number;

  @Flag({
    name: 'authorization-webhook-cache-authorized-ttl',
    description:
      'time for which a permission is cached. Higher: a revoked permission works longer. Lower: more requests to the API server.',
    default: '10s',
    type: 'duration',
  })
  @Min(0)
  authorizedCacheTtlMs!: number;

  @Flag({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    description:
      'time for which a denial is cached. Higher: a new permission works later. Lower: more requests to the API server.',
    default: '10s',
    type: 'duration',
  })
  @Min(0)
  unauthorizedCacheTtlMs!: number;

  @Flags(ProfilingOptions)
  profiles!: ProfilingOptions;
}
