/**
 * Measures the codecs: microseconds per Pod of about 3.7 KB, over objects of many shapes.
 * `npm run bench -- schema`.
 */
import { performance } from 'node:perf_hooks';
import { codecFor } from '../../dist/libs/apimachinery/src/index.js';
import { printRow } from './row.mjs';

const shapeCount = 64;
const roundCount = process.argv.includes('--short') ? 2 : 12;
const repeatCount = 40;

function probe(path) {
  return {
    httpGet: { path, port: 8080, scheme: 'HTTP' },
    initialDelaySeconds: 5,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  };
}

/** The bits of `seed` select optional fields, so that all objects have different shapes. */
function container(name, seed) {
  return {
    name,
    image: 'registry.example/team/app:1.2.3',
    ...(seed & 1 && { command: ['/bin/app', '--flag=1'] }),
    args: ['--port', '8080'],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: [
      { name: 'LEVEL', value: 'info' },
      { name: 'POD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    ],
    resources: {
      limits: { cpu: '500m', memory: '128Mi' },
      ...(seed & 2 && { requests: { cpu: '100m', memory: '64Mi' } }),
    },
    volumeMounts: [
      { name: 'config', mountPath: '/etc/config', readOnly: true },
      { name: 'token', mountPath: '/var/run/secrets/account', readOnly: true },
    ],
    ...(seed & 4 && { livenessProbe: probe('/healthz') }),
    ...(seed & 8 && { readinessProbe: probe('/readyz') }),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: { runAsUser: 1000, allowPrivilegeEscalation: false },
  };
}

function pod(seed) {
  const time = '2026-11-21T07:30:00Z';
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: `web-6d4b75cb6d-${seed}`,
      namespace: 'default',
      uid: '0c1a2b3c-1111-2222-3333-444455556666',
      resourceVersion: '12345',
      creationTimestamp: time,
      labels: { app: 'web', 'pod-template-hash': '6d4b75cb6d', [`shape-${seed}`]: 'yes' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web-6d4b75cb6d',
          uid: '0c1a2b3c-1111-2222-3333-444455556667',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      volumes: [
        { name: 'config', configMap: { name: 'web', defaultMode: 420 } },
        seed & 16
          ? { name: 'token', secret: { secretName: 'token', defaultMode: 420 } }
          : { name: 'token', emptyDir: { sizeLimit: '1Gi' } },
      ],
      containers: [container('main', seed), container('side', seed >> 2)],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      ...(seed & 32 && { nodeName: 'node-1' }),
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: ['not-ready', 'unreachable'].map((key) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
      priority: 0,
      enableServiceLinks: true,
    },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: time,
      })),
      hostIP: '10.0.0.1',
      podIP: '10.1.0.5',
      startTime: time,
      qosClass: 'Burstable',
    },
  };
}

const codec = codecFor('core/v1.Pod');
const texts = Array.from({ length: shapeCount }, (_, seed) => JSON.stringify(pod(seed)));
const objects = texts.map((text) => codec.fromJson(JSON.parse(text)));
const messages = objects.map((object) => codec.toProtobuf(object));

/** Prints the best of several rounds, because other processes can only increase the time. */
function measure(label, inputs, work) {
  let bestUs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < roundCount; round += 1) {
    const start = performance.now();
    for (let repeat = 0; repeat < repeatCount; repeat += 1) for (const input of inputs) work(input);
    const us = ((performance.now() - start) * 1000) / (repeatCount * inputs.length);
    bestUs = Math.min(bestUs, us);
  }
  printRow(label, `${bestUs.toFixed(1)} us`);
}

const bytes = Math.round(texts.reduce((sum, text) => sum + text.length, 0) / texts.length);
printRow('shapes', shapeCount, `${bytes} bytes of JSON each on average`);
measure('JSON.parse', texts, (text) => JSON.parse(text));
measure('JSON.parse, fromJson', texts, (text) => codec.fromJson(JSON.parse(text)));
measure('JSON.parse, fromJson, setDefaults', texts, (text) =>
  codec.setDefaults(codec.fromJson(JSON.parse(text))),
);
measure('JSON.stringify', objects, (object) => JSON.stringify(object));
measure('toJson', objects, (object) => codec.toJson(object));
measure('toProtobuf', objects, (object) => codec.toProtobuf(object));
measure('fromProtobuf', messages, (message) => codec.fromProtobuf(message));
