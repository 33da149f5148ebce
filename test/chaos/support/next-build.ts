/**
 * A second build of the API server, like a next release: another version, a higher version of the
 * protocol between replicas, and messages with a field that this build does not define. The storage
 * format is the same in both.
 */
import { type Edit, makeBuild } from './other-build.js';

export const nextVersion = '999.0.0-next';

/** Messages with the field that this build does not define. */
const messages = [
  'Greeting',
  'Entry',
  'VoteRequest',
  'VoteResponse',
  'AppendRequest',
  'AppendResponse',
  'HeartbeatRequest',
  'HeartbeatResponse',
  'ReadIndexRequest',
  'ReadIndexResponse',
  'ProposeRequest',
  'SnapshotHeader',
] as const;
/** Field 100, a text: two bytes of tag, one of length. */
const fieldTag = (100 << 3) | 2;
const fieldText = 'next';
const fieldBytes = 3 + fieldText.length;

/** Returns its main file. */
export function makeNextBuild(directory: string): string {
  const wire: Edit[] = [
    [/(var wireProtocolVersion = )(\d+);/, '$1$2 + 1;'],
    ...messages.flatMap(withField),
  ];
  const version: Edit = [/(var orchVersion = )"[^"]+"/, `$1"${nextVersion}"`];
  return makeBuild(directory, { server: [version, ...wire], thread: wire });
}

function withField(message: string): Edit[] {
  return [
    [
      new RegExp(`(function size${message}\\(\\w+, \\w+\\) \\{\\s+let size = )0;`),
      `$1${fieldBytes};`,
    ],
    [
      new RegExp(`(function write${message}\\(\\w+, (\\w+)\\) \\{)`),
      `$1 $2.uint(${fieldTag}); $2.string("${fieldText}");`,
    ],
  ];
}
