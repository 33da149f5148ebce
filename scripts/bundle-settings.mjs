/** The settings that the bundles of all processes share. */
import { readFileSync, writeFileSync } from 'node:fs';

// No `keepNames`: it sets the name of every closure that is created, which makes a create 5%
// slower.
export const settings = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: [
    // Loads its native library from its own directory.
    'classic-level',
    // Optional packages of the framework.
    '@fastify/multipart',
    '@fastify/static',
    '@fastify/view',
    '@nestjs/microservices',
    '@nestjs/platform-express',
    '@nestjs/websockets',
    'class-transformer',
  ],
  // CommonJS packages call `require`.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module';\nconst require = createRequireHere(import.meta.url);",
  },
  logLevel: 'warning',
};

/**
 * Escapes the characters beyond ASCII, which esbuild leaves in regular expressions: with a single
 * one of them, the engine holds the whole source with two bytes a character.
 */
export function escapeNonAscii(file) {
  const source = readFileSync(file, 'utf8');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII.
  const escaped = source.replaceAll(/[^\x00-\x7f]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  writeFileSync(file, escaped);
}
