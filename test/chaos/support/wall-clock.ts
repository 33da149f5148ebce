/**
 * Shifts the wall clock of one server by an amount that can change; the monotonic clock is not
 * shifted.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChaosCluster, Member } from './chaos-cluster.js';

const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

export function fakeClockUnavailable(): string | undefined {
  return existsSync(library) ? undefined : 'needs libfaketime (Debian package faketime)';
}

export class WallClock {
  private constructor(private readonly file: string) {}

  /** Takes effect at the next start of the member. */
  static install({ directory }: ChaosCluster, member: Member): WallClock {
    const clock = new WallClock(join(directory, `${member.name}.clock`));
    clock.shift(0);
    member.env = {
      ...member.env,
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: clock.file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
    return clock;
  }

  shift(seconds: number): void {
    writeFileSync(this.file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  }
}
