import { describe, expect, it } from 'vitest';
import { FlagCommand } from './flag-command.js';

describe('FlagCommand', () => {
  /** Returns the flags of the program and of its command `get`, and the arguments of that. */
  async function parsed(...argv: string[]) {
    const program = new FlagCommand('program').exitOverride().option('-n, --namespace <name>');
    const get = program
      .command('get')
      .exitOverride()
      .configureOutput({ writeErr() {} })
      .argument('[words...]')
      .option('-o, --output <format>')
      .option('-A, --all-namespaces')
      .option('-w, --watch')
      .option('--dry-run [mode]')
      .option('--no-headers');
    let words: string[] = [];
    get.action((given: string[]) => {
      words = given;
    });
    await program.parseAsync(argv, { from: 'user' });
    return { ...program.opts(), ...get.opts(), words };
  }

  it.each<[string, object]>([
    ['get pods -o=json', { output: 'json', headers: true, words: ['pods'] }],
    ['get pods -ojson', { output: 'json', headers: true, words: ['pods'] }],
    ['get -o=jsonpath={.a}=b', { output: 'jsonpath={.a}=b', headers: true, words: [] }],
    ['get -oa=b', { output: 'a=b', headers: true, words: [] }],
    ['get -o==b', { output: '=b', headers: true, words: [] }],
    ['get -Ao=wide', { output: 'wide', allNamespaces: true, headers: true, words: [] }],
    ['-n=ns get', { namespace: 'ns', headers: true, words: [] }],
    ['get -n=ns -w=true', { namespace: 'ns', watch: true, headers: true, words: [] }],
    ['get --watch=true -A=false', { watch: true, headers: true, words: [] }],
    ['get --watch=false --no-headers=true', { headers: false, words: [] }],
    ['get --dry-run=client', { dryRun: 'client', headers: true, words: [] }],
    ['get -- sh -o=json --watch=x', { headers: true, words: ['sh', '-o=json', '--watch=x'] }],
    ['get -w -- -o=json', { watch: true, headers: true, words: ['-o=json'] }],
  ])('reads %s', async (line, expected) => {
    expect(await parsed(...line.split(' '))).toEqual(expected);
  });

  it.each(['get --watch=maybe', 'get -w=1x', 'get -x=json', 'get --nothing=true'])(
    'rejects %s',
    async (line) => {
      await expect(parsed(...line.split(' '))).rejects.toThrow(
        /want --watch=true|unknown option '(-x=json|--nothing=true)'/,
      );
    },
  );
});
