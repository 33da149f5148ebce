import { expect, it } from 'vitest';
import { podInfo } from '../model/pod-info.js';
import { info } from '../testing/builders.js';
import { Nominations } from './nominations.js';

it('retains a nomination until the server reports it, then follows the server', () => {
  const nominations = new Nominations();
  const pod = info();
  const reported = podInfo({ ...pod.pod, status: { nominatedNodeName: 'b' } });
  nominations.set(pod, 'a');
  nominations.update(pod, pod);
  expect(nominations.on('a')).toEqual([pod]);
  nominations.update(reported, pod);
  expect([nominations.nodeOf(pod.uid), nominations.on('a')]).toEqual(['b', []]);
  nominations.update(pod, reported);
  expect(nominations.size).toBe(0);
});
