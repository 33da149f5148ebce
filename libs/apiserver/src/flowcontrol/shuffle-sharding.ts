/**
 * Shuffle sharding: each flow is dealt a hand of a few queues, always the same. Two flows rarely share
 * the whole hand, so that a flow that fills its queues leaves others at least one.
 */
import { createHash } from 'node:crypto';

/** What a flow is dealt by: 64 bits of its schema's name and what tells it from others of the schema. */
export function flowHash(schemaName: string, distinguisher: string): bigint {
  return createHash('sha256')
    .update(schemaName)
    .update('\0')
    .update(distinguisher)
    .digest()
    .readBigUInt64LE();
}

/** `handSize` different numbers below `deckSize`; hashes spread evenly deal all hands alike. */
export function dealHand(hash: bigint, deckSize: number, handSize: number): number[] {
  const hand: number[] = [];
  // Ascending: the cards that are no longer in the deck.
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
