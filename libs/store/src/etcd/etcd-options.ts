/** Connection and settings of the store over an external etcd. */
import { compactionIntervalMs, historyRetentionMs, ringBytesMax } from '../limits.js';

export interface EtcdTls {
  /** PEM authorities of the servers' certificates. Default: those of the system. */
  readonly authorityPem?: Buffer;
  /** PEM client certificate and key; both or neither. */
  readonly certificatePem?: Buffer;
  readonly keyPem?: Buffer;
}

export interface EtcdOptions {
  /**
   * Client URLs of members of one etcd cluster: all `https://host:port` or all `http://host:port`.
   */
  readonly endpoints: readonly string[];
  /** Prefix of the store's keys in etcd, such as `/registry`, without a trailing slash. */
  readonly prefix: string;
  readonly tls?: EtcdTls;
  /**
   * How long history is retained for watches and exact reads. Higher: more disk in etcd. Lower:
   * more clients list again.
   */
  readonly historyRetentionMs?: number;
  /**
   * Time between two compactions, by any of the API servers. Higher: history is retained longer.
   * Lower: more writes of the shared key.
   */
  readonly compactionIntervalMs?: number;
  /** Recent changes in memory. Higher: more memory. Lower: more resuming watches read from etcd. */
  readonly recentEventsMax?: number;
  readonly recentBytesMax?: number;
}

export interface ResolvedEtcdOptions extends Required<Omit<EtcdOptions, 'tls'>> {
  readonly tls: EtcdTls;
  /** `host:port` of each endpoint, in the order given. */
  readonly addresses: readonly string[];
  readonly secure: boolean;
}

const recentEventsMax = 32_768;

/** Returns the options with defaults. Throws RangeError for invalid options. */
export function resolveEtcdOptions(given: EtcdOptions): ResolvedEtcdOptions {
  const options = {
    historyRetentionMs,
    compactionIntervalMs,
    recentEventsMax,
    recentBytesMax: ringBytesMax,
    tls: {},
    ...given,
  };
  if (options.endpoints.length === 0)
    throw new RangeError('endpoints: at least one etcd server is required');
  if (!/^(\/[^/\s]+)+$/.test(options.prefix)) {
    throw new RangeError(
      `${JSON.stringify(options.prefix)} is no prefix of keys in etcd: it begins with a slash and does not end in one`,
    );
  }
  for (const name of [
    'historyRetentionMs',
    'compactionIntervalMs',
    'recentEventsMax',
    'recentBytesMax',
  ] as const) {
    if (!(options[name] > 0)) throw new RangeError(`etcd option ${name} must be above 0`);
  }
  const urls = options.endpoints.map(parseEndpoint);
  const secure = urls[0]?.protocol === 'https:';
  if (urls.some(({ protocol }) => (protocol === 'https:') !== secure)) {
    throw new RangeError('etcd servers are given with http and with https: use one of them');
  }
  const { authorityPem, certificatePem, keyPem } = options.tls;
  if ((certificatePem === undefined) !== (keyPem === undefined)) {
    throw new RangeError(
      'a client certificate for etcd needs its key, and the key its certificate',
    );
  }
  if (!secure && (authorityPem ?? certificatePem) !== undefined) {
    throw new RangeError('certificates for etcd are given, but its servers as http');
  }
  return { ...options, secure, addresses: urls.map(({ host }) => host) };
}

function parseEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (!url || !plain || !/^https?:$/.test(url.protocol) || url.port === '') {
    throw new RangeError(`${JSON.stringify(text)} is no etcd server: https://host:port`);
  }
  return url;
}
