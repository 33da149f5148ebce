import { type ComponentPart } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { componentSections, type Loader } from './component-sections.js';

/** The sections as they were loaded: the component, its name and its flags. */
async function sectionsOf(line: string) {
  const loaded: [string, string, ...string[]][] = [];
  const loaderOf = (component: string): Loader => {
    return async (name, argv): Promise<ComponentPart> => {
      loaded.push([component, name, ...argv]);
      return { name, create: () => expect.fail('it is not to run') };
    };
  };
  const loaders = { 'node-agent': loaderOf('node-agent'), proxy: loaderOf('proxy') };
  const parts = await componentSections(line.split(' '), loaders);
  expect(parts.map(({ name }) => name)).toEqual(loaded.map(([, name]) => name));
  return loaded;
}

describe('the sections of orch-components', () => {
  it('have the flags of one component each, and numbers if there are several', async () => {
    const line = 'node-agent-1 --port=1 --anonymous-auth=false -- node-agent-2 --port=2 -- proxy';
    expect(await sectionsOf(line)).toEqual([
      ['node-agent', 'node-agent-1', '--port=1', '--anonymous-auth=false'],
      ['node-agent', 'node-agent-2', '--port=2'],
      ['proxy', 'proxy'],
    ]);
  });

  it('are refused if two have the same name', async () => {
    await expect(sectionsOf('proxy -- proxy')).rejects.toThrow(
      'proxy has two sections; number them, as in proxy-2',
    );
  });

  it.each(['', 'apiserver', 'proxy -- --port=1', 'proxy --'])(
    'are refused if one begins with no component: %s',
    async (line) => {
      await expect(sectionsOf(line)).rejects.toThrow(/want one of node-agent, proxy/);
    },
  );
});
