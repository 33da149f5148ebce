/** Names of the schema packages of custom resources: `custom:stable.example.com/v1`. */

export const customPackagePrefix = 'custom:';

/** The package of a custom resource's version. `group`: on the wire. */
export function customPackage(group: string, version: string): string {
  return `${customPackagePrefix}${group}/${version}`;
}
