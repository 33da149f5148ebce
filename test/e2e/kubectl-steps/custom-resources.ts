/** Custom kinds. Their names include the release, because sessions share the cluster. */
import type { Topic } from '../support/kubectl-session.js';

const definition = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gearsMINOR.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: {
      plural: 'gearsMINOR',
      kind: 'GearMINOR',
      shortNames: ['grMINOR'],
      categories: ['machinesMINOR'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.copies', statusReplicasPath: '.status.copies' },
        },
        additionalPrinterColumns: [{ name: 'Teeth', type: 'integer', jsonPath: '.spec.teeth' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                description: 'How the gear is made.',
                properties: {
                  teeth: { type: 'integer', minimum: 3, description: 'How many teeth it has.' },
                  copies: { type: 'integer', default: 1 },
                },
              },
              status: { type: 'object', properties: { copies: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
});

const gear = (teeth: unknown) =>
  JSON.stringify({
    apiVersion: 'example.com/v1',
    kind: 'GearMINOR',
    metadata: { name: 'a' },
    spec: { teeth },
  });

/** `json` with the release inserted, for the following commands. */
const sent = (json: string) => `sed "s/MINOR/$MINOR/g" <<< '${json}' |`;

export const customResources: Topic = {
  name: 'custom',
  steps: [
    {
      does: 'creates a kind and waits until it is established',
      run: `
        ${sent(definition)} kubectl apply -f -
        kubectl wait --for=condition=Established --timeout=30s "crd/gears$MINOR.example.com"
        kubectl api-resources --api-group=example.com`,
      says: [/created$/m, /condition met$/m, /^gears\d+ +gr\d+ +example\.com\/v1 +true +Gear\d+$/m],
    },
    {
      does: 'creates objects of it and prints them with its columns',
      run: `
        ${sent(gear(7))} kubectl apply -f -
        ${sent(gear(8))} kubectl apply -f -
        kubectl get "gr$MINOR"; kubectl get "machines$MINOR" -o jsonpath='{.items[*].spec}'`,
      says: [/a created$/m, /a configured$/m, /^NAME +TEETH$/m, /^a +8$/m, /"copies":1/],
    },
    {
      does: 'explains its fields',
      run: 'kubectl explain "gears$MINOR.spec"; kubectl explain "gears$MINOR.spec.teeth"',
      says: ['How the gear is made.', /teeth\s+<integer>/, 'How many teeth it has.'],
    },
    {
      does: 'refuses what its schema does not allow',
      run: `${sent(gear(1))} kubectl apply --validate=false -f -`,
      says: 'spec.teeth: Invalid value: 1: spec.teeth in body should be greater than or equal to 3',
      exits: 1,
    },
    {
      does: 'changes an object with each command',
      run: `
        kubectl patch "gr$MINOR" a --type=merge -p '{"spec":{"teeth":9}}'
        kubectl patch "gr$MINOR" a --type=json -p '[{"op":"add","path":"/metadata/labels","value":{"l":"m"}}]'
        ${sent(gear(10))} kubectl apply --server-side --force-conflicts -f -
        kubectl scale "gears$MINOR/a" --replicas=4
        kubectl get "gears$MINOR" -l l=m -o jsonpath='{.items[*].spec}'`,
      says: [/scaled$/m, /serverside-applied$/m, '"copies":4', '"teeth":10'],
    },
    {
      does: 'describes and deletes objects, and removes the kind',
      run: `
        kubectl describe "gears$MINOR" a
        kubectl delete "gears$MINOR" --all
        kubectl delete "crd/gears$MINOR.example.com" --timeout=30s
        kubectl get "gears$MINOR" 2>&1 || true`,
      says: [
        /^Teeth: +10$|Teeth: +10/m,
        /"a" deleted/,
        /doesn't have a resource type|could not find the requested resource/,
      ],
    },
  ],
};
