/**
 * Publishes how this server authenticates, for servers behind this one: the authorities of client
 * certificates of all servers of the cluster together, and the authenticating proxy, in a config
 * map that a dedicated role makes readable.
 */
import { X509Certificate } from 'node:crypto';
import { authenticationConfigMap, dialect } from '@orch/component';
import type { ConfigMap } from '@orch/types/core/v1';
import type { KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';

export interface PublishedAuthentication {
  readonly clientAuthoritiesPem: string | undefined;
  readonly proxy: PublishedProxy | undefined;
}

interface PublishedProxy {
  readonly authoritiesPem: string;
  readonly allowedNames: readonly string[];
  readonly userHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

type Data = NonNullable<ConfigMap['data']>;

/** Does nothing without authorities. */
export async function reconcileAuthenticationConfigMap(
  writer: SystemObjectsWriter,
  configMaps: KindName,
  published: PublishedAuthentication,
): Promise<void> {
  if (published.clientAuthoritiesPem === undefined && !published.proxy) return;
  const { systemNamespace: namespace } = dialect();
  const { clock } = writer.registry;
  const merged = (stored: Data) => publishedData(published, stored, clock.nowMs());
  const wanted: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: authenticationConfigMap, namespace },
    data: merged({}),
  };
  const isNew = await writer.ensure(configMaps, wanted);
  if (isNew) return;
  const key = { namespace, name: authenticationConfigMap };
  await writer.change(configMaps, key, (configMap: ConfigMap) => {
    configMap.data = { ...configMap.data, ...merged(configMap.data ?? {}) };
  });
}

/** The keys that this server publishes, with the authorities that others have stored. */
export function publishedData(
  { clientAuthoritiesPem, proxy }: PublishedAuthentication,
  stored: Data,
  nowMs: number,
): Data {
  const joined = (key: string, own: string) => ({
    [key]: joinAuthorities(own, stored[key] ?? '', nowMs),
  });
  return {
    ...(clientAuthoritiesPem !== undefined && joined('client-ca-file', clientAuthoritiesPem)),
    ...(proxy && {
      ...joined('requestheader-client-ca-file', proxy.authoritiesPem),
      'requestheader-allowed-names': JSON.stringify(proxy.allowedNames),
      'requestheader-username-headers': JSON.stringify(proxy.userHeaders),
      'requestheader-group-headers': JSON.stringify(proxy.groupHeaders),
      'requestheader-extra-headers-prefix': JSON.stringify(proxy.extraPrefixes),
    }),
  };
}

/** `own` and the valid certificates of `stored` that are not among them, as one PEM text. */
export function joinAuthorities(own: string, stored: string, nowMs: number): string {
  const ownCertificates = certificatesOf(own);
  const others = certificatesOf(stored).filter((pem) => isValid(pem, nowMs));
  return [...new Set([...ownCertificates, ...others])].map((pem) => `${pem}\n`).join('');
}

function certificatesOf(pem: string): string[] {
  return (
    pem
      .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
      ?.map((certificate) => certificate.replaceAll('\r', '')) ?? []
  );
}

/** An unreadable certificate is not valid: another writer stored it. */
function isValid(pem: string, nowMs: number): boolean {
  const certificate = parsed(pem);
  return certificate !== undefined && Date.parse(certificate.validTo) > nowMs;
}

function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
