/** The `extenders` of a configuration: HTTP services that take part in decisions. */
import { extenderCountMax, extenderTimeoutMsDefault } from '../limits.js';
import type { ConfigurationMap } from './configuration-map.js';

export interface ExtenderTls {
  readonly insecure: boolean;
  readonly serverName?: string;
  /** Files take precedence over data, which is base64 of PEM. */
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly caFile?: string;
  readonly certData?: string;
  readonly keyData?: string;
  readonly caData?: string;
}

export interface ExtenderOptions {
  /** Without a slash at the end. */
  readonly urlPrefix: string;
  /** Paths below the prefix; a step without a path is not sent. */
  readonly filterVerb?: string;
  readonly preemptVerb?: string;
  readonly prioritizeVerb?: string;
  readonly bindVerb?: string;
  readonly weight: number;
  readonly timeoutMs: number;
  /** Whether it knows the nodes, so that it gets names only. */
  readonly nodeCacheCapable: boolean;
  /** Whether pods are scheduled without it while it fails. */
  readonly ignorable: boolean;
  /** It is called only for pods that request one of these; for all pods if empty. */
  readonly managedResources: readonly string[];
  /** Managed resources that the filter of resources does not check. */
  readonly ignoredResources: readonly string[];
  readonly tls?: ExtenderTls;
}

/** How a kind of configuration file spells the fields of an extender. */
export interface ExtenderSpelling {
  readonly enableTls: string;
  /** Whether the timeout is a number of nanoseconds instead of a text. */
  readonly timeoutInNanos: boolean;
}

export const extenderSpelling: ExtenderSpelling = {
  enableTls: 'enableHTTPS',
  timeoutInNanos: false,
};
export const policyExtenderSpelling: ExtenderSpelling = {
  enableTls: 'enableHttps',
  timeoutInNanos: true,
};

export function readExtenders(
  configuration: ConfigurationMap,
  spelling = extenderSpelling,
): ExtenderOptions[] {
  const extenders = configuration.maps('extenders').map((entry) => readExtender(entry, spelling));
  if (extenders.length > extenderCountMax) {
    throw configuration.fault('extenders', `more than ${extenderCountMax}`);
  }
  if (extenders.filter(({ bindVerb }) => bindVerb).length > 1) {
    throw configuration.fault('extenders', 'only one extender can implement bind');
  }
  return extenders;
}

function readExtender(entry: ConfigurationMap, spelling: ExtenderSpelling): ExtenderOptions {
  const prioritizeVerb = entry.text('prioritizeVerb');
  const weight = entry.integer('weight', 0, 1_000_000) ?? 0;
  if (prioritizeVerb && weight === 0) {
    throw entry.fault('weight', 'must be positive if prioritizeVerb is set');
  }
  const managed = entry.maps('managedResources').map(managedResource);
  const tls = tlsOf(entry, spelling);
  const options = {
    urlPrefix: urlPrefix(entry, tls !== undefined),
    filterVerb: entry.text('filterVerb'),
    preemptVerb: entry.text('preemptVerb'),
    prioritizeVerb,
    bindVerb: entry.text('bindVerb'),
    weight: weight || 1,
    timeoutMs: timeoutMs(entry, spelling),
    nodeCacheCapable: entry.boolean('nodeCacheCapable') ?? false,
    ignorable: entry.boolean('ignorable') ?? false,
    managedResources: managed.map(({ name }) => name),
    ignoredResources: managed.filter(({ isIgnored }) => isIgnored).map(({ name }) => name),
    ...(tls && { tls }),
  };
  entry.finish();
  return options;
}

function urlPrefix(entry: ConfigurationMap, isTls: boolean): string {
  const text = entry.text('urlPrefix') ?? '';
  if (!URL.canParse(text)) throw entry.fault('urlPrefix', `${text || 'empty'} is not a URL`);
  const url = new URL(text);
  if (!['http:', 'https:'].includes(url.protocol)) {
    throw entry.fault('urlPrefix', `${text} is not an http or https URL`);
  }
  if (isTls) url.protocol = 'https:';
  return url.href.replace(/\/+$/, '');
}

function timeoutMs(entry: ConfigurationMap, spelling: ExtenderSpelling): number {
  const ms = spelling.timeoutInNanos
    ? (entry.integer('httpTimeout', 0) ?? 0) / 1e6
    : (entry.durationMs('httpTimeout') ?? 0);
  return ms || extenderTimeoutMsDefault;
}

function managedResource(entry: ConfigurationMap) {
  const name = entry.text('name');
  const isIgnored = entry.boolean('ignoredByScheduler') ?? false;
  entry.finish();
  if (!name?.includes('/')) throw entry.fault('name', 'must be an extended resource: domain/name');
  return { name, isIgnored };
}

function tlsOf(entry: ConfigurationMap, { enableTls }: ExtenderSpelling): ExtenderTls | undefined {
  const isEnabled = entry.boolean(enableTls) ?? false;
  const config = entry.map('tlsConfig');
  const tls = {
    insecure: config?.boolean('insecure') ?? false,
    serverName: config?.text('serverName'),
    certFile: config?.text('certFile'),
    keyFile: config?.text('keyFile'),
    caFile: config?.text('caFile'),
    certData: config?.text('certData'),
    keyData: config?.text('keyData'),
    caData: config?.text('caData'),
  };
  config?.finish();
  return isEnabled || config ? tls : undefined;
}
