/**
 * Quantities such as `100m`, `1.5Gi` or `1e3`: exact decimal arithmetic in nano units, and the
 * canonical text of the interface: no fraction, the largest suffix that yields a whole number,
 * suffixes of the format that was parsed. Precision beyond nano is rounded away from zero.
 */
import { quantityExponentMax, quantityLengthMax } from '../limits.js';

/** Kind of suffix: `Ki`, `k` or `e3`. */
export type QuantityFormat = 'binary' | 'decimal' | 'exponent';

/** A text that is not a quantity. The message has the wording of the interface. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const nanoDigits = 9;
const nano = 10n ** 9n;
const milli = 10n ** 6n;
/** Amounts below it have a canonical exponent that can be parsed again. */
const nanosBound = 10n ** BigInt(nanoDigits + quantityExponentMax + 1);
const int64Max = 2n ** 63n - 1n;
/** Numbers up to this length are not capped; longer ones are capped at the largest int64. */
const uncappedDigitCountMax = 18;

const pattern = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const decimalSuffixes = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const suffixOfDecimalExponent = new Map([...decimalSuffixes].map(([text, power]) => [power, text]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

export class Quantity {
  static readonly zero = new Quantity(0n, 'decimal');

  private constructor(
    /** The amount in units of 10^-9. */
    readonly nanos: bigint,
    readonly format: QuantityFormat,
  ) {}

  /** Throws QuantityError. Also parses JSON numbers. */
  static parse(input: string | number): Quantity {
    const text = String(input).trim();
    if (text.length > quantityLengthMax) throw wrongFormat();
    const match = pattern.exec(text);
    if (!match) throw wrongFormat();
    const number = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(match[1]!);
    const whole = number?.[2] ?? '';
    const fraction = number?.[3] ?? '';
    if (!number || whole + fraction === '') {
      throw new QuantityError('unable to parse numeric part of quantity');
    }
    const suffix = readSuffix(match[2]!);
    const digits = BigInt(whole + fraction);
    const scale = nanoDigits - fraction.length + (suffix.format === 'binary' ? 0 : suffix.power);
    const factor = suffix.format === 'binary' ? 1n << BigInt(suffix.power) : 1n;
    let nanos = shift(digits * factor, scale);
    const isLong = (whole + fraction).replace(/^0+/, '').length > uncappedDigitCountMax;
    if ((isLong || suffix.format === 'binary') && nanos > int64Max * nano) nanos = int64Max * nano;
    if (nanos >= nanosBound) throw wrongSuffix();
    return new Quantity(number[1] === '-' ? -nanos : nanos, suffix.format);
  }

  /** Whole units. */
  static of(units: bigint | number, format: QuantityFormat = 'decimal'): Quantity {
    return new Quantity(BigInt(units) * nano, format);
  }

  static ofMilli(milliUnits: bigint | number, format: QuantityFormat = 'decimal'): Quantity {
    return new Quantity(BigInt(milliUnits) * milli, format);
  }

  get isZero(): boolean {
    return this.nanos === 0n;
  }

  /** Keeps the format of the first one, unless that is zero. */
  add(other: Quantity): Quantity {
    return new Quantity(this.nanos + other.nanos, this.isZero ? other.format : this.format);
  }

  subtract(other: Quantity): Quantity {
    return new Quantity(this.nanos - other.nanos, this.isZero ? other.format : this.format);
  }

  /** Negative, zero or positive, as for sorting. */
  compare(other: Quantity): number {
    if (this.nanos === other.nanos) return 0;
    return this.nanos < other.nanos ? -1 : 1;
  }

  equals(other: Quantity): boolean {
    return this.nanos === other.nanos;
  }

  /** Whole units, rounded away from zero. */
  units(): bigint {
    return divideAway(this.nanos, nano);
  }

  /** Thousandths, rounded away from zero. */
  milliUnits(): bigint {
    return divideAway(this.nanos, milli);
  }

  /** The nearest number; for ratios and metrics, not for accounting. */
  toNumber(): number {
    return Number(this.nanos) / 1e9;
  }

  /** Rounds to thousandths, away from zero. */
  roundedToMilli(): Quantity {
    return new Quantity(this.milliUnits() * milli, this.format);
  }

  /** The canonical text. */
  toString(): string {
    if (this.isZero) return '0';
    const isWhole = this.nanos % nano === 0n;
    const units = this.nanos / nano;
    if (this.format === 'binary' && isWhole && (units >= 1024n || units <= -1024n)) {
      return binaryText(units);
    }
    return decimalText(this.nanos, this.format === 'exponent');
  }
}

/** The canonical text of a quantity. Throws QuantityError. */
export function canonicalQuantity(input: string | number): string {
  if (typeof input === 'string' && canonicalForm.test(input)) return input;
  return Quantity.parse(input).toString();
}

/** The most common texts that are already canonical: up to three digits and a suffix. */
const canonicalForm = /^(?:0|[1-9]\d{0,2}(?:[numkMGTPE]|[KMGTPE]i)?)$/;

function wrongFormat(): QuantityError {
  return new QuantityError(`quantities must match the regular expression '${pattern.source}'`);
}

function readSuffix(text: string): { format: QuantityFormat; power: number } {
  const decimal = decimalSuffixes.get(text);
  if (decimal !== undefined) return { format: 'decimal', power: decimal };
  const binary = binarySuffixes.indexOf(text);
  if (binary > 0) return { format: 'binary', power: binary * 10 };
  const exponent = /^[eE]([-+]?\d+)$/.exec(text);
  const power = exponent ? Number(exponent[1]) : Number.NaN;
  if (!(Math.abs(power) <= quantityExponentMax)) {
    throw wrongSuffix();
  }
  return { format: 'exponent', power };
}

function wrongSuffix(): QuantityError {
  return new QuantityError("unable to parse quantity's suffix");
}

/** `value * 10^power`, rounded up for negative powers; `value` must not be negative. */
function shift(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power);
  return divideAway(value, 10n ** BigInt(-power));
}

function divideAway(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

function binaryText(units: bigint): string {
  let mantissa = units;
  let index = 0;
  while (index < binarySuffixes.length - 1 && mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    index += 1;
  }
  return `${mantissa}${binarySuffixes[index]}`;
}

function decimalText(nanos: bigint, withExponent: boolean): string {
  let mantissa = nanos;
  let power = -nanoDigits;
  while (mantissa % 1000n === 0n && (withExponent || power < 18)) {
    mantissa /= 1000n;
    power += 3;
  }
  if (!withExponent) return `${mantissa}${suffixOfDecimalExponent.get(power)}`;
  return power === 0 ? `${mantissa}` : `${mantissa}e${power}`;
}
