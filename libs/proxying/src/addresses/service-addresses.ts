/**
 * Gives the addresses of services to this machine, on an interface of the proxy's own that leads nowhere:
 * who connects to one of them connects to the proxy. Addresses of 127/8 are the machine's anyway. Where
 * interfaces may not be made the other addresses cannot be served, and that is said.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { KeyedMutex, type Logger } from '@orch/component';
import { addressCommandTimeoutMs, addressOutputBytesMax } from '../limits.js';

const run = promisify(execFile);

export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly code = 'address-unavailable';
}

export class ServiceAddresses {
  /** Interface names hold 15 characters. */
  readonly interfaceName: string;
  private readonly held = new Set<string>();
  /** What is done to one address is done in the order in which it was asked for. */
  private readonly mutex = new KeyedMutex();
  private unavailable: string | undefined;

  constructor(
    /** Tells this proxy of this cluster from all others on the machine. */
    owner: string,
    private readonly logger: Logger,
  ) {
    const digest = createHash('sha256').update(owner).digest('hex').slice(0, 8);
    this.interfaceName = `svc-${digest}`;
  }

  /** Makes the interface, if that is permitted, and learns what it holds. */
  async start(): Promise<void> {
    try {
      if (!existsSync(`/sys/class/net/${this.interfaceName}`)) await this.makeInterface();
      await ip('link', 'set', this.interfaceName, 'up');
      const text = await ip('-o', '-4', 'addr', 'show', 'dev', this.interfaceName);
      for (const [, address] of text.matchAll(/ inet ([\d.]+)\//g)) this.held.add(address!);
      this.logger.info({ interface: this.interfaceName }, 'service addresses can be served');
    } catch (error) {
      this.unavailable = error instanceof Error ? error.message.trim() : String(error);
      this.logger.warn(
        { reason: this.unavailable },
        'only service addresses of 127/8 can be served: interfaces cannot be made',
      );
    }
  }

  /** Addresses the interface holds now. */
  get addresses(): readonly string[] {
    return [...this.held];
  }

  /** Throws `AddressError` if the machine cannot have it. */
  async ensure(address: string): Promise<void> {
    if (address.startsWith('127.')) return;
    await this.mutex.run(address, async () => {
      if (this.held.has(address)) return;
      if (this.unavailable !== undefined) {
        throw new AddressError(`${address} cannot be served: ${this.unavailable}`);
      }
      await ip('addr', 'replace', `${address}/32`, 'dev', this.interfaceName);
      this.held.add(address);
    });
  }

  async release(address: string): Promise<void> {
    await this.mutex.run(address, async () => {
      if (!this.held.delete(address)) return;
      try {
        await ip('addr', 'del', `${address}/32`, 'dev', this.interfaceName);
      } catch (error) {
        // If it is gone already all is well; if not, the next start removes it.
        this.logger.warn({ err: error, address }, 'service address not removed');
      }
    });
  }

  async teardown(): Promise<void> {
    this.held.clear();
    if (existsSync(`/sys/class/net/${this.interfaceName}`)) {
      await ip('link', 'delete', this.interfaceName);
    }
  }

  /** A dummy interface; where the kernel has none, a bridge without ports does the same. */
  private async makeInterface(): Promise<void> {
    try {
      await ip('link', 'add', this.interfaceName, 'type', 'dummy');
    } catch (error) {
      this.logger.debug({ err: error }, 'no dummy interface, taking a bridge');
      await ip('link', 'add', this.interfaceName, 'type', 'bridge');
    }
  }
}

async function ip(...args: string[]): Promise<string> {
  const { stdout } = await run('ip', args, {
    timeout: addressCommandTimeoutMs,
    maxBuffer: addressOutputBytesMax,
  });
  return stdout;
}
