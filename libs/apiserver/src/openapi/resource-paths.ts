/** The operations of a served resource, path by path, from the same tables that serve requests. */
import type { TypeName } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import type { Subresource } from '../handlers/subresources.js';
import { acceptedTypes } from '../request/accept.js';
import {
  capitalised,
  idOfVersion,
  type Operation,
  type PathOperations,
  tagOf,
} from './operations.js';
import {
  actionParameters,
  deleteParameters,
  getParameters,
  inNamespace,
  listParameters,
  logParameters,
  named,
  type Parameter,
  patchParameters,
  pretty,
  writeParameters,
} from './parameters.js';
import type { GroupVersionKind } from './schema-types.js';

const strategicType = 'application/strategic-merge-patch+json';
const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', strategicType];
const applyType = 'application/apply-patch+yaml';

const any = ['*/*'];
const statusType = 'meta/v1.Status';
const watchEventType = 'meta/v1.WatchEvent';

function streamTypes(): string[] {
  const { protobufMediaType } = dialect();
  return ['application/json;stream=watch', `${protobufMediaType};stream=watch`];
}

/**
 * Every path of the resource: collections, objects, subresources, then the older paths for watches.
 */
export function pathsOf(
  served: ServedResource,
  subresources: readonly Subresource[],
): PathOperations[] {
  return new ResourcePaths(served).all(subresources);
}

class ResourcePaths {
  private readonly base: string;
  private readonly version: string;
  private readonly scope: string;
  private readonly type: TypeName;
  private readonly listType: TypeName;
  private readonly kind: GroupVersionKind;
  private readonly tag: string;

  constructor(private readonly served: ServedResource) {
    const { apiVersion, group, version, kind, schemaPackage, listKind } = served;
    this.base = `/${group === '' ? 'api' : 'apis'}/${apiVersion}`;
    this.version = idOfVersion(served);
    this.scope = served.definition.namespaced ? 'Namespaced' : '';
    this.type = `${schemaPackage}.${kind}`;
    this.listType = `${schemaPackage}.${listKind}`;
    this.kind = { group, kind, version };
    this.tag = tagOf(served);
  }

  all(subresources: readonly Subresource[]): PathOperations[] {
    const { namespaced, plural } = this.served.definition;
    const home = namespaced ? '/namespaces/{namespace}' : '';
    const space = namespaced ? [inNamespace] : [];
    const name = named(this.kind.kind);
    const collection = `${this.base}${home}/${plural}`;
    const object = `${collection}/{name}`;
    const watched = `${this.base}/watch${home}/${plural}`;
    const everywhere: PathOperations[] = [
      this.path(`${this.base}/${plural}`, [], [this.list('ForAllNamespaces')]),
    ];
    const watchEverywhere = this.path(
      `${this.base}/watch/${plural}`,
      [],
      [this.watch('watchlist', 'ListForAllNamespaces', '')],
    );
    return [
      ...(namespaced ? everywhere : []),
      this.path(collection, space, [this.list(''), this.create(), this.deleteCollection()]),
      this.path(
        object,
        [...space, name],
        [this.get(), this.replace(), this.patch(), this.deleteOne()],
      ),
      ...subresources.map((subresource) =>
        this.path(
          `${object}/${subresource.name}`,
          [...space, name],
          this.subresourceOperations(subresource),
        ),
      ),
      ...(namespaced ? [watchEverywhere] : []),
      this.path(watched, space, [this.watch('watchlist', 'List', this.scope)]),
      this.path(`${watched}/{name}`, [...space, name], [this.watch('watch', '', this.scope)]),
    ].filter(({ operations }) => operations.length > 0);
  }

  private path(
    path: string,
    parameters: readonly Parameter[],
    operations: readonly (Operation | undefined)[],
  ): PathOperations {
    const present = operations.filter((operation) => operation !== undefined);
    return { path, parameters: [...parameters, pretty], operations: present };
  }

