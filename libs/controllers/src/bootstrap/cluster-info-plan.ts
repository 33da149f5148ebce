/** Which signatures of the public cluster information are missing or stale. Pure. */
import type { ConfigMap } from '@orch/types/core/v1';

/** The key of the kubeconfig that is signed. */
export const kubeconfigKey = 'kubeconfig';
const signaturePrefix = 'jws-kubeconfig-';

/**
 * Returns the data with exactly these signatures, by token; undefined if the config map has them.
 */
export function signedData(
  { data = {} }: ConfigMap,
  signatures: ReadonlyMap<string, string>,
): Record<string, string> | undefined {
  const signed = Object.fromEntries([
    ...Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix)),
    ...[...signatures].map(([id, signature]) => [`${signaturePrefix}${id}`, signature]),
  ]);
  const keys = Object.keys(signed);
  const isSame =
    keys.length === Object.keys(data).length && keys.every((key) => data[key] === signed[key]);
  return isSame ? undefined : signed;
}
