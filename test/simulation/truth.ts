/**
 * The applied events of all replicas together. Each replica reports an event when it applies it;
 * the first report becomes the truth, and all others must agree. So two replicas that apply
 * different events at one place are detected in the step in which it happens.
 */
import type { LoggedEvent, Violation } from '../history/history.js';

export class Truth {
  readonly violations: Violation[] = [];
  /** Called once, and so is the other. */
  onNextLeader: ((member: string) => void) | undefined;
  onNextCandidate: ((member: string) => void) | undefined;
  private readonly commits = new Map<number, Buffer>();
  private readonly events = new Map<number, string>();
  private readonly leaders = new Map<number, string>();
  private readonly byRevision = new Map<number, readonly LoggedEvent[]>();

  get revision(): number {
    return this.byRevision.size;
  }

  get termCount(): number {
    return this.leaders.size;
  }

  stands(member: string): void {
    const told = this.onNextCandidate;
    this.onNextCandidate = undefined;
    told?.(member);
  }

  leads(member: string, term: number): void {
    this.agree('two leaders of one term', this.leaders, term, member, member);
    const told = this.onNextLeader;
    this.onNextLeader = undefined;
    told?.(member);
  }

  /** An entry that a replica takes for committed. */
  committed(member: string, index: number, command: Buffer): void {
    const first = this.commits.get(index);
    if (!first) this.commits.set(index, command);
    else if (!first.equals(command)) {
      const detail = `${index}: ${member} has ${show(command)}, first was ${show(first)}`;
      this.violations.push({ rule: 'different entries at one index', detail });
    }
  }

  /** The events of one revision, whole. */
  applied(member: string, revision: number, events: readonly LoggedEvent[]): void {
    const content = JSON.stringify(events);
    if (!this.events.has(revision)) this.byRevision.set(revision, events);
    this.agree('different events of one revision', this.events, revision, content, member);
  }

  /** Everything that was applied, in order of revisions. */
  complete(): LoggedEvent[] {
    return [...this.byRevision]
      .sort(([left], [right]) => left - right)
      .flatMap(([, events]) => events);
  }

  private agree<Place>(
    rule: string,
    known: Map<Place, string>,
    place: Place,
    value: string,
    member: string,
  ): void {
    const first = known.get(place);
    if (first === undefined) known.set(place, value);
    else if (first !== value) {
      this.violations.push({
        rule,
        detail: `${place}: ${member} has ${value}, first was ${first}`,
      });
    }
  }
}

function show(command: Buffer): string {
  return `${command.length} bytes ${command.toString('hex', 0, 40)}`;
}
