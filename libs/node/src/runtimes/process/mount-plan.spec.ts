import { describe, expect, it } from 'vitest';
import type { Mount } from '../container-runtime.js';
import { type EntryType, type HostTree, planMounts } from './mount-plan.js';

const entries: Record<string, EntryType> = {
  '/usr': 'directory',
  '/etc': 'directory',
  '/etc/hosts': 'file',
  '/run': 'directory',
  '/var': 'directory',
  '/var/run': 'link',
  '/bin': 'link',
  '/vol': 'directory',
  '/vol/file': 'file',
};
const links: Record<string, string> = { '/var/run': '/run', '/bin': '/usr/bin' };

const host: HostTree = {
  topLevelNames: () => ['usr', 'etc', 'run', 'var', 'bin', 'vol', 'proc', 'dev'],
  entryType: (path) => entries[path] ?? 'missing',
  realPath: (path) => links[path] ?? (entries[path] ? path : undefined),
  linkTarget: (path) => links[path]!,
};

const plan = (mounts: Partial<Mount>[], readOnlyRoot = false) =>
  planMounts(
    {
      mounts: mounts.map((mount) => ({
        hostPath: '/vol',
        containerPath: '/data',
        readOnly: false,
        ...mount,
      })),
      rootDirectory: '/r',
      scratchDirectory: '/s',
      hostPid: false,
      readOnlyRoot,
    },
    host,
  ).map(({ operation, source, target }) => `${operation} ${source} ${target}`.replace('  ', ' '));

const added = (mounts: Partial<Mount>[]) => plan(mounts).slice(plan([]).length);

describe('planMounts', () => {
  it('binds the host tree, with new /proc and /dev', () => {
    const steps = plan([]);
    expect(steps).toContain('bind /usr /r/usr');
    expect(steps).toContain('link /usr/bin /r/bin');
    expect(steps).toContain('proc /proc /r/proc');
    expect(steps).not.toContain('bind /dev /r/dev');
    expect(plan([], true)).toContain('readonly /r/etc');
  });

  it('creates missing top-level mount points in the private root', () => {
    expect(added([{ readOnly: true }])).toEqual([
      'directory /r/data',
      'bind /vol /r/data',
      'readonly /r/data',
    ]);
  });

  it('adds an overlay of the nearest directory for missing mount points further down', () => {
    expect(added([{ containerPath: '/etc/a/b' }, { containerPath: '/etc/c' }])).toEqual([
      'overlay /s/0 /r/etc',
      'directory /r/etc/c',
      'bind /vol /r/etc/c',
      'directory /r/etc/a/b',
      'bind /vol /r/etc/a/b',
    ]);
  });

  it('resolves links of the host', () => {
    expect(added([{ containerPath: '/var/run/x' }])).toContain('bind /vol /r/run/x');
  });

  it('orders nested mounts from the outermost', () => {
    expect(added([{ containerPath: '/data/in' }, { containerPath: '/data' }])).toEqual([
      'directory /r/data',
      'bind /vol /r/data',
      'directory /r/data/in',
      'bind /vol /r/data/in',
    ]);
  });

  it('mounts files only on files', () => {
    expect(added([{ hostPath: '/vol/file', containerPath: '/etc/hosts' }])).toEqual([
      'bind /vol/file /r/etc/hosts',
    ]);
    expect(() => plan([{ containerPath: '/etc/hosts' }])).toThrow('is a file, but the volume is a');
    expect(() => plan([{ hostPath: '/nowhere' }])).toThrow('/nowhere does not exist');
    expect(() => plan([{ containerPath: '/' }])).toThrow('must be absolute and not /');
  });
});