  private allows(verb: string): boolean {
    return this.served.resource.verbs.has(verb);
  }

  /** Custom resources have no protobuf form. */
  private formats(): string[] {
    const { protobufMediaType } = dialect();
    const all = acceptedTypes();
    if (!this.served.definition.custom) return all;
    return all.filter((type) => type !== protobufMediaType);
  }

  private operation(
    action: string,
    rest: Pick<Operation, 'method' | 'id' | 'description' | 'responses'> & Partial<Operation>,
  ): Operation {
    return {
      tag: this.tag,
      action,
      kind: this.kind,
      parameters: [],
      consumes: any,
      produces: this.formats(),
      ...rest,
    };
  }

  private list(suffix: string): Operation | undefined {
    if (!this.allows('list')) return undefined;
    const scope = suffix === '' ? this.scope : '';
    return this.operation('list', {
      method: 'get',
      id: `list${this.version}${scope}${this.kind.kind}${suffix}`,
      description: `list or watch objects of kind ${this.kind.kind}`,
      parameters: listParameters,
      produces: [...acceptedTypes(), ...streamTypes()],
      responses: { 200: this.listType },
    });
  }

  private watch(action: string, suffix: string, scope: string): Operation | undefined {
    if (!this.allows('watch')) return undefined;
    return this.operation(action, {
      method: 'get',
      id: `watch${this.version}${scope}${this.kind.kind}${suffix}`,
      description: `watch ${this.kind.kind}. Older form of the parameter watch.`,
      parameters: listParameters,
      produces: [...acceptedTypes(), ...streamTypes()],
      responses: { 200: watchEventType },
    });
  }

  private create(): Operation | undefined {
    if (!this.allows('create')) return undefined;
    return this.operation('post', {
      method: 'post',
      id: `create${this.version}${this.scope}${this.kind.kind}`,
      description: `create a ${this.kind.kind}`,
      parameters: writeParameters,
      body: { type: this.type, required: true },
      responses: { 200: this.type, 201: this.type, 202: this.type },
    });
  }

  private deleteCollection(): Operation | undefined {
    if (!this.allows('deletecollection')) return undefined;
    return this.operation('deletecollection', {
      method: 'delete',
      id: `delete${this.version}Collection${this.scope}${this.kind.kind}`,
      description: `delete the objects of kind ${this.kind.kind} that are selected`,
      parameters: [
        ...listParameters.filter(({ name }) => !watchOnly.has(name)),
        ...deleteParameters,
      ],
      body: { type: 'meta/v1.DeleteOptions', required: false },
      responses: { 200: statusType },
    });
  }

  private get(): Operation | undefined {
    return this.allows('get') ? this.read('', this.type, this.kind) : undefined;
  }

  private replace(): Operation | undefined {
    return this.allows('update') ? this.replacement('', this.type, this.kind) : undefined;
  }

  private patch(): Operation | undefined {
    return this.allows('patch') ? this.patching('', this.type, this.kind) : undefined;
  }

  private deleteOne(): Operation | undefined {
    if (!this.allows('delete')) return undefined;
    const response = this.served.definition.deleteReturnsObject ? this.type : statusType;
    return this.operation('delete', {
      method: 'delete',
      id: `delete${this.version}${this.scope}${this.kind.kind}`,
      description: `delete a ${this.kind.kind}`,
      parameters: deleteParameters,
      body: { type: 'meta/v1.DeleteOptions', required: false },
      responses: { 200: response, 202: response },
    });
  }

  /** Subresources with their own kind do not validate unknown fields. */
  private writeParametersOf({ kind }: GroupVersionKind): readonly Parameter[] {
    return kind === this.kind.kind ? writeParameters : actionParameters;
  }

