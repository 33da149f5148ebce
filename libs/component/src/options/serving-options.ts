/** Flags of every process that serves its own health, metrics and configuration. */
import { IsIn, IsInt, Max, Min } from 'class-validator';
import { type TlsVersionName, tlsVersionNames } from '../tls/tls-options.js';
import { Flag } from './flag.js';

export class ServingOptions {
  @Flag({
    name: 'bind-address',
    description: 'address to listen on; 0.0.0.0 and :: mean all',
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
    description: 'PEM certificate to serve with; without it one is made that vouches for itself',
  })
  tlsCertFile?: string;

  @Flag({ name: 'tls-private-key-file', description: 'PEM key of --tls-cert-file' })
  tlsPrivateKeyFile?: string;

  @Flag({
    name: 'tls-min-version',
    description: `lowest TLS version, one of ${tlsVersionNames.join(', ')}; lower admits old and weak clients, higher shuts some out`,
    default: 'VersionTLS12',
    type: 'string',
  })
  @IsIn(tlsVersionNames)
  tlsMinVersion!: TlsVersionName;

  @Flag({
    name: 'client-ca-file',
    description: 'PEM authorities whose client certificates prove a user here',
  })
  clientCaFile?: string;

  @Flag({
    name: 'authorization-always-allow-paths',
    description: 'paths anyone may read; the others are asked for at the API server',
    default: '/healthz,/readyz,/livez',
  })
  alwaysAllowPaths!: string[];

  @Flag({
    name: 'authentication-token-webhook-cache-ttl',
    description:
      'how long a checked token is trusted; higher: a revoked one works longer, lower: more requests to the API server',
    default: '10s',
    type: 'duration',
  })
  @Min(0)
  tokenCacheTtlMs!: number;

  @Flag({
    name: 'authorization-webhook-cache-authorized-ttl',
    description:
      'how long a permission is remembered; higher: a withdrawn one works longer, lower: more requests to the API server',
    default: '10s',
    type: 'duration',
  })
  @Min(0)
  authorizedCacheTtlMs!: number;

  @Flag({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    description:
      'how long a refusal is remembered; higher: a new permission works later, lower: more requests to the API server',
    default: '10s',
    type: 'duration',
  })
  @Min(0)
  unauthorizedCacheTtlMs!: number;

  @Flag({
    name: 'profiling',
    description:
      'serve CPU profiles and heap statistics under /debug/pprof/; a profile slows the process while it runs',
    default: true,
  })
  profiling!: boolean;
}
