/** The explanation of one pod: the scheduler serves it in JSON, `orchctl` prints it. */
export interface NodeReport {
  readonly name: string;
  /** The weighted sum of the scores; absent for refused nodes and if no scores were needed. */
  readonly total?: number;
  /** By plugin, from 0 to 100, before the weight. */
  readonly scores?: Readonly<Record<string, number>>;
  readonly refusals?: readonly { readonly plugin: string; readonly reasons: readonly string[] }[];
  /** What would have to change on this node: `needs 200m more cpu`. Only for pending pods. */
  readonly changes?: readonly string[];
}

export interface PodReport {
  /** `namespace/name`. */
  readonly pod: string;
  readonly uid: string;
  readonly schedulerName: string;
  /** `binding`: the node is chosen and the binding not yet confirmed. */
  readonly state: 'bound' | 'binding' | 'pending';
  readonly node?: string;
  /** The node on which a preemption makes room. */
  readonly nominatedNode?: string;
  /** Where a pending pod is in the queue, with its attempts and its next one. */
  readonly queue?: string;
  /** The time of the decision, or of this evaluation. */
  readonly evaluatedAt?: string;
  readonly nodeCount?: number;
  /** Weight by score plugin. */
  readonly weights?: Readonly<Record<string, number>>;
  /** Groups of nodes with what would have to change there, the fewest changes first. */
  readonly changes?: readonly string[];
  /** The examined nodes: feasible ones with the best score first, then refused ones. */
  readonly nodes: readonly NodeReport[];
  /** Limits of this explanation. */
  readonly notes: readonly string[];
}
