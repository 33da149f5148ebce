/** A flow control with a manual clock and one small level, for tests. */
import { EventEmitter } from 'node:events';
import { Metrics } from '@orch/component';
import { ManualClock } from '@orch/raft';
import { authenticated, type User } from '@orch/security';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import type { FlowControlObjects } from '../flowcontrol/configuration.js';
import { FlowControl } from '../flowcontrol/flow-control.js';
import type { Seat } from '../http/request-gate.js';
import { parseRequestInfo } from '../http/request-info.js';
import { FlowControlMetrics } from '../observability/flow-control-metrics.js';
import { testContext } from './test-context.js';

const users = ['system:authenticated'];

export function level(
  name: string,
  shares: number,
  queues = 0,
  length = 2,
): PriorityLevelConfiguration {
  const queuing = { queues, handSize: Math.min(queues, 2), queueLengthLimit: length };
  const limitResponse = queues > 0 ? { type: 'Queue', queuing } : { type: 'Reject' };
  return {
    metadata: { name, uid: `uid of ${name}` },
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: shares, limitResponse } },
  };
}

export function schema(name: string, levelName: string, groups = users): FlowSchema {
  const all = ['*'];
  return {
    metadata: { name, uid: `uid of ${name}` },
    spec: {
      priorityLevelConfiguration: { name: levelName },
      matchingPrecedence: 100,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: groups.map((group) => ({ kind: 'Group', group: { name: group } })),
          resourceRules: [
            { verbs: all, apiGroups: all, resources: all, namespaces: all, clusterScope: true },
          ],
        },
      ],
    },
  };
}

/** `catch-all` has five shares of its own. */
export const small: FlowControlObjects = {
  levels: [level('small', 5, 4)],
  schemas: [schema('everybody', 'small')],
};

export class Bench {
  readonly clock = new ManualClock();
  readonly metrics = new Metrics();
  readonly control: FlowControl;

  /** `small` gets half of `seatCount` seats. */
  constructor(seatCount: number, objects = small) {
    const limits = { readOnly: seatCount - 1, mutating: 1 };
    this.control = new FlowControl({
      limits,
      requestTimeoutMs: 4_000,
      clock: this.clock,
      metrics: new FlowControlMetrics(this.metrics, limits, this.clock.monotonicMs()),
    });
    this.control.configure(objects);
  }

  enter(user: User | string, method = 'GET') {
    const response = Object.assign(new EventEmitter(), { destroyed: false });
    const context = testContext({} as never, response as never);
    const requester = typeof user === 'string' ? authenticated(user, '', []) : user;
    const info = parseRequestInfo(method, '/api/v1/namespaces/n/pods/p', false);
    const entered = this.control.enter(Object.assign(context, { info, user: requester }));
    return { entered, context, response };
  }

  now(user: string): Seat {
    const { entered } = this.enter(user);
    if (!entered || entered instanceof Promise) throw new Error('not admitted immediately');
    return entered;
  }

  waits(user: string) {
    const { entered, ...others } = this.enter(user);
    if (!(entered instanceof Promise)) throw new Error('does not wait');
    return { entered, ...others };
  }

  async series(): Promise<string[]> {
    const text = await this.metrics.render();
    return text.split('\n').filter((line) => line.startsWith('apiserver_flowcontrol_'));
  }
}
