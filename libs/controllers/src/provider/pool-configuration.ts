/**
 * The configuration file of the provider `pool`:
 *
 *   addresses: [192.168.10.0/28, 192.168.10.32-192.168.10.47]
 *   machines:
 *     - name: worker-1
 *     - name: worker-2
 *       shutDown: true
 */
import { readConfigurationFile } from '@orch/apimachinery';
import { errorMessage, UsageError } from '@orch/component';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsNotEmpty,
  IsOptional,
  IsString,
  validateSync,
} from 'class-validator';
import { limits } from '../limits.js';
import { type AddressRange, parseAddressRange } from './address-pool.js';

class PoolDocument {
  /** IPv4 CIDRs and ranges of the addresses of load balancers. */
  @IsArray()
  @IsString({ each: true })
  @ArrayMaxSize(limits.poolRangeCountMax)
  addresses: string[] = [];

  /** All machines of the cluster; nodes of other machines are deleted when they are not ready. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(limits.poolMachineCountMax)
  @ArrayUnique((machine: { name?: string } | null) => machine?.name)
  machines?: unknown[];
}

class MachineDocument {
  /** The name of the node. */
  @IsString()
  @IsNotEmpty()
  name!: string;

  /** Whether the machine is switched off on purpose and will return. */
  @IsBoolean()
  shutDown = false;
}

export interface PoolConfiguration {
  readonly ranges: readonly AddressRange[];
  /** Whether each machine is shut down, by name; undefined if the file lists no machines. */
  readonly machines: ReadonlyMap<string, boolean> | undefined;
}

/** Reads the file. Throws `UsageError`. */
export function readPoolConfiguration(file: string): PoolConfiguration {
  const fail = (reason: string, cause: unknown) =>
    new UsageError(`--cloud-config: ${reason}`, { cause });
  let document: unknown;
  try {
    document = readConfigurationFile(file);
  } catch (error) {
    throw fail(errorMessage(error), error);
  }
  try {
    return configurationOf(document);
  } catch (error) {
    throw fail(`${file}: ${errorMessage(error)}`, error);
  }
}

/** Throws an error with the first mistake of the document. */
export function configurationOf(document: unknown): PoolConfiguration {
  const { addresses, machines } = checked(new PoolDocument(), document, 'the document');
  const ranges = addresses.map((text, index) => {
    const range = parseAddressRange(text);
    if (range) return range;
    throw new Error(
      `addresses[${index}]: want an IPv4 CIDR or a range such as 192.0.2.1-192.0.2.9, got ${text}`,
    );
  });
  const count = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  if (count > limits.poolAddressCountMax) {
    throw new Error(`addresses: at most ${limits.poolAddressCountMax} are possible, got ${count}`);
  }
  const checkedMachines = machines?.map((machine, index) =>
    checked(new MachineDocument(), machine, `machines[${index}]`),
  );
  return {
    ranges,
    machines:
      checkedMachines && new Map(checkedMachines.map(({ name, shutDown }) => [name, shutDown])),
  };
}

/** Assigns the fields of `value` and validates them. Unknown fields are errors. */
function checked<T extends object>(target: T, value: unknown, place: string): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${place} is not a map`);
  }
  Object.assign(target, value);
  const [error] = validateSync(target, { whitelist: true, forbidNonWhitelisted: true });
  if (error) throw new Error(`${place}: ${Object.values(error.constraints ?? {}).join(', ')}`);
  return target;
}
