/**
 * The pages of `/configz` and `/debug/pprof/`: configuration and profiles of the running process,
 * in the formats of Node.js tools. The server of the process authorizes the requests.
 */
import { EventLoopDelay } from './event-loop-delay.js';
import { allocationProfile, cpuProfile, heapStatistics } from './profiles.js';

export interface DebugPagesOptions {
  /** Returns the effective configuration by component name. Undefined: it is not served. */
  readonly configuration: (() => Readonly<Record<string, object>>) | undefined;
  readonly profiling: boolean;
  /** Whether delays of the event loop are recorded. */
  readonly contentionProfiling: boolean;
}

export interface DebugPage {
  readonly contentType: string;
  readonly body: string;
}

const profilesPath = '/debug/pprof';
const defaultSeconds = 5;

export class DebugPages {
  private readonly delay: EventLoopDelay | undefined;
  private readonly profiles: Readonly<
    Record<string, (seconds: number) => Promise<object> | object>
  >;

  constructor(private readonly options: DebugPagesOptions) {
    const { profiling, contentionProfiling } = options;
    const delay = profiling && contentionProfiling ? new EventLoopDelay() : undefined;
    this.delay = delay;
    this.profiles = profiling
      ? {
          allocs: allocationProfile,
          ...(delay && { block: () => delay.report() }),
          goroutine: activeResources,
          heap: heapStatistics,
          profile: cpuProfile,
        }
      : {};
  }

  /**
   * Returns the page at a path; undefined if there is none. Rejects with `ProfileRunningError`
   * while another profile is recorded.
   */
  async page(path: string, query: URLSearchParams): Promise<DebugPage | undefined> {
    const { configuration } = this.options;
    if (path === '/configz') return configuration && json(configuration());
    if (!this.options.profiling) return undefined;
    if (path === profilesPath || path === `${profilesPath}/`) return this.index();
    if (!path.startsWith(`${profilesPath}/`)) return undefined;
    const name = path.slice(profilesPath.length + 1);
    if (!Object.hasOwn(this.profiles, name)) return undefined;
    return json(await this.profiles[name]?.(Number(query.get('seconds') || defaultSeconds)));
  }

  stop(): void {
    this.delay?.stop();
  }

  private index(): DebugPage {
    const paths = Object.keys(this.profiles).map((name) => `${profilesPath}/${name}\n`);
    return { contentType: 'text/plain; charset=utf-8', body: paths.join('') };
  }
}

/** Returns the number of resources of each type that keep the process running, and of requests. */
function activeResources(): object {
  const counts: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) counts[type] = (counts[type] ?? 0) + 1;
  return { activeResources: counts };
}

function json(value: unknown): DebugPage {
  return { contentType: 'application/json', body: JSON.stringify(value, null, 2) };
}
