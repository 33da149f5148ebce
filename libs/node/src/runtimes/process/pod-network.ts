/**
 * Addresses for pods. `BridgeNetwork` gives each sandbox a network namespace of its own, wired by a pair
 * of virtual interfaces to one bridge of the node; the host reaches pods, and pods the host, through the
 * bridge's address. `LoopbackNetwork` only hands out addresses; a pod then listens on the counterpart in
 * 127/8 of its own, as endpoints may not be loopback addresses. Which sandbox has which address is kept by the runtime and given back at start. Packets leave towards other machines as they are:
 * routes and address translation between machines are the operator's.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Logger } from '@orch/component';
import type { SandboxId } from '../container-runtime.js';
import { AddressPool, loopbackAddress } from './address-pool.js';
import { runHelper } from './helper-command.js';

export interface PodNetwork {
  /** Makes what all pods share, and takes over the sandboxes that have an address. */
  start(addresses: ReadonlyMap<SandboxId, string>): Promise<void>;
  /** Gives the sandbox an address of its own. */
  attach(id: SandboxId): Promise<string>;
  /** Whether it still has what `attach` gave it; not so after a reboot. */
  isAttached(id: SandboxId): boolean;
  detach(id: SandboxId, address: string): Promise<void>;
  /** Where a pod with this address is reached on the host, and what it has to listen on. */
  localAddress(address: string): string;
  /** Path of the network namespace its containers join; absent when they stay in the host's. */
  namespacePath(id: SandboxId): string | undefined;
  /** Removes what `start` made. */
  teardown(): Promise<void>;
}

const namespaceDirectory = '/run/netns';
const forwardingFile = '/proc/sys/net/ipv4/ip_forward';

export class BridgeNetwork implements PodNetwork {
  private readonly pool: AddressPool;
  /** Interface names hold 15 characters: a short digest keeps clusters and nodes apart. */
  readonly bridge: string;
  private readonly digest: string;

  constructor(
    cidr: string,
    /** Tells this node of this cluster from all others on the machine. */
    owner: string,
    private readonly logger: Logger,
  ) {
    this.pool = new AddressPool(cidr);
    this.digest = createHash('sha256').update(owner).digest('hex').slice(0, 8);
    this.bridge = `pods-${this.digest}`;
  }

  async start(addresses: ReadonlyMap<SandboxId, string>): Promise<void> {
    if (!existsSync(`/sys/class/net/${this.bridge}`)) {
      await runHelper('ip', ['link', 'add', this.bridge, 'type', 'bridge']);
    }
    const own = `${this.pool.gateway}/${this.pool.prefixLength}`;
    await runHelper('ip', ['addr', 'replace', own, 'dev', this.bridge]);
    await runHelper('ip', ['link', 'set', this.bridge, 'up']);
    this.allowForwarding();
    for (const [id, address] of addresses) {
      if (!this.pool.reserve(address)) {
        this.logger.warn(
          { sandbox: id, address },
          'address of a sandbox is outside of the pod CIDR',
        );
      }
    }
  }

  async attach(id: SandboxId): Promise<string> {
    const address = this.pool.allocate();
    const namespace = this.namespaceName(id);
    const host = this.interfaceName(id);
    try {
      await runHelper(
        'ip',
        ['-batch', '-'],
        `netns add ${namespace}\n` +
          `link add ${host} type veth peer name eth0 netns ${namespace}\n` +
          `link set ${host} master ${this.bridge} up\n`,
      );
      await runHelper(
        'ip',
        ['-n', namespace, '-batch', '-'],
        'link set lo up\n' +
          `addr add ${address}/${this.pool.prefixLength} dev eth0\n` +
          'link set eth0 up\n' +
          `route add default via ${this.pool.gateway}\n`,
      );
      return address;
    } catch (error) {
      await this.detach(id, address);
      throw error;
    }
  }

  isAttached(id: SandboxId): boolean {
    return existsSync(`/sys/class/net/${this.interfaceName(id)}`);
  }

  async detach(id: SandboxId, address: string): Promise<void> {
    if (existsSync(`${namespaceDirectory}/${this.namespaceName(id)}`)) {
      await runHelper('ip', ['netns', 'delete', this.namespaceName(id)]);
    }
    // The interface goes with its namespace, but only after the last process in it; not later than now.
    if (this.isAttached(id)) await this.removeInterface(this.interfaceName(id));
    this.pool.release(address);
  }

  localAddress(address: string): string {
    return address;
  }

  namespacePath(id: SandboxId): string {
    return `${namespaceDirectory}/${this.namespaceName(id)}`;
  }

  async teardown(): Promise<void> {
    if (existsSync(`/sys/class/net/${this.bridge}`)) await this.removeInterface(this.bridge);
  }

  private async removeInterface(name: string): Promise<void> {
    try {
      await runHelper('ip', ['link', 'delete', name]);
    } catch (error) {
      if (existsSync(`/sys/class/net/${name}`)) throw error;
    }
  }

  /** Pods of one bridge reach those of another on this machine through the host. */
  private allowForwarding(): void {
    if (readFileSync(forwardingFile, 'utf8').trim() === '1') return;
    try {
      writeFileSync(forwardingFile, '1');
      this.logger.info({ file: forwardingFile }, 'IP forwarding switched on');
    } catch (error) {
      this.logger.warn(
        { err: error },
        'IP forwarding is off: pods of other bridges are out of reach',
      );
    }
  }

  private namespaceName(id: SandboxId): string {
    return `${this.bridge}-${id.slice(0, 12)}`;
  }

  private interfaceName(id: SandboxId): string {
    return `veth${this.digest.slice(0, 4)}${id.slice(0, 7)}`;
  }
}

export class LoopbackNetwork implements PodNetwork {
  private readonly pool: AddressPool;

  constructor(cidr: string) {
    this.pool = new AddressPool(cidr);
  }

  async start(addresses: ReadonlyMap<SandboxId, string>): Promise<void> {
    for (const address of addresses.values()) this.pool.reserve(address);
  }

  async attach(): Promise<string> {
    return this.pool.allocate();
  }

  isAttached(): boolean {
    return true;
  }

  async detach(_id: SandboxId, address: string): Promise<void> {
    this.pool.release(address);
  }

  localAddress(address: string): string {
    return loopbackAddress(address);
  }

  namespacePath(): undefined {
    return undefined;
  }

  async teardown(): Promise<void> {
    // Nothing is shared: addresses of 127/8 need no set-up.
  }
}
