/** The order in which groups are listed: heads of groups, the most wanted first. */
export const groupOrder: readonly string[] = [
  'apiregistration',
  'apps',
  'events',
  'authentication',
  'authorization',
  'autoscaling',
  'batch',
  'certificates',
  'networking',
  'extensions',
  'policy',
  'rbac.authorization',
  'storage',
  'admissionregistration',
  'apiextensions',
  'scheduling',
  'coordination',
  'node',
  'discovery',
  'flowcontrol.apiserver',
  'internal.apiserver',
];

/** Versions, preferred first, of groups that list them in an order of their own. */
export const versionOrder: Readonly<Record<string, readonly string[]>> = {
  autoscaling: ['v1', 'v2beta1', 'v2beta2'],
};
