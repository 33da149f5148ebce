/** Names that only have to be valid path segments. */
import type { NameFormat } from '@orch/apimachinery';

export const pathSegmentName: NameFormat = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
};
