/**
 * Tells servers that stand behind this one by whose authority clients are who they say: the authorities of
 * all servers of the cluster together, in a config map that a role of its own lets them read.
 */
import { X509Certificate } from 'node:crypto';
import { dialect } from '@orch/component';
import type { ConfigMap } from '@orch/types/core/v1';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import { changeObject, ensureObject } from './ensure-object.js';

export const authenticationConfigMap = 'extension-apiserver-authentication';
const authoritiesKey = 'client-ca-file';

/** Without authorities there is nothing to tell. */
export async function keepAuthenticationConfigMap(
  parts: RegistryParts,
  context: WriteContext,
  clientAuthoritiesPem: string | undefined,
): Promise<void> {
  if (clientAuthoritiesPem === undefined) return;
  const { systemNamespace: namespace } = dialect();
  const told = (held: string) => joinAuthorities(clientAuthoritiesPem, held, parts.clock.nowMs());
  const isNew = await ensureObject(parts, context, 'configmaps', namespace, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: authenticationConfigMap, namespace },
    data: { [authoritiesKey]: told('') },
  } as ConfigMap);
  if (isNew) return;
  const target = { plural: 'configmaps', groupHead: 'core', namespace };
  await changeObject(
    parts,
    context,
    { ...target, name: authenticationConfigMap },
    (configMap: ConfigMap) => {
      configMap.data = {
        ...configMap.data,
        [authoritiesKey]: told(configMap.data?.[authoritiesKey] ?? ''),
      };
    },
  );
}

/** `own`, and what of `held` is not among them and still valid, as one PEM text. */
export function joinAuthorities(own: string, held: string, nowMs: number): string {
  const ownCertificates = certificatesOf(own);
  const others = certificatesOf(held).filter((pem) => isValid(pem, nowMs));
  return [...new Set([...ownCertificates, ...others])].map((pem) => `${pem}\n`).join('');
}

function certificatesOf(pem: string): string[] {
  return (
    pem
      .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
      ?.map((one) => one.replaceAll('\r', '')) ?? []
  );
}

/** What cannot be read was written by somebody else and is of no use to anybody. */
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
