/** Flags every process has. Options classes take them in with `@Flags(CommonOptions) common`. */
import { IsIn, Min } from 'class-validator';
import { type DialectName, dialectNames } from '../dialect/dialect.js';
import { type LogFormat, type LogLevel, logFormats, logLevels } from '../logging/create-logger.js';
import { checkShownRelease, previousRelease } from '../metrics/deprecation.js';
import { Flag } from './flag.js';

export class CommonOptions {
  @Flag({
    name: 'dialect',
    description:
      'names of groups, labels and system objects: orch, or kubernetes for existing clients; a cluster keeps the one it was created with',
    default: 'orch',
    env: 'ORCH_DIALECT',
    type: 'string',
  })
  @IsIn(dialectNames)
  dialect!: DialectName;

  @Flag({
    name: 'logging-format',
    description: 'text for people, json for log collectors',
    default: 'text',
    type: 'string',
  })
  @IsIn(logFormats)
  loggingFormat!: LogFormat;

  @Flag({
    name: 'log-level',
    description:
      'debug, info, warn, error or fatal; lower costs disk and time for every line, higher hides what led to a fault',
    default: 'info',
    env: 'ORCH_LOG_LEVEL',
    type: 'string',
  })
  @IsIn(logLevels)
  logLevel!: LogLevel;

  @Flag({
    name: 'feature-gates',
    description:
      'features to switch on or off, as Name=true,Other=false; AllAlpha and AllBeta stand for all of a stage',
    type: 'keyValues',
  })
  featureGates: Record<string, string> = {};

  @Flag({
    name: 'show-hidden-metrics-for-version',
    description: `release whose metrics are served although this one hides them, ${previousRelease} or none; they are gone in the next release`,
    default: '',
  })
  shownMetricsRelease!: string;

  @Flag({
    name: 'shutdown-timeout',
    description:
      'time for an ordered end; lower cuts running work off, higher lets a stuck process linger',
    default: '30s',
    type: 'duration',
  })
  @Min(0)
  shutdownTimeoutMs!: number;

  checkRelations(): void {
    checkShownRelease(this.shownMetricsRelease);
  }
}
