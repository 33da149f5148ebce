/** What reading and writing objects needs from outside: the store, time, chance and the cluster's settings. */
import type { ClusterSettings, RequestContext } from '@orch/api';
import { formatTime } from '@orch/apimachinery';
import type { Clock, Features } from '@orch/component';
import type { VersionedStore } from '@orch/store';
import type { Admission } from '../admission/admission.js';
import type { User } from '../authentication/user.js';
import type { ClaimIndex } from './claims.js';
import type { ServedResource } from './resource.js';
import type { ResourceTable } from './resource-table.js';

export interface RegistryParts {
  readonly store: VersionedStore;
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly features: Features;
  readonly settings: ClusterSettings;
  readonly claims: ClaimIndex;
  readonly admission: Admission;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly newUid: () => string;
}

/** One request's share in a write. */
export interface WriteContext {
  readonly user: User;
  readonly dryRun: boolean;
  /** Who owns what is written; undefined where that is settled already, or not told at all. */
  readonly manager: string | undefined;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Texts for the client's `Warning` headers. */
  readonly warnings: string[];
}

/** Time left for a call to the store; at least one millisecond. */
export function timeLeftMs(parts: RegistryParts, deadlineMs: number): number {
  return Math.max(1, Math.ceil(deadlineMs - parts.clock.monotonicMs()));
}

/** `served`: the version the client writes in. */
export function requestContext(
  parts: RegistryParts,
  context: WriteContext,
  served: ServedResource,
): RequestContext {
  return {
    now: formatTime(parts.clock.nowMs()),
    user: context.user,
    dryRun: context.dryRun,
    features: parts.features,
    requestVersion: { group: served.served.group, version: served.version },
  };
}

/** A target of a write, with its key. */
export interface Target {
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
}
