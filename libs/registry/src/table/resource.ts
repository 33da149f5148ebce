/**
 * A kind as the registry works with it: its definition with everything that can be computed once,
 * such as key prefix and byte offsets. One `Resource` is one stored kind; a `ServedResource` is
 * that kind in one group and version of the interface. Invariant of stored bytes: they begin with
 * `storedHead`, the metadata follows and its first field is the resource version, so that items of
 * lists and the version are found by offset alone.
 */
import type { ApiObject, ResourceDefinition, ServedVersion, Verb } from '@orch/api';
import {
  type Codec,
  codecFor,
  type GroupKind,
  type GroupResource,
  type Shape,
  shapeOf,
} from '@orch/apimachinery';
import { dialect, type Features } from '@orch/component';
import { CustomCodec } from '../codec/custom-codec.js';
import { customPackage } from '../codec/custom-package.js';
import type { ObjectCodec } from '../codec/object-codec.js';

const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** `{"kind":"Pod","apiVersion":"v1",`: what comes before the metadata. */
export function headOf(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

export class Resource {
  readonly keyPrefix: string;
  readonly storedApiVersion: string;
  /** `*core.Pod`: the type of its objects, as metrics that dashboards know spell it. */
  readonly typeName: string;
  readonly storedHead: string;
  readonly storedHeadBytes: number;
  /** Up to and including the opening quote of the resource version. */
  readonly versionHead: string;
  /** Where the decimal version begins in stored bytes. */
  readonly revisionOffset: number;
  readonly verbs: ReadonlySet<string>;
  /**
   * As served, by apiVersion, those of a custom resource's other versions as well; filled in by the
   * table.
   */
  readonly versions = new Map<string, ServedResource>();

  constructor(readonly definition: ResourceDefinition) {
    const { stored, kind, plural } = definition;
    this.keyPrefix = `${stored.group}/${plural}/`;
    this.storedApiVersion = dialect().apiVersion(stored.group, stored.version);
    this.typeName = `*${stored.group}.${kind}`;
    this.storedHead = headOf(kind, this.storedApiVersion);
    this.storedHeadBytes = Buffer.byteLength(this.storedHead);
    this.versionHead = `${this.storedHead}"metadata":{"resourceVersion":"`;
    this.revisionOffset = Buffer.byteLength(this.versionHead);
    this.verbs = new Set(definition.verbs ?? allVerbs);
  }

  /** The codec of stored objects, for kinds with message descriptors. */
  get storedCodec(): Codec<ApiObject> {
    const { stored, kind } = this.definition;
    return codecFor<ApiObject>(`${stored.group}/${stored.version}.${kind}`);
  }

  /** Store key of an object. */
  key(namespace: string, name: string): string {
    return this.definition.namespaced
      ? `${this.keyPrefix}${namespace}/${name}`
      : `${this.keyPrefix}${name}`;
  }

  /** Prefix of all keys of a namespace, or of all when it is empty. */
  prefix(namespace: string): string {
    return this.definition.namespaced && namespace !== ''
      ? `${this.keyPrefix}${namespace}/`
      : this.keyPrefix;
  }

  /** Name of the object under a key of this resource. */
  nameOfKey(key: string): string {
    return key.slice(key.lastIndexOf('/') + 1);
  }

  /** Namespace of the object under a key of this resource; empty for cluster-scoped ones. */
  namespaceOfKey(key: string): string {
    if (!this.definition.namespaced) return '';
    return key.slice(this.keyPrefix.length, key.lastIndexOf('/'));
  }
}

export class ServedResource {
  readonly definition: ResourceDefinition;
  /** Group on the wire. */
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  readonly groupResource: GroupResource;
  /** As errors of invalid objects name it. */
  readonly groupKind: GroupKind;
  readonly codec: ObjectCodec;
  /** Stored bytes are what this version sends, but perhaps for the head. */
  readonly sameShape: boolean;
  /** Stored bytes are sent as they are. */
  readonly isStored: boolean;
  /**
   * What conversion gives is yet to be brought into normal form: fields are written at other times.
   */
  private readonly isOtherShape: boolean;
  /** Head of an object in this version. */
  readonly head: Buffer;
  readonly listHead: string;
  /** `core/v1`: the folder of its messages in the schema. */
  readonly schemaPackage: string;
  /** For clients of a deprecated version; empty otherwise. */
  readonly deprecationWarning: string;
  private empty: ApiObject | undefined;

  constructor(
    readonly resource: Resource,
    readonly served: ServedVersion,
    readonly features: Features,
  ) {
    const { definition } = resource;
    this.definition = definition;
    this.group = dialect().group(served.group);
    this.version = served.version;
    this.apiVersion = dialect().apiVersion(served.group, served.version);
    this.kind = definition.kind;
    this.listKind = definition.listKind ?? `${definition.kind}List`;
    this.groupResource = { group: this.group, resource: definition.plural };
    this.groupKind = {
      group: dialect().group(definition.errorGroup ?? served.group),
      kind: definition.kind,
    };
    this.schemaPackage = definition.custom
      ? customPackage(this.group, this.version)
      : `${served.group}/${served.version}`;
    this.codec = definition.custom
      ? new CustomCodec(served, this.apiVersion, definition.kind)
      : codecFor<ApiObject>(`${this.schemaPackage}.${definition.kind}`);
    this.sameShape = served.fromStored === undefined;
    this.isStored = this.sameShape && this.apiVersion === resource.storedApiVersion;
    this.isOtherShape =
      !definition.custom && !this.sameShape && this.apiVersion !== resource.storedApiVersion;
    this.head = Buffer.from(headOf(definition.kind, this.apiVersion));
    this.deprecationWarning = this.warning();
    this.listHead = `{"kind":${JSON.stringify(this.listKind)},"apiVersion":${JSON.stringify(this.apiVersion)},"metadata":{"resourceVersion":"`;
  }

  /** What apply needs to know of it. */
  get shape(): Shape {
    return this.served.schema?.shape ?? shapeOf(this.codec.name);
  }

  /** An object with only the fields that are always set. Shared: must not be modified. */
  get emptyObject(): ApiObject {
    this.empty ??= this.codec.fromJson({ kind: this.kind, apiVersion: this.apiVersion });
    return this.empty;
  }

  private warning(): string {
    const { deprecation, warning } = this.served;
    if (!deprecation) return warning ?? '';
    const { since, unavailableFrom, use } = deprecation;
    const end = unavailableFrom === undefined ? '' : `, unavailable in v${unavailableFrom}+`;
    const instead =
      use === undefined ? '' : `; use ${dialect().apiVersion(use.group, use.version)} ${use.kind}`;
    return `${this.apiVersion} ${this.kind} is deprecated in v${since}+${end}${instead}`;
  }

  /** From this version's shape to the stored one. May reuse `object`. */
  toStored(object: ApiObject): ApiObject {
    const converted = this.served.toStored ? this.served.toStored(object) : object;
    const stored = this.isOtherShape ? this.resource.storedCodec.fromJson(converted) : converted;
    stored.apiVersion = this.resource.storedApiVersion;
    stored.kind = this.kind;
    return stored;
  }

  /** From the stored shape to this version's. Never changes `object`. */
  fromStored(object: ApiObject): ApiObject {
    if (this.isStored) return object;
    const converted = this.served.fromStored ? this.served.fromStored(object) : { ...object };
    const shown = this.isOtherShape ? this.codec.fromJson(converted) : converted;
    shown.apiVersion = this.apiVersion;
    shown.kind = this.kind;
    return shown;
  }
}
