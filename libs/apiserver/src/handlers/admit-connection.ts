/**
 * Admission of a connection to a pod, node or service: plugins see the options of the connection as
 * its object, before the server reads the target and connects to it.
 */
import type { ApiObject } from '@orch/api';
import { badRequest, deepCopy, deepEqual, quote, schemaType } from '@orch/apimachinery';
import type { Admission, ServedResource } from '@orch/registry';
import { Query } from '../http/query.js';
import type { RequestContext } from '../http/request-context.js';
import { pathBelow } from '../proxy/target-name.js';
import { actionView } from '../request/admit-action.js';

type Options = ApiObject & Record<string, unknown>;

/**
 * `kind`: of the options, in the core group. Parameters that a plugin changes are those of the
 * connection. Throws StatusError to reject it.
 */
export async function admitConnection(
  context: RequestContext,
  admission: Admission,
  served: ServedResource,
  kind: string,
): Promise<void> {
  const { namespace, name, subresource } = context.info;
  const object = optionsOf(context, kind);
  const request = {
    operation: 'CONNECT' as const,
    ...{ served, namespace, name, subresource, object, context },
    old: undefined,
    review: actionView(object, `core/v1.${kind}`),
  };
  const sent = deepCopy(object);
  await admission.mutate(request);
  await admission.validate(request);
  if (!deepEqual(object, sent)) context.query = new Query(parametersOf(object, kind).toString());
}

const fieldsOf = (kind: string) => schemaType(`core/v1.${kind}`).fields;

/** Options of the query; that of a proxy is the path below it. */
function optionsOf({ info, query }: RequestContext, kind: string): Options {
  const options: Options = { kind, apiVersion: 'v1' };
  if (info.subresource === 'proxy') {
    return { ...options, path: pathBelow(info.path, info.rest.length) };
  }
  for (const field of fieldsOf(kind)) {
    if (!query.has(field.name)) continue;
    if (field.cardinality === 'list') {
      const values = query.all(field.name);
      options[field.name] = field.kind === 'string' ? values : values.map(integer);
    } else {
      options[field.name] = field.kind === 'bool' ? query.flag(field.name) : query.get(field.name);
    }
  }
  return options;
}

function integer(text: string): number {
  if (/^-?\d{1,10}$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
}

function parametersOf(options: Options, kind: string): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const { name } of fieldsOf(kind)) {
    const value = options[name];
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) {
      parameters.append(name, String(each));
    }
  }
  return parameters;
}
