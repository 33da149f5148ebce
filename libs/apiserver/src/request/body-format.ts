/** The format of request bodies, from their content type. */
import { StatusError, unsupportedMediaType } from '@orch/apimachinery';
import { dialect, type Features } from '@orch/component';
import { acceptedTypes, type Format } from './accept.js';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

function bareType(header: string): string {
  const mark = header.indexOf(';');
  return (mark < 0 ? header : header.slice(0, mark)).trim().toLowerCase();
}

/** The format of a body; JSON without a content type. Throws 415. */
export function bodyFormat(contentType: string | undefined): Format {
  if (contentType === undefined || contentType === '') return 'json';
  const type = bareType(contentType);
  if (type === 'application/json') return 'json';
  if (type === 'application/yaml') return 'yaml';
  if (type === dialect().protobufMediaType) return 'protobuf';
  throw unsupportedMediaType(acceptedTypes());
}

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** The type of a patch. `isCustom`: custom resources have no strategic merge patch. Throws 415. */
export function patchType(
  contentType: string | undefined,
  features: Features,
  isCustom = false,
): PatchType {
  const isOffered = (type: PatchType) =>
    (type !== 'apply' || features.enabled('ServerSideApply')) &&
    !(isCustom && type === 'strategic');
  const type = patchTypes[bareType(contentType ?? '')];
  if (type && isOffered(type)) return type;
  if (isCustom) {
    const offered = Object.entries(patchTypes).filter(([, candidate]) => isOffered(candidate));
    throw unsupportedMediaType(offered.map(([name]) => name));
  }
  throw new StatusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: '415: Unsupported Media Type',
    details: {},
  });
}
