/** The configuration of EventRateLimit: its limits. */
import { fieldError, fieldErrorMessage, path } from '@orch/apimachinery';
import { ValueError } from '@orch/component';
import {
  type ConfigurationDocument,
  checkedMap,
  checkedObject,
} from '../../configuration/document.js';
import { eventKeysDefault, eventKeysMax } from '../../limits.js';

export const eventLimitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
export type EventLimitType = (typeof eventLimitTypes)[number];

export interface EventLimit {
  readonly type: EventLimitType;
  /** Events per second. */
  readonly qps: number;
  readonly burst: number;
  /** Keys that are remembered. */
  readonly cacheSize: number;
}

/** Throws ValueError. */
export function readEventLimits(document: ConfigurationDocument): readonly EventLimit[] {
  const { limits = [] } = checkedObject(
    document,
    'Configuration',
    [['eventratelimit.admission', 'v1alpha1']],
    { limits: 'list' },
  );
  const list = limits as unknown[];
  const fieldPath = path('limits');
  const errors = list.length === 0 ? [fieldError.invalid(fieldPath, [], 'must not be empty')] : [];
  const read = list.map((limit, index) => {
    const at = fieldPath.index(index);
    const {
      type = '',
      qps = 0,
      burst = 0,
      cacheSize = 0,
    } = checkedMap(document, limit, at.toString(), {
      ...{ type: 'string', qps: 'number', burst: 'number', cacheSize: 'number' },
    });
    if (!(eventLimitTypes as readonly unknown[]).includes(type)) {
      errors.push(fieldError.notSupported(at.child('type'), type, [...eventLimitTypes].sort()));
    }
    for (const [name, value] of Object.entries({ burst, qps })) {
      if (!isCount(value) || value === 0) {
        errors.push(fieldError.invalid(at.child(name), value, 'must be positive'));
      }
    }
    if (!isCount(cacheSize)) {
      errors.push(fieldError.invalid(at.child('cacheSize'), cacheSize, 'must not be negative'));
    } else if (cacheSize > eventKeysMax) {
      const message = `must be at most ${eventKeysMax}`;
      errors.push(fieldError.invalid(at.child('cacheSize'), cacheSize, message));
    }
    return { type, qps, burst, cacheSize: cacheSize || eventKeysDefault } as EventLimit;
  });
  if (errors.length === 0) return read;
  throw new ValueError(`${document.file}: ${errors.map(fieldErrorMessage).join(', ')}`);
}

/** A 32-bit integer that is not negative. */
function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
}
