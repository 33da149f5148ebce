/** The discovery document of one group version, as an aggregated API server sends it. Pure. */
import { isJsonObject } from '@orch/apimachinery';
import { aggregatedResourcesMax } from '../limits.js';

/** A resource or subresource in a discovery document. */
export interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

/** Returns the resources of the document. Throws an Error if it is not one of the group version. */
export function parseResourceList(document: unknown, groupVersion: string): ApiResource[] {
  if (!isJsonObject(document) || document.kind !== 'APIResourceList') {
    throw new Error('the document is not an APIResourceList');
  }
  if (document.groupVersion !== groupVersion) {
    throw new Error(`the document is of ${JSON.stringify(document.groupVersion)}`);
  }
  const resources = document.resources ?? [];
  if (!Array.isArray(resources)) throw new Error('resources is not a list');
  if (resources.length > aggregatedResourcesMax) {
    throw new Error(`the document lists more than ${aggregatedResourcesMax} resources`);
  }
  return resources.map(parseResource);
}

function parseResource(value: unknown, index: number): ApiResource {
  const invalid = (member: string) => new Error(`resources[${index}].${member} is not valid`);
  if (!isJsonObject(value)) throw new Error(`resources[${index}] is not an object`);
  const { name, kind, verbs, namespaced = false, singularName = '' } = value;
  const { group, version, shortNames, categories } = value;
  if (typeof name !== 'string' || name === '') throw invalid('name');
  if (typeof kind !== 'string' || kind === '') throw invalid('kind');
  if (typeof namespaced !== 'boolean') throw invalid('namespaced');
  if (typeof singularName !== 'string') throw invalid('singularName');
  if (!isTexts(verbs)) throw invalid('verbs');
  if (shortNames !== undefined && !isTexts(shortNames)) throw invalid('shortNames');
  if (categories !== undefined && !isTexts(categories)) throw invalid('categories');
  return {
    ...{ name, singularName, namespaced, kind, verbs },
    ...(typeof group === 'string' && { group }),
    ...(typeof version === 'string' && { version }),
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
  };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
