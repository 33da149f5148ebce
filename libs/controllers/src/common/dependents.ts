/** Finds the owner of an object, and the objects that an owner controls or could adopt. */
import { controllerOf } from '@orch/apimachinery';
import { type ApiObject, byControllerUid, type Indexer, type Informer, keyOf } from '@orch/client';

const controllerIndex = 'controllerUid';
const orphanIndex = 'orphanNamespace';

const orphanNamespaces: Indexer<ApiObject> = (object) =>
  controllerOf(object) ? [] : [object.metadata?.namespace ?? ''];

/** Adds the indexes that the functions below read. */
export function indexDependents<T extends ApiObject>(informer: Informer<T>): void {
  informer.addIndex(controllerIndex, byControllerUid);
  informer.addIndex(orphanIndex, orphanNamespaces);
}

/** Objects that the owner of this uid controls. */
export function dependentsOf<T extends ApiObject>(informer: Informer<T>, uid: string): T[] {
  return informer.lister.byIndex(controllerIndex, uid);
}

/** Objects of a namespace without a controller. */
export function orphansIn<T extends ApiObject>(informer: Informer<T>, namespace: string): T[] {
  return informer.lister.byIndex(orphanIndex, namespace);
}

/** Objects that `owner` controls, and objects in its namespace without a controller. */
export function claimCandidates<T extends ApiObject>(informer: Informer<T>, owner: ApiObject): T[] {
  const { uid = '', namespace = '' } = owner.metadata ?? {};
  return [...dependentsOf(informer, uid), ...orphansIn(informer, namespace)];
}

/** The cached owner that controls `dependent`. One of the same name with another uid does not. */
export function cachedOwner<T extends ApiObject>(
  owners: Informer<T>,
  ownerKind: string,
  dependent: ApiObject,
): T | undefined {
  const reference = controllerOf(dependent);
  if (reference?.kind !== ownerKind) return undefined;
  const owner = owners.lister.get(keyOf(dependent.metadata?.namespace, reference.name ?? ''));
  return reference.uid && owner?.metadata?.uid === reference.uid ? owner : undefined;
}
