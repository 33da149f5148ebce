/**
 * Shuffle sharding: each flow is always dealt the same hand of a few queues. Two flows rarely share
 * the whole hand, so that a flow that fills its queues leaves at least one to others.
 */
import { createHash } from 'node:crypto';

/** A 64-bit hash of the name of the schema and the distinguisher of the flow. */
export function flowHash(schemaName: string, distinguisher: string): bigint {
  return createHash('sha256')
    .update(schemaName)
    .update('\0')
    .update(distinguisher)
    .digest()
    .readBigUInt64LE();
}

/**
 * Returns `handSize` different numbers below `deckSize`. Evenly distributed hashes deal all hands
 * equally often.
 */
export function dealHand(hash: bigint, deckSize: number, handSize: number): number[] {
  const hand: number[] = [];
  // The cards already dealt, ascending.
  const dealt: number[] = [];
  let rest = hash;
  for (let size = deckSize; hand.length < handSize; size -= 1) {
    let card = Number(rest % BigInt(size));
    rest /= BigInt(size);
    let at = 0;
    for (; at < dealt.length && dealt[at]! <= card; at += 1) card += 1;
    dealt.splice(at, 0, card);
    hand.push(card);
  }
  return hand;
}
