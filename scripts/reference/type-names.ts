/** Names of types and files in pages and in the schema. */
import type { TypeName } from '@orch/apimachinery';

/** The type of a kind in one version. */
export function typeNameOf(
  { group, version }: { readonly group: string; readonly version: string },
  kind: string,
): TypeName {
  return `${group}/${version}.${kind}`;
}

/** `HorizontalPodAutoscaler` -> `horizontal-pod-autoscaler`, `CSIDriver` -> `csi-driver`. */
export function fileNameOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}
