/**
 * Limits the rate of writes of events, so that a client that reports too many does not fill the
 * store: on this server, and per namespace, user, or source and object. Each server counts on its
 * own.
 */
import type { ApiObject } from '@orch/api';
import { tooManyRequests } from '@orch/apimachinery';
import { type Clock, TokenBucket } from '@orch/component';
import { LRUCache } from 'lru-cache';
import { rulePluginWith } from '../../kind-rules.js';
import { type PluginDeclaration, unavailable } from '../../plugin.js';
import type { AdmissionContext, AdmissionRule, AdmissionTarget } from '../../rule.js';
import { type EventLimit, type EventLimitType, readEventLimits } from './configuration.js';

const identity = { name: 'EventRateLimit', isDefault: false };

/** An event of either group, in the stored shape. */
interface StoredEvent extends ApiObject {
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly involvedObject?: Readonly<Record<string, string | undefined>>;
}

const objectFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion'];

const keyOf: Record<
  EventLimitType,
  (target: AdmissionTarget, context: AdmissionContext) => string
> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: (_target, { user }) => user.name,
  SourceAndObject({ object }) {
    const { source, involvedObject, reportingComponent, reportingInstance } = object as StoredEvent;
    return [
      source?.component || reportingComponent,
      source?.host || reportingInstance,
      ...objectFields.map((field) => involvedObject?.[field]),
    ]
      .map((text) => text ?? '')
      .join('');
  },
};

/** One limit and the buckets of its keys; the least recently used ones are forgotten. */
class LimitEnforcer {
  private readonly buckets: LRUCache<string, TokenBucket>;

  constructor(
    private readonly limit: EventLimit,
    private readonly clock: Clock,
  ) {
    this.buckets = new LRUCache({ max: limit.type === 'Server' ? 1 : limit.cacheSize });
  }

  /** The reason for the rejection; undefined if the write is within the limit. */
  rejection(target: AdmissionTarget, context: AdmissionContext): string | undefined {
    const { type, qps, burst } = this.limit;
    const key = keyOf[type](target, context);
    const nowMs = this.clock.monotonicMs();
    let bucket = this.buckets.get(key);
    if (!bucket) {
      bucket = new TokenBucket(qps, burst, nowMs);
      this.buckets.set(key, bucket);
    }
    if (bucket.take(nowMs)) return undefined;
    return `limit reached on type ${type} for key ${key}`;
  }
}

export function eventRateRule(limits: readonly EventLimit[], clock: Clock): AdmissionRule {
  const enforcers = limits.map((limit) => new LimitEnforcer(limit, clock));
  return {
    ...identity,
    kinds: ['core/events'],
    operations: ['CREATE', 'UPDATE'],

    validate(target, context) {
      if (context.dryRun) return;
      // Every limit counts the write, so that none is bypassed by another.
      const reasons = enforcers
        .map((enforcer) => enforcer.rejection(target, context))
        .filter((reason) => reason !== undefined);
      if (reasons.length === 0) return;
      const text = reasons.length === 1 ? reasons[0] : `[${[...new Set(reasons)].join(', ')}]`;
      throw tooManyRequests(`Too many requests: ${text}`);
    },
  };
}

export const eventRateLimit: PluginDeclaration = {
  ...unavailable(identity.name, 'it needs a configuration in --admission-control-config-file'),
  configured(document) {
    const limits = readEventLimits(document);
    return rulePluginWith(identity, ({ clock }) => eventRateRule(limits, clock));
  },
};
