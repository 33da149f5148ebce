/** How an external etcd is reached, and what an operator may set. */
import { COMPACTION_INTERVAL_MS, HISTORY_RETENTION_MS, RING_BYTES_MAX } from '../limits.js';

export interface EtcdTls {
  /** PEM authorities that the servers' certificates must come from; without it the system's. */
  readonly authorityPem?: Buffer;
  /** PEM pair to show to the servers; both or neither. */
  readonly certificatePem?: Buffer;
  readonly keyPem?: Buffer;
}

export interface EtcdOptions {
  /** Client URLs of members of one etcd cluster: all `https://host:port` or all `http://host:port`. */
  readonly endpoints: readonly string[];
  /** What the store's keys begin with in etcd, as `/registry`. Without a slash at the end. */
  readonly prefix: string;
  readonly tls?: EtcdTls;
  /** History for watches and exact reads. Higher: more disk in etcd; lower: more clients list again. */
  readonly historyRetentionMs?: number;
  /** Between two compactions, by whichever API server comes first. Higher: history is kept that much
   *  longer; lower: more writes of the key they agree by. */
  readonly compactionIntervalMs?: number;
  /** Recent changes kept in memory. Higher: more memory; lower: resuming watches read from etcd. */
  readonly recentEventsMax?: number;
  readonly recentBytesMax?: number;
}

export interface ResolvedEtcdOptions extends Required<Omit<EtcdOptions, 'tls'>> {
  readonly tls: EtcdTls;
  /** `host:port` of each endpoint, in the order given. */
  readonly addresses: readonly string[];
  readonly secure: boolean;
}

const RECENT_EVENTS_MAX = 32_768;

/** The defaults with what is given. Throws RangeError for what cannot be used, naming it. */
export function resolveEtcdOptions(given: EtcdOptions): ResolvedEtcdOptions {
  const options = {
    historyRetentionMs: HISTORY_RETENTION_MS,
    compactionIntervalMs: COMPACTION_INTERVAL_MS,
    recentEventsMax: RECENT_EVENTS_MAX,
    recentBytesMax: RING_BYTES_MAX,
    tls: {},
    ...given,
  };
  if (options.endpoints.length === 0) throw new RangeError('no etcd server is given');
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
