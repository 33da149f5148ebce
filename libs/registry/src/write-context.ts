/** The part of a request that a write depends on. The API server passes its one request context. */
import type { StrategyContext } from '@orch/api';

export interface WriteContext extends StrategyContext {
  /** The manager that owns the written fields. Undefined: the write tracks no field ownership. */
  readonly fieldManager: string | undefined;
  /** The object that the path of the request names; empty for a collection. */
  readonly pathName: string;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Texts for the client's `Warning` headers; writes append to them. */
  readonly warnings: string[];
  /** The field manager as the client named it; empty if it named none. */
  readonly sentFieldManager?: string;
  /** Writes of the server itself: a webhook must not prevent its start. */
  readonly bypassesWebhooks?: boolean;
  /** Whether the client requested a dry run, if `dryRun` does not say so. */
  readonly isSentDryRun?: boolean;
  /** Adds an annotation to the audit event of the request, if its level is at least `level`. */
  annotateAudit?(key: string, value: string, level: 'Metadata' | 'Request'): void;
}

/** The same request as a dry run, for admission that must have no side effects. */
export function asDryRun(context: WriteContext): WriteContext {
  const { now, user, features, requestVersion, fieldManager, pathName, deadlineMs, warnings } =
    context;
  const { sentFieldManager, dryRun } = context;
  return {
    now,
    user,
    dryRun: true,
    features,
    ...(requestVersion && { requestVersion }),
    fieldManager,
    pathName,
    deadlineMs,
    warnings,
    ...(sentFieldManager !== undefined && { sentFieldManager }),
    isSentDryRun: dryRun,
    annotateAudit: (key, value, level) => context.annotateAudit?.(key, value, level),
  };
}
