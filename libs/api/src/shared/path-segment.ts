/** Names that only have to fit into a path. */
import type { NameFormat } from '@orch/apimachinery';

export const pathSegmentName: NameFormat = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
};
