/** A node cordoned, drained and uncordoned. Only the pods of this file are evicted. */
import type { Topic } from '../support/kubectl-session.js';

/** Pods that can run on this node only. */
const bound = `
  kubectl create deployment bound --image=test/bound --replicas=2 --dry-run=client -o json -- sleep 100000 |
    kubectl patch -f - --local --type=merge -o json -p '{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"'"$NODE"'"},"terminationGracePeriodSeconds":1}}}}' |
    kubectl apply -f -`;
const drain = 'kubectl drain "$NODE" --ignore-daemonsets --timeout=60s';

export const nodes: Topic = {
  name: 'nodes',
  steps: [
    {
      does: 'adds and removes a taint',
      run: `
        kubectl taint node "$NODE" test/"$NAMESPACE"=yes:PreferNoSchedule
        kubectl get node "$NODE" -o jsonpath='{.spec.taints}{"\\n"}'
        kubectl taint node "$NODE" test/"$NAMESPACE":PreferNoSchedule-`,
      says: ['tainted', /"key":"test\/nodes-\d+"/, 'untainted'],
    },
    {
      does: 'labels a node, and selects it by that',
      run: `
        kubectl label node "$NODE" test/"$NAMESPACE"=
        kubectl get nodes -l test/"$NAMESPACE" -o name
        kubectl label node "$NODE" test/"$NAMESPACE"-`,
      says: ['labeled', /^node\/node-\d$/m],
    },
    {
      does: 'runs pods on it',
      run: `${bound}; kubectl rollout status deployment/bound --timeout=60s`,
      says: 'successfully rolled out',
    },
    {
      does: 'cordons it',
      run: 'kubectl cordon "$NODE"; kubectl cordon "$NODE"; kubectl get node "$NODE"',
      says: ['cordoned', 'already cordoned', 'Ready,SchedulingDisabled'],
    },
    {
      does: 'lists the pods to evict on a dry run',
      run: `${drain} --pod-selector=app=bound --dry-run=client; kubectl get pods -l app=bound --no-headers | wc -l`,
      says: [/bound-.*\(dry run\)/, /^2$/m],
    },
    {
      does: 'drains it: the replacements are pending',
      run: `
        before=$(kubectl get pods -l app=bound -o name)
        ${drain} --pod-selector=app=bound
        test -z "$(kubectl get $before --ignore-not-found -o name)"
        until [[ $(kubectl get pods -l app=bound --field-selector status.phase=Pending -o name | wc -l) == 2 ]]; do sleep 0.2; done
        kubectl describe pods -l app=bound`,
      says: [/^(node|pod)\/\S+ (drained|evicted|deleted)$/m, /^Status: +Pending$/m],
    },
    {
      does: 'uncordons it: the replacements are scheduled',
      run: 'kubectl uncordon "$NODE"; kubectl rollout status deployment/bound --timeout=60s',
      says: ['uncordoned', 'successfully rolled out'],
    },
    {
      does: 'refuses to evict pods without a controller',
      run: `
        kubectl create -f - <<< '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"alone","labels":{"app":"alone"}},"spec":{"nodeName":"'"$NODE"'","terminationGracePeriodSeconds":1,"containers":[{"name":"a","image":"a","command":["sleep","100000"]}]}}'
        ${drain} --pod-selector=app=alone || echo "ends with $?"
        ${drain} --pod-selector=app=alone --force
        kubectl uncordon "$NODE"; kubectl get pod alone`,
      says: [/use --force to override/, /^ends with 1$/m, /pods "alone" not found/],
      exits: 1,
    },
  ],
};
