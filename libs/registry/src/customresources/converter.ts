/** Turns objects of one version of a custom resource into those of another. */
import type { ApiObject, CustomKind } from '@orch/api';
import { definitionChanged } from '../storage/entry-codec.js';
import type { ServedResource } from '../table/resource.js';

export interface Converter {
  /**
   * New objects in `apiVersion`, in the order of `objects`; takes ownership of its input. Returns a
   * promise if a webhook is called; it rejects with StatusError.
   */
  convert(
    objects: readonly ApiObject[],
    apiVersion: string,
    deadlineMs: number,
  ): readonly ApiObject[] | Promise<readonly ApiObject[]>;
}

/** Versions that differ in nothing but their name. */
export const renaming: Converter = {
  convert(objects, apiVersion) {
    for (const object of objects) object.apiVersion = apiVersion;
    return objects;
  },
};

/** How the objects of a kind are converted. */
export type ConverterFactory = (kind: CustomKind) => Converter;

export interface CustomConversionDependencies {
  readonly definitions: {
    definition(name: string): { readonly kind: CustomKind } | undefined;
  };
  readonly converterFor: ConverterFactory;
}

/**
 * Converts an object of a custom resource to another of its versions; takes ownership of it.
 * Rejects with 503 while the definition changes.
 */
export function customConversion({ definitions, converterFor }: CustomConversionDependencies) {
  return async (
    object: ApiObject,
    target: ServedResource,
    deadlineMs: number,
  ): Promise<ApiObject> => {
    const definition = definitions.definition(target.definition.custom?.name ?? '');
    if (!definition) throw definitionChanged();
    const { apiVersion } = target;
    const [converted] = await converterFor(definition.kind).convert(
      [object],
      apiVersion,
      deadlineMs,
    );
    return converted ?? object;
  };
}
