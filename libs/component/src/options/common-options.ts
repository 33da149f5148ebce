/** Flags of all processes. Options classes include them with `@Flags(CommonOptions) common`. */
import { IsIn, Min } from 'class-validator';
import { type DialectName, dialectNames } from '../dialect/dialect.js';
import { type LogFormat, type LogLevel, logFormats, logLevels } from '../logging/create-logger.js';
import { previousRelease } from '../metrics/deprecation.js';
import { Flag } from './flag.js';
import { ValueError } from './values.js';

export class CommonOptions {
  @Flag({
    name: 'dialect',
    description:
      'brand in the names of API groups, labels and system objects: orch, or kubernetes for existing clients; the dialect of a cluster cannot change',
    default: 'orch',
    env: 'ORCH_DIALECT',
    type: 'string',
  })
  @IsIn(dialectNames)
  dialect!: DialectName;

  @Flag({
    name: 'logging-format',
    description: 'format of log lines: text for people, json for log collectors',
    default: 'text',
    type: 'string',
  })
  @IsIn(logFormats)
  loggingFormat!: LogFormat;

  @Flag({
    name: 'log-level',
    description:
      'lowest level that is logged: debug, info, warn, error or fatal. Higher: less context for failures. Lower: more disk and CPU use.',
    default: 'info',
    env: 'ORCH_LOG_LEVEL',
    type: 'string',
  })
  @IsIn(logLevels)
  logLevel!: LogLevel;

  @Flag({
    name: 'feature-gates',
    description:
      'feature gates to set, as Name=true,Other=false; AllAlpha and AllBeta set all gates of a stage',
    type: 'keyValues',
  })
  featureGates: Record<string, string> = {};

  @Flag({
    name: 'show-hidden-metrics-for-version',
    description: `release whose hidden metrics are shown, ${previousRelease} or empty; the next release removes them`,
    default: '',
  })
  shownMetricsRelease!: string;

  @Flag({
    name: 'shutdown-timeout',
    description:
      'time limit of the ordered shutdown. Higher: a stuck process ends later. Lower: running work is aborted.',
    default: '30s',
    type: 'duration',
  })
  @Min(0)
  shutdownTimeoutMs!: number;

  /** Throws `ValueError` unless the shown release is empty or the previous one. */
  checkRelations(): void {
    const release = this.shownMetricsRelease;
    if (release === '' || release === previousRelease) return;
    throw new ValueError(
      `--show-hidden-metrics-for-version must be omitted or have the value '${previousRelease}'. Only the previous minor version is allowed`,
    );
  }
}
