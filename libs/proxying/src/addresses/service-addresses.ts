/**
 * Assigns service addresses to a dummy interface of the proxy, so that connections to them reach
 * the proxy. Addresses of 127/8 need no interface. If the proxy is not permitted to create
 * interfaces, other addresses cannot be served; a warning is logged.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { errorMessage, KeyedMutex, type Logger } from '@orch/component';
import { ip } from '../commands/ip.js';

export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly code = 'address-unavailable';
}

export class ServiceAddresses {
  /** At most 15 characters. */
  readonly interfaceName: string;
  private readonly assigned = new Set<string>();
  /** Serializes the changes of each address. */
  private readonly mutex = new KeyedMutex();
  private unavailable: string | undefined;

  constructor(
    /** Identifies this proxy of this cluster on the machine. */
    owner: string,
    private readonly logger: Logger,
  ) {
    const digest = createHash('sha256').update(owner).digest('hex').slice(0, 8);
    this.interfaceName = `svc-${digest}`;
  }

  /** Creates the interface, if permitted, and reads its addresses. */
  async start(): Promise<void> {
    try {
      if (!existsSync(`/sys/class/net/${this.interfaceName}`)) await this.createInterface();
      await ip('link', 'set', this.interfaceName, 'up');
      const text = await ip('-o', '-4', 'addr', 'show', 'dev', this.interfaceName);
      for (const [, address] of text.matchAll(/ inet ([\d.]+)\//g)) this.assigned.add(address!);
      this.logger.info({ interface: this.interfaceName }, 'service addresses can be served');
    } catch (error) {
      this.unavailable = errorMessage(error).trim();
      this.logger.warn(
        { reason: this.unavailable },
        'cannot create the interface, only service addresses of 127/8 are served',
      );
    }
  }

  /** The addresses of the interface. */
  get addresses(): readonly string[] {
    return [...this.assigned];
  }

  /** Assigns the address. Rejects with `AddressError` if that is not possible. */
  async ensure(address: string): Promise<void> {
    if (address.startsWith('127.')) return;
    await this.mutex.run(address, async () => {
      if (this.assigned.has(address)) return;
      if (this.unavailable !== undefined) {
        throw new AddressError(`${address} cannot be served: ${this.unavailable}`);
      }
      await ip('addr', 'replace', `${address}/32`, 'dev', this.interfaceName);
      this.assigned.add(address);
    });
  }

  async release(address: string): Promise<void> {
    await this.mutex.run(address, async () => {
      if (!this.assigned.delete(address)) return;
      try {
        await ip('addr', 'del', `${address}/32`, 'dev', this.interfaceName);
      } catch (error) {
        // If the address still exists, the next start removes it.
        this.logger.warn({ err: error, address }, 'service address not removed');
      }
    });
  }

  async teardown(): Promise<void> {
    this.assigned.clear();
    if (existsSync(`/sys/class/net/${this.interfaceName}`)) {
      await ip('link', 'delete', this.interfaceName);
    }
  }

  /** Creates a dummy interface; if the kernel does not support it, a bridge without ports. */
  private async createInterface(): Promise<void> {
    try {
      await ip('link', 'add', this.interfaceName, 'type', 'dummy');
    } catch (error) {
      this.logger.debug({ err: error }, 'dummy interface not supported, creating a bridge');
      await ip('link', 'add', this.interfaceName, 'type', 'bridge');
    }
  }
}
