/** Chance that can be repeated: the same seed gives the same numbers on every machine. */

export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A stream of its own, so that one consumer's draws do not move another's. */
  fork(name: string): Random {
    let hash = 0x811c9dc5;
    for (const character of name) {
      hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
    }
    return new Random((hash ^ Math.imul(this.integer(0x7fff_ffff), 0x9e3779b1)) >>> 0);
  }

  /** Uniform in [0, 1): mulberry32. */
  readonly next = (): number => {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };

  /** Whole, in [0, below). */
  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.integer(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** Spread over magnitudes: small values are as likely as large ones. */
  magnitude(low: number, high: number): number {
    return low * (high / low) ** this.next();
  }

  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += this.integer(16).toString(16);
    return text;
  }
}
