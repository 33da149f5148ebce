import type { WatchEvent } from '@orch/store';
import { expect, it } from 'vitest';
import { joinedEvents } from './joined-events.js';

const eventsOf = (...revisions: number[]) =>
  revisions.map((revision) => ({ revision }) as WatchEvent);

it('joins the same lists once for all watches and changes none of them', () => {
  const [waiting, first, second] = [eventsOf(1), eventsOf(2, 3), eventsOf(4)];
  const joined = joinedEvents(waiting, first);
  expect(joined).toEqual(eventsOf(1, 2, 3));
  expect(joinedEvents(waiting, first)).toBe(joined);
  expect(joinedEvents(joined, second)).toEqual(eventsOf(1, 2, 3, 4));
  expect(joinedEvents(waiting, second)).toEqual(eventsOf(1, 4));
  expect([waiting, first, joined].map(({ length }) => length)).toEqual([1, 2, 3]);
});

it('copies no list if the other one is empty', () => {
  const events = eventsOf(1);
  expect(joinedEvents([], events)).toBe(events);
  expect(joinedEvents(events, [])).toBe(events);
});
