/** Finding the objects that belong, or could belong, to a controller, without scanning a namespace. */
import { controllerOf } from '@orch/apimachinery';
import { type ApiObject, byControllerUid, type Indexer, type Informer } from '@orch/client';

const controllerIndex = 'controllerUid';
const orphanIndex = 'orphanNamespace';

const orphanNamespaces: Indexer<ApiObject> = (object) =>
  controllerOf(object) ? [] : [object.metadata?.namespace ?? ''];

export function indexOwned<T extends ApiObject>(informer: Informer<T>): void {
  informer.addIndex(controllerIndex, byControllerUid);
  informer.addIndex(orphanIndex, orphanNamespaces);
}

/** Those that `owner` controls and those in its namespace that nothing controls. */
export function candidatesOf<T extends ApiObject>(informer: Informer<T>, owner: ApiObject): T[] {
  const { uid = '', namespace = '' } = owner.metadata ?? {};
  return [...controlledBy(informer, uid), ...informer.lister.byIndex(orphanIndex, namespace)];
}

export function controlledBy<T extends ApiObject>(informer: Informer<T>, uid: string): T[] {
  return informer.lister.byIndex(controllerIndex, uid);
}
