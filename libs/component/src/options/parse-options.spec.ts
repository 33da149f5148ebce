import { IsIn, Max, Min } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { Flag, Flags } from './flag.js';
import { HelpRequested, parseOptions, UsageError } from './parse-options.js';
import { type HostPort } from './values.js';

class ElectionOptions {
  @Flag({ name: 'leader-elect', description: 'stand for election', default: true })
  enabled!: boolean;

  @Flag({ name: 'lease', description: 'length of the lease', default: '15s', type: 'duration' })
  @Min(1_000)
  leaseMs!: number;
}

class TestOptions {
  @Flag({ name: 'port', description: 'where to listen', default: 10257 })
  @Min(0)
  @Max(65_535)
  port!: number;

  @Flag({ name: 'format', description: 'how to print', env: 'ORCH_TEST_FORMAT' })
  @IsIn(['text', 'json'])
  format = 'text';

  @Flag({ name: 'controllers', description: 'which', default: '*' })
  controllers!: string[];

  @Flag({ name: 'labels', description: 'pairs', type: 'keyValues' })
  labels: Record<string, string> = {};

  @Flag({ name: 'chunk', description: 'size', type: 'bytes', default: '10Mi' })
  chunkBytes!: number;

  @Flag({ name: 'peer', description: 'address', type: 'hostPort' })
  peer?: HostPort;

  @Flags(ElectionOptions, { lease: '20s' })
  election!: ElectionOptions;
}

const info = { program: 'orch-test', description: 'A test.', version: '1.0' };
const parse = (...argv: string[]) => parseOptions(TestOptions, argv, info);

function refusal(...argv: string[]): string {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error('was not refused');
}

describe('parseOptions', () => {
  it('applies defaults of flags, properties and groups', () => {
    const options = parse();
    expect(options.port).toBe(10257);
    expect(options.format).toBe('text');
    expect(options.controllers).toEqual(['*']);
    expect(options.chunkBytes).toBe(10 * 1024 * 1024);
    expect(options.peer).toBeUndefined();
    expect(options.election).toEqual({ enabled: true, leaseMs: 20_000 });
  });

  it('parses values after = and after a space, and booleans with or without a value', () => {
    const options = parse(
      '--port=1',
      '--format',
      'json',
      '--lease',
      '1m30s',
      '--leader-elect=false',
    );
    expect(options).toMatchObject({ port: 1, format: 'json' });
    expect(options.election).toEqual({ enabled: false, leaseMs: 90_000 });
    expect(parse('--leader-elect').election.enabled).toBe(true);
  });

  it('accumulates repeated lists and pairs, and uses the last of repeated single values', () => {
    const options = parse(
      '--controllers=*,-job',
      '--controllers',
      '-cronjob',
      '--labels=a=1',
      '--labels=b=2=3',
      '--port=1',
      '--port=2',
      '--peer=[::1]:80',
    );
    expect(options.controllers).toEqual(['*', '-job', '-cronjob']);
    expect({ ...options.labels }).toEqual({ a: '1', b: '2=3' });
    expect(options.port).toBe(2);
    expect(options.peer).toEqual({ host: '::1', port: 80 });
  });

  it('reads the environment only if the flag is absent', () => {
    process.env.ORCH_TEST_FORMAT = 'json';
    try {
      expect(parse().format).toBe('json');
      expect(parse('--format=text').format).toBe('text');
    } finally {
      delete process.env.ORCH_TEST_FORMAT;
    }
  });

  it('rejects mistakes with one line that contains flag, cause and remedy', () => {
    expect(refusal('--prot=1')).toBe(
      "orch-test: unknown flag '--prot' (Did you mean --port?); run orch-test --help for all flags",
    );
    expect(refusal('--port=99999')).toMatch(/--port: must not be greater than 65535, got "99999"/);
    expect(refusal('--port=x')).toMatch(/--port: want a number, got "x"/);
    expect(refusal('--lease=10')).toMatch(/--lease: want a duration such as 30s/);
    expect(refusal('--lease=10ms')).toMatch(/--lease: must not be less than 1000, got "10ms"/);
    expect(refusal('--format=xml')).toMatch(/--format: must be one of .*text, json.*got "xml"/);
    expect(refusal('--labels=a')).toMatch(/--labels: want key=value pairs/);
    expect(refusal('--port')).toMatch(/argument missing/);
    expect(refusal('surplus')).toMatch(/too many arguments/);
  });

  it('shows defaults in the help as written on the command line', () => {
    const help = (() => {
      try {
        parse('--help');
      } catch (error) {
        if (error instanceof HelpRequested) return error.message;
      }
      return '';
    })();
    expect(help).toContain('A test.');
    expect(help).toMatch(/--lease <duration>\s+length of the lease \(default 20s\)/);
    expect(help).toMatch(/--chunk <size>\s+size \(default 10Mi\)/);
  });
});
