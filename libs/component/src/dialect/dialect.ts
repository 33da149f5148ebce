/**
 * Every identifier of the interface that contains the brand word, in one table; no other file
 * contains either brand. A process uses one dialect, selected before the first identifier is read
 * and never changed afterwards; module-level constants must therefore not call `dialect()`.
 * Source: the brand table of the recorded fixtures.
 */

export const dialectNames = ['orch', 'kubernetes'] as const;
export type DialectName = (typeof dialectNames)[number];

interface Brand {
  /** Suffix of API groups. */
  readonly groupDomain: string;
  /** Domain of labels, annotations, taints, finalizers, types and signers. */
  readonly keyDomain: string;
  /**
   * The word alone: the API's own service, the namespace finalizer, `vnd.` media type, `x-`
   * headers.
   */
  readonly word: string;
  /** Start of system names: namespaces, users, components. */
  readonly systemPrefix: string;
  /** Start of OpenAPI model names. */
  readonly openapiPrefix: string;
  /** Group and kind of the configuration file of the scheduler. */
  readonly schedulerConfiguration: { readonly group: string; readonly kind: string };
}

const brands: Record<DialectName, Brand> = {
  orch: {
    groupDomain: 'orch.io',
    keyDomain: 'orch.io',
    word: 'orch',
    systemPrefix: 'orch-',
    openapiPrefix: 'io.orch.',
    schedulerConfiguration: { group: 'scheduler.config.orch.io', kind: 'SchedulerConfiguration' },
  },
  kubernetes: {
    groupDomain: 'k8s.io',
    keyDomain: 'kubernetes.io',
    word: 'kubernetes',
    systemPrefix: 'kube-',
    openapiPrefix: 'io.k8s.',
    schedulerConfiguration: {
      group: 'kubescheduler.config.k8s.io',
      kind: 'KubeSchedulerConfiguration',
    },
  },
};

/** Heads of the API groups that end in the brand's domain; all others have no domain. */
const brandedGroupHeads: ReadonlySet<string> = new Set([
  'abac.authorization',
  'admission',
  'admissionregistration',
  'apiextensions',
  'apiregistration',
  'apiserver',
  'apiserver.config',
  'audit',
  'authentication',
  'authorization',
  'certificates',
  'client.authentication',
  'coordination',
  'custom.metrics',
  'discovery',
  'eventratelimit.admission',
  'events',
  'external.metrics',
  'flowcontrol.apiserver',
  'imagepolicy',
  'internal.apiserver',
  'meta',
  'metrics',
  'networking',
  'node',
  'podtolerationrestriction.admission',
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
  /** Group and kind of the configuration file of the scheduler. */
  readonly schedulerConfiguration: { readonly group: string; readonly kind: string };
  /** Group suffix and label domain, for code that checks whether a name belongs to either. */
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
    this.schedulerConfiguration = brand.schedulerConfiguration;
    this.groupDomain = brand.groupDomain;
    this.keyDomain = brand.keyDomain;
  }

  /**
   * Returns the group name on the wire: `core` -> ``, `apps` -> `apps`, `events` ->
   * `events.<domain>`.
   */
  group(head: string): string {
    if (head === 'core') return '';
    return brandedGroupHeads.has(head) ? `${head}.${this.brand.groupDomain}` : head;
  }

  /** Returns the head of a group name on the wire; the name itself if it contains no brand. */
  groupHead(group: string): string {
    if (group === '') return 'core';
    const suffix = `.${this.brand.groupDomain}`;
    if (!group.endsWith(suffix)) return group;
    const head = group.slice(0, -suffix.length);
    return brandedGroupHeads.has(head) ? head : group;
  }

  /** Returns the `apiVersion` for a head and a version: `v1`, `apps/v1`, `events.<domain>/v1`. */
  apiVersion(head: string, version: string): string {
    return head === 'core' ? version : `${this.group(head)}/${version}`;
  }

  /**
   * Returns a label, annotation, taint or finalizer: `key('hostname')`, `key('not-ready', 'node')`.
   */
  key(name: string, subdomain?: string): string {
    const domain = this.brand.keyDomain;
    return `${subdomain ? `${subdomain}.` : ''}${domain}/${name}`;
  }

  /**
   * Returns the name of a component, system namespace or config map, such as
   * `systemName('scheduler')`.
   */
  systemName(name: string): string {
    return `${this.brand.systemPrefix}${name}`;
  }

  /**
   * Returns the name of a branded response header, in lower case: `header('pf-flowschema-uid')`.
   */
  header(name: string): string {
    return `x-${this.brand.word}-${name}`;
  }

  /**
   * Returns the name of a stream protocol: `streamProtocol('v4.channel')`,
   * `streamProtocol('portforward')`.
   */
  streamProtocol(head: string): string {
    return `${head}.${this.brand.groupDomain}`;
  }

  /** Returns an extension key of a schema: `extension('list-type')`. */
  extension(name: string): string {
    return `x-${this.brand.word}-${name}`;
  }
}

let selected: DialectName = 'orch';
let current: Dialect | undefined;

/** Returns the dialect of the process; the first call fixes it. */
export function dialect(): Dialect {
  current ??= new Dialect(selected);
  return current;
}

/** Selects the dialect. Throws if another one is already in use. */
export function selectDialect(name: DialectName): void {
  if (current && current.name !== name) {
    throw new Error(
      `dialect ${current.name} is already in use; select ${name} before the first use`,
    );
  }
  selected = name;
}
