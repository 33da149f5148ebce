/** Samples of the store's revision over time, for `revisionBefore`. */
import { revisionSampleMs, revisionSamplesMax } from '../limits.js';
import { noRevision, type Revision } from '../versioned-store.js';

interface Sample {
  readonly atMs: number;
  /** The newest revision at that time. */
  revision: Revision;
}

export class RevisionTimes {
  private samples: Sample[] = [];

  /** Called as time and revisions advance; stores one sample per `revisionSampleMs`. */
  note(nowMs: number, revision: Revision): void {
    const last = this.samples.at(-1);
    if (last && (last.revision === revision || nowMs - last.atMs < revisionSampleMs)) return;
    this.samples.push({ atMs: nowMs, revision });
    if (this.samples.length > revisionSamplesMax) this.samples.shift();
  }

  /** Returns the newest revision sampled at `timeMs` or before; 0 if there is none. */
  before(timeMs: number): Revision {
    let low = 0;
    let high = this.samples.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.samples[middle]!.atMs <= timeMs) low = middle + 1;
      else high = middle;
    }
    return this.samples[low - 1]?.revision ?? noRevision;
  }
}
