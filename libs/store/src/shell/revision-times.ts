/** Which revision the store had at which time, sampled: what `revisionBefore` answers from. */
import { REVISION_SAMPLE_MS, REVISION_SAMPLES_MAX } from '../limits.js';
import type { Revision } from '../versioned-store.js';

interface Sample {
  readonly atMs: number;
  /** The newest revision at that moment. */
  revision: Revision;
}

export class RevisionTimes {
  #samples: Sample[] = [];

  /** Called as time passes and revisions come; keeps one sample each `REVISION_SAMPLE_MS`. */
  note(nowMs: number, revision: Revision): void {
    const last = this.#samples.at(-1);
    if (last && (last.revision === revision || nowMs - last.atMs < REVISION_SAMPLE_MS)) return;
    this.#samples.push({ atMs: nowMs, revision });
    if (this.#samples.length > REVISION_SAMPLES_MAX) this.#samples.shift();
  }

  /** The newest revision that was there at `timeMs` or before; 0 when none is known to have been. */
  before(timeMs: number): Revision {
    let low = 0;
    let high = this.#samples.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#samples[middle]!.atMs <= timeMs) low = middle + 1;
      else high = middle;
    }
    return this.#samples[low - 1]?.revision ?? (0 as Revision);
  }
}