  private read(part: string, type: TypeName | undefined, kind: GroupVersionKind): Operation {
    return this.operation('get', {
      method: 'get',
      id: `read${this.version}${this.scope}${this.kind.kind}${capitalised(part)}`,
      description: `read ${of(part)}the ${this.kind.kind}`,
      kind,
      parameters: getParameters,
      responses: { 200: type },
    });
  }

  private replacement(part: string, type: TypeName, kind: GroupVersionKind): Operation {
    return this.operation('put', {
      method: 'put',
      id: `replace${this.version}${this.scope}${this.kind.kind}${capitalised(part)}`,
      description: `replace ${of(part)}the ${this.kind.kind}`,
      kind,
      parameters: this.writeParametersOf(kind),
      body: { type, required: true },
      responses: { 200: type, 201: type },
    });
  }

  private patching(part: string, type: TypeName, kind: GroupVersionKind): Operation {
    return this.operation('patch', {
      method: 'patch',
      id: `patch${this.version}${this.scope}${this.kind.kind}${capitalised(part)}`,
      description: `change ${of(part)}the ${this.kind.kind}`,
      kind,
      parameters: patchParameters(this.writeParametersOf(kind)),
      body: { type: 'meta/v1.Patch', required: true },
      consumes: this.patchTypes(),
      responses: { 200: type, ...(part === '' && { 201: type }) },
    });
  }

  private patchTypes(): string[] {
    const { definition, features } = this.served;
    const plain = patchTypes.filter((type) => !definition.custom || type !== strategicType);
    return features.enabled('ServerSideApply') ? [...plain, applyType] : plain;
  }

  private subresourceOperations(subresource: Subresource): Operation[] {
    const { name, kind, from, verbs, longRunning } = subresource;
    const { group, version } = this.kind;
    const body = from
      ? { group: dialect().group(from.groupHead), kind, version: from.version }
      : { group, kind, version };
    if (longRunning) return this.streams(name, verbs, body);
    const home = from ? `${from.groupHead}/${from.version}` : this.served.schemaPackage;
    const type = `${home}.${kind}`;
    const operations: Operation[] = [];
    if (verbs.includes('get')) operations.push(this.read(name, type, body));
    if (verbs.includes('update')) operations.push(this.replacement(name, type, body));
    if (verbs.includes('patch')) operations.push(this.patching(name, type, body));
    if (verbs.includes('create')) operations.push(this.action(name, type, body));
    return operations;
  }

  private action(name: string, type: TypeName, kind: GroupVersionKind): Operation {
    return this.operation('post', {
      method: 'post',
      id: `create${this.version}${this.scope}${this.kind.kind}${capitalised(name)}`,
      description: `create ${of(name)}the ${this.kind.kind}`,
      kind,
      parameters: actionParameters,
      body: { type, required: true },
      responses: { 201: statusActions.has(name) ? statusType : type },
    });
  }

  /** Subresources that pass bytes through. */
  private streams(name: string, verbs: readonly string[], kind: GroupVersionKind): Operation[] {
    const parameters = name === 'log' ? logParameters : [];
    const produces = [name === 'log' ? 'text/plain' : '*/*'];
    const operations: Operation[] = [];
    if (verbs.includes('get')) {
      operations.push({ ...this.read(name, undefined, kind), parameters, produces });
    }
    if (verbs.includes('create')) {
      operations.push(
        this.operation('connect', {
          method: 'post',
          id: `connect${this.version}Post${this.scope}${this.kind.kind}${capitalised(name)}`,
          description: `open ${of(name)}the ${this.kind.kind}`,
          kind,
          parameters,
          produces,
          responses: { 200: undefined },
        }),
      );
    }
    return operations;
  }
}

/** Actions whose response is only a status. */
const statusActions: ReadonlySet<string> = new Set(['binding', 'eviction']);
const watchOnly: ReadonlySet<string> = new Set(['allowWatchBookmarks', 'watch']);

function of(part: string): string {
  return part === '' ? '' : `the ${part} of `;
}
