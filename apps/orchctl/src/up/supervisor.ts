/**
 * Starts the processes of a cluster in order, waits until all are ready, keeps them running, and ends
 * them in reverse order. The API servers come first, together; when all are ready the others follow.
 */
import { type Clock, sleep } from '@orch/component';
import type { ProcessSpec } from './components.js';
import { logCheckPeriodMs, readyTimeoutMs } from './limits.js';
import { logPath, rotateLog } from './log-files.js';
import { ManagedProcess } from './managed-process.js';
import { unhealthyReason, unreadyNodes } from './probe.js';
import { type ChildRecord, recordChildren } from './run-state.js';
import { tearDown } from './teardown.js';
import { UserError } from './user-error.js';

export interface SupervisorParts {
  readonly dataDirectory: string;
  readonly specs: readonly ProcessSpec[];
  /** Of one API server. */
  readonly apiPort: number;
  readonly authorityPem: string;
  readonly adminToken: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly report: (text: string) => void;
}

const probePauseMs = 100;

export class Supervisor {
  private readonly processes: readonly ManagedProcess[];
  private readonly stopped = new AbortController();

  constructor(private readonly parts: SupervisorParts) {
    const { dataDirectory, clock, random, report } = parts;
    const changed = () => recordChildren(dataDirectory, this.records());
    this.processes = parts.specs.map(
      (spec) => new ManagedProcess(spec, { dataDirectory, clock, random, report, changed }),
    );
  }

  /** Resolves when everything is ready. Throws `UserError` with the reason when it does not come so far. */
  async start(): Promise<void> {
    const first = this.processes.filter(({ spec }) => spec.component === 'apiserver');
    const others = this.processes.filter(({ spec }) => spec.component !== 'apiserver');
    for (const group of [first, others]) {
      for (const member of group) member.start();
      await Promise.all(group.map((member) => this.untilHealthy(member)));
    }
    await this.untilNodesReady();
    for (const member of this.processes) member.startAgainFromNowOn();
    this.watchLogs();
  }

  /**
   * Ends everything in reverse order, the API servers at last and together: one by one, all that come after
   * the majority has ended would wait for it in turn.
   */
  async stop(): Promise<void> {
    this.stopped.abort(new Error('stopped'));
    const isServer = ({ spec }: ManagedProcess) => spec.component === 'apiserver';
    for (const member of [...this.processes].reverse()) {
      if (!isServer(member)) await this.end(member);
    }
    await Promise.all(this.processes.filter(isServer).map((member) => this.end(member)));
  }

  private async end(member: ManagedProcess): Promise<void> {
    const inOrder = await member.stop();
    const { spec } = member;
    if (!inOrder && spec.hasTeardown) await tearDown(this.parts.dataDirectory, spec);
  }

  killNow(): void {
    for (const member of this.processes) member.killNow();
  }

  private records(): ChildRecord[] {
    return this.processes.map(
      ({ spec: { component, hasTeardown, name, main, args }, identity }) => ({
        component,
        hasTeardown,
        name,
        main,
        args,
        ...(identity && { identity }),
      }),
    );
  }

  private async untilHealthy(member: ManagedProcess): Promise<void> {
    const { authorityPem, report, clock } = this.parts;
    const { name, probe } = member.spec;
    const startedMs = clock.monotonicMs();
    await this.until(
      () => unhealthyReason({ ...probe, authorityPem }),
      [member],
      `${name} did not become ready`,
    );
    report(`${name} is ready after ${((clock.monotonicMs() - startedMs) / 1000).toFixed(1)} s`);
  }

  private async untilNodesReady(): Promise<void> {
    const agents = this.processes.filter(({ spec }) => spec.nodeName !== undefined);
    const names = agents.flatMap(({ spec }) => spec.nodeName ?? []);
    if (names.length === 0 || !this.processes.some(({ spec }) => spec.component === 'apiserver')) {
      return;
    }
    const { apiPort: port, authorityPem, adminToken: token } = this.parts;
    await this.until(
      () => unreadyNodes({ port, authorityPem, token }, names),
      agents,
      'the nodes did not become Ready',
    );
  }

  /** Asks until there is no reason left; fails at the deadline or when one of `members` has ended. */
  private async until(
    reason: () => Promise<string | undefined>,
    members: readonly ManagedProcess[],
    failure: string,
  ): Promise<void> {
    const { clock } = this.parts;
    const deadlineMs = clock.monotonicMs() + readyTimeoutMs;
    for (;;) {
      this.stopped.signal.throwIfAborted();
      for (const member of members) {
        if (member.startFailure !== undefined) {
          throw this.startError(member, `${member.spec.name} ${member.startFailure}`);
        }
      }
      const why = await reason();
      if (why === undefined) return;
      if (clock.monotonicMs() > deadlineMs) {
        const seconds = readyTimeoutMs / 1000;
        throw this.startError(members[0], `${failure} within ${seconds} s: ${why}`);
      }
      await sleep(probePauseMs, this.stopped.signal, clock);
    }
  }

  private startError(member: ManagedProcess | undefined, text: string): UserError {
    if (!member) return new UserError(text);
    const log = logPath(this.parts.dataDirectory, member.spec.name);
    return new UserError(
      [`${text}; its log ${log} ends with:`, ...member.lastLines()].join('\n  '),
    );
  }

  private watchLogs(): void {
    const check = () => {
      if (this.stopped.signal.aborted) return;
      for (const { spec } of this.processes) rotateLog(this.parts.dataDirectory, spec.name);
      this.parts.clock.setTimer(logCheckPeriodMs, check);
    };
    check();
  }
}
