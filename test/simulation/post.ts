/**
 * Deliveries that the network itself would never make: misdirected messages, messages of unknown
 * members, and those of a release with other limits.
 */
import {
  asMemberId,
  asTerm,
  commandBytesMax,
  type ReplicatedLog,
  type Transport,
} from '@orch/raft';
import type { Random } from './random.js';
import type { SimLoop } from './sim-loop.js';

type Handlers = Parameters<Transport['start']>[1];
type Messages = Parameters<Handlers['onMessages']>[0];

/** The machine that a message is delivered to. */
export interface Machine {
  readonly clock: { readonly isPaused: boolean };
  /** Undefined while no process runs. */
  readonly log: ReplicatedLog | undefined;
  /** Undefined until the process has opened its store. */
  readonly store: object | undefined;
}

const lateMsMax = 5;
/** No process numbers a command so. */
const foreignCommandId = 0;
const strangerId = 'f'.repeat(16);
const termsAhead = 5;

export class Post {
  /** Share of the deliveries that come to another machine, too. */
  misroutedRate = 0;
  private readonly boxes = new Map<Machine, Handlers>();

  constructor(
    private readonly loop: SimLoop,
    private readonly random: Random,
  ) {}

  /** Whatever comes to the process of `node` comes by here from now on. */
  serve(node: Machine, transport: Transport): Transport {
    const start = transport.start.bind(transport);
    transport.start = (greeting, handlers) => {
      this.boxes.set(node, handlers);
      const onMessages = (messages: Messages) => {
        handlers.onMessages(messages);
        this.misroute(node, messages);
      };
      return start(greeting, { ...handlers, onMessages });
    };
    return transport;
  }

  /** Its process has ended. */
  forget(node: Machine): void {
    this.boxes.delete(node);
  }

  /** False: one of the two does not run. */
  forwardOversize(from: Machine, to: Machine): boolean {
    const box = this.boxes.get(to);
    const sender = from.log?.status();
    const receiver = to.log?.status();
    if (!box || !sender || !receiver || to.clock.isPaused) return false;
    const data = Buffer.alloc(commandBytesMax + 1);
    box.onMessages([
      {
        kind: 'proposeRequest',
        from: sender.self.id,
        to: receiver.self.id,
        term: sender.term,
        commands: [{ id: foreignCommandId, data }],
      },
    ]);
    return true;
  }

  /** A non-member, terms ahead, claims to follow a leader. False: `to` does not run. */
  answerAsStranger(to: Machine): boolean {
    const box = this.boxes.get(to);
    if (!box || !to.store || !to.log || to.clock.isPaused) return false;
    const receiver = to.log.status();
    box.onMessages([
      {
        kind: 'heartbeatResponse',
        from: asMemberId(strangerId),
        to: receiver.self.id,
        term: asTerm(receiver.term + termsAhead),
        context: 0,
        appliedIndex: receiver.appliedIndex,
        diskLatencyMs: 0,
      },
    ]);
    return true;
  }

  private misroute(from: Machine, messages: Messages): void {
    if (this.misroutedRate === 0 || !this.random.chance(this.misroutedRate)) return;
    const others = [...this.boxes.keys()].filter((node) => node !== from);
    if (others.length === 0) return;
    const to = this.random.pick(others);
    this.loop.after(this.random.between(0, lateMsMax), () => {
      if (!to.clock.isPaused) this.boxes.get(to)?.onMessages(messages);
    });
  }
}
