/** Admission of an action: a create of a subresource that stores no object of its own. */
import { type ApiObject, jsonOf } from '@orch/api';
import { codecFor, type JsonObject, type TypeName } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Admission, ReviewedView, ServedResource } from '@orch/registry';
import type { RequestContext } from '../http/request-context.js';

export interface Action {
  /** The body of the request; admission may change it. */
  readonly object: ApiObject;
  /** `policy/v1beta1.Eviction` */
  readonly schemaType: TypeName;
}

/** Throws StatusError to reject the request. */
export async function admitAction(
  context: RequestContext,
  admission: Admission,
  served: ServedResource,
  { object, schemaType }: Action,
): Promise<void> {
  const { namespace, name, subresource } = context.info;
  const request = {
    operation: 'CREATE' as const,
    ...{ served, namespace, subresource, object, context },
    name: name || (object.metadata?.name ?? ''),
    old: undefined,
    review: actionView(object, schemaType),
  };
  await admission.mutate(request);
  await admission.validate(request);
}

/** The object itself, for webhooks. */
export function actionView(object: ApiObject, schemaType: TypeName): ReviewedView {
  const codec = codecFor<ApiObject>(schemaType);
  const dot = schemaType.lastIndexOf('.');
  const [groupHead = '', version = ''] = schemaType.slice(0, dot).split('/');
  const type = {
    apiVersion: dialect().apiVersion(groupHead, version),
    kind: schemaType.slice(dot + 1),
  };
  return {
    ...type,
    document: () => jsonOf({ ...object, ...type }),
    oldDocument: () => undefined,
    accept(document) {
      const changed = codec.fromJson(document);
      codec.setDefaults(changed);
      for (const name of Object.keys(object)) delete (object as JsonObject)[name];
      Object.assign(object, changed);
    },
  };
}
