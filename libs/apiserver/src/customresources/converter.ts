/** Turns objects of one version of a custom resource into those of another. */
import type { ApiObject, CustomKind } from '@orch/api';

export interface Converter {
  /**
   * New objects in `apiVersion`, in the order of `objects`; takes what it is given. A promise where
   * somebody else has to be asked, which rejects with StatusError.
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
export type ConverterOf = (kind: CustomKind) => Converter;
