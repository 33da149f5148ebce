/** Indexers that several users of informers share. */
import { controllerOf } from '@orch/apimachinery';
import type { ApiObject } from '../objects.js';
import type { Indexer } from './lister.js';

export const byNamespace: Indexer<ApiObject> = (object) => [object.metadata?.namespace ?? ''];

/** By the uid of the controlling owner. */
export const byControllerUid: Indexer<ApiObject> = (object) => {
  const controller = controllerOf(object);
  return controller ? [controller.uid] : [];
};
