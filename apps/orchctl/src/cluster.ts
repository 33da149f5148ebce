/** `up` and `down`. A file of its own, which the build bundles with all it imports. */
export { runClusterCommand } from '@orch/cli';
