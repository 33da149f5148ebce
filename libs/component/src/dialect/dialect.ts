/**
 * Every identifier of the interface that holds the brand word, in one table: the only file that knows
 * either brand. A process speaks one dialect, chosen before the first identifier is asked for and
 * never changed after; module-level constants must therefore not call `dialect()`.
 * Source: the brand table of the interface's facts.
 */

export const dialectNames = ['orch', 'kubernetes'] as const;
export type DialectName = (typeof dialectNames)[number];

interface Brand {
  /** Suffix of API groups. */
  readonly groupDomain: string;
  /** Domain of labels, annotations, taints, finalizers, types and signers. */
  readonly keyDomain: string;
  /** The word alone: the API's own service, the namespace finalizer, `vnd.` media type, `x-` headers. */
  readonly word: string;
  /** Start of system names: namespaces, users, components. */
  readonly systemPrefix: string;
  /** Start of OpenAPI model names. */
  readonly openapiPrefix: string;
}

const brands: Record<DialectName, Brand> = {
  orch: {
    groupDomain: 'orch.io',
    keyDomain: 'orch.io',
    word: 'orch',
    systemPrefix: 'orch-',
    openapiPrefix: 'io.orch.',
  },
  kubernetes: {
    groupDomain: 'k8s.io',
    keyDomain: 'kubernetes.io',
    word: 'kubernetes',
    systemPrefix: 'kube-',
    openapiPrefix: 'io.k8s.',
  },
};

/** Heads of the API groups that carry the brand's domain; all others are written bare. */
const brandedGroupHeads: ReadonlySet<string> = new Set([
  'admission',
  'admissionregistration',
  'apiextensions',
  'apiregistration',
  'audit',
  'authentication',
  'authorization',
  'certificates',
  'client.authentication',
  'coordination',
  'custom.metrics',
  'discovery',
  'events',
  'flowcontrol.apiserver',
  'imagepolicy',
  'internal.apiserver',
  'meta',
  'metrics',
  'networking',
  'node',
  'rbac.authorization',
  'scheduling',
  'storage',
]);

export class Dialect {
  readonly systemNamespace: string;
  readonly publicNamespace: string;
  readonly nodeLeaseNamespace: string;
  /** The word alone: name of the API's own service and of the namespace finalizer. */
  readonly word: string;
  readonly protobufMediaType: string;
  /** Group in `as=Table;g=...` parameters and in the apiVersion of tables and metadata views. */
  readonly metaGroup: string;
  readonly openapiPrefix: string;
  /** Group suffix and label domain, for the few places that test membership of either. */
  readonly groupDomain: string;
  readonly keyDomain: string;

  constructor(
    readonly name: DialectName,
    private readonly brand: Brand = brands[name],
  ) {
    this.systemNamespace = this.systemName('system');
    this.publicNamespace = this.systemName('public');
    this.nodeLeaseNamespace = this.systemName('node-lease');
    this.word = brand.word;
    this.protobufMediaType = `application/vnd.${brand.word}.protobuf`;
    this.metaGroup = `meta.${brand.groupDomain}`;
    this.openapiPrefix = brand.openapiPrefix;
    this.groupDomain = brand.groupDomain;
    this.keyDomain = brand.keyDomain;
  }

  /** Group name on the wire for a head: `core` -> ``, `apps` -> `apps`, `events` -> `events.<domain>`. */
  group(head: string): string {
    if (head === 'core') return '';
    return brandedGroupHeads.has(head) ? `${head}.${this.brand.groupDomain}` : head;
  }

  /** The head of a group name on the wire; the name itself when it carries no brand. */
  groupHead(group: string): string {
    if (group === '') return 'core';
    const suffix = `.${this.brand.groupDomain}`;
    if (!group.endsWith(suffix)) return group;
    const head = group.slice(0, -suffix.length);
    return brandedGroupHeads.has(head) ? head : group;
  }

  /** `apiVersion` for a head and version: `v1`, `apps/v1`, `events.<domain>/v1`. */
  apiVersion(head: string, version: string): string {
    return head === 'core' ? version : `${this.group(head)}/${version}`;
  }

  /** A label, annotation, taint or finalizer: `key('hostname')`, `key('not-ready', 'node')`. */
  key(name: string, subdomain?: string): string {
    const domain = this.brand.keyDomain;
    return `${subdomain ? `${subdomain}.` : ''}${domain}/${name}`;
  }

  /** A system name: component, namespace or config map, such as `systemName('scheduler')`. */
  systemName(name: string): string {
    return `${this.brand.systemPrefix}${name}`;
  }

  /** A response header of our own: `header('pf-flowschema-uid')`. Lower case. */
  header(name: string): string {
    return `x-${this.brand.word}-${name}`;
  }

  /** A protocol of streams: `streamProtocol('v4.channel')`, `streamProtocol('portforward')`. */
  streamProtocol(head: string): string {
    return `${head}.${this.brand.groupDomain}`;
  }

  /** An extension key of a schema: `extension('list-type')`. */
  extension(name: string): string {
    return `x-${this.brand.word}-${name}`;
  }
}

let selected: DialectName = 'orch';
let current: Dialect | undefined;

/** The process's dialect; the first call fixes it. */
export function dialect(): Dialect {
  current ??= new Dialect(selected);
  return current;
}

/** Chooses the dialect. Throws if another one has already been used. */
export function selectDialect(name: DialectName): void {
  if (current && current.name !== name) {
    throw new Error(`dialect ${current.name} is already in use, ${name} was chosen too late`);
  }
  selected = name;
}
