/** Deployments: rolled out, scaled, exposed, deleted with and without their dependents. */
import type { Topic } from '../support/kubectl-session.js';

const rolledOut = 'kubectl rollout status deployment/web --timeout=60s';
const image = `kubectl get deployment web -o jsonpath='{.spec.template.spec.containers[0].image}{"\\n"}'`;
const made = (name: string) => `
  kubectl create deployment ${name} --image=test/web:1 --replicas=2 -- sleep 100000
  kubectl rollout status deployment/${name} --timeout=60s`;

export const workloads: Topic = {
  name: 'workloads',
  steps: [
    {
      does: 'creates a deployment and waits for it',
      run: made('web'),
      says: ['deployment.apps/web created', 'deployment "web" successfully rolled out'],
    },
    {
      does: 'waits for a condition',
      run: 'kubectl wait --for=condition=Available deployment/web --timeout=60s',
      says: 'deployment.apps/web condition met',
    },
    {
      does: 'scales, and only from the number that was expected',
      run: `
        kubectl scale deployment web --replicas=3
        kubectl scale deployment web --current-replicas=7 --replicas=9 && exit 9
        kubectl scale deployment/web --current-replicas=3 --replicas=1
        until [[ $(kubectl get deployment web -o jsonpath='{.status.replicas}') == 1 ]]; do sleep 0.2; done
        kubectl get deployment web`,
      says: ['deployment.apps/web scaled', 'xpected replicas to be 7, was 3', /^web +1\/1 +1 +1 /m],
    },
    {
      does: 'patches the scale',
      run: `kubectl patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":2}}'; ${rolledOut}`,
      says: /(scale\.autoscaling|deployment\.apps)\/web patched/,
      since: 24,
    },
    {
      does: 'reads the scale and the status alone',
      run: `
        kubectl get deployment web --subresource=scale -o jsonpath='{.kind} {.spec.replicas}{"\\n"}'
        kubectl get deployment web --subresource=status -o name`,
      says: /^Scale 2\ndeployment\.apps\/web\n$/,
      since: 24,
    },
    {
      does: 'runs a command in and reads the log of any of its pods',
      run: 'kubectl exec deployment/web -- echo there; kubectl logs deployment/web',
      says: /^there$/m,
    },
    {
      does: 'sets the image, an environment and resources',
      run: `
        container=$(kubectl get deployment web -o jsonpath='{.spec.template.spec.containers[0].name}')
        kubectl set image deployment/web $container=test/web:2
        kubectl set env deployment/web WORD=said
        kubectl set resources deployment/web --requests=cpu=1m,memory=1Mi
        kubectl set env deployment/web --list; ${image}; ${rolledOut}`,
      says: [
        'deployment.apps/web image updated',
        'deployment.apps/web env updated',
        'deployment.apps/web resource requirements updated',
        /^WORD=said$/m,
        /^test\/web:2$/m,
        'successfully rolled out',
      ],
    },
    {
      does: 'prints the history of rollouts and one of them',
      run: `
        kubectl annotate deployment web kubernetes.io/change-cause='resources set'
        kubectl rollout history deployment/web
        kubectl rollout history deployment/web --revision=2`,
      says: [
        /^REVISION +CHANGE-CAUSE$/m,
        /^1 +<none>$/m,
        /with revision #2/,
        /Image:\s+test\/web:2/,
      ],
    },
    {
      does: 'undoes a rollout, to the one before and to any',
      run: `
        kubectl set image deployment/web '*=test/web:3'; ${rolledOut}
        kubectl rollout undo deployment/web; ${image}; ${rolledOut}
        kubectl rollout undo deployment/web --to-revision=1; ${image}; ${rolledOut}`,
      says: ['deployment.apps/web rolled back', /^test\/web:2$/m, /^test\/web:1$/m],
    },
    {
      does: 'pauses and resumes',
      run: `
        kubectl rollout pause deployment/web
        kubectl rollout restart deployment/web && exit 9
        kubectl rollout resume deployment/web`,
      says: ['web paused', "can't restart paused deployment", 'web resumed'],
    },
    {
      does: 'restarts: other pods take over',
      run: `
        before=$(kubectl get pods -l app=web -o name)
        kubectl rollout restart deployment/web; ${rolledOut}
        until [[ -z $(kubectl get $before --ignore-not-found -o name) ]]; do sleep 0.2; done`,
      says: ['deployment.apps/web restarted', 'successfully rolled out'],
    },
    {
      does: 'exposes',
      run: `
        kubectl expose deployment web --port=80 --target-port=8080 --name=front
        kubectl get service front -o jsonpath='{.spec.selector}{"\\n"}'
        until [[ $(kubectl get endpoints front -o jsonpath='{.subsets[*].ports[*].port}') == 8080 ]]; do sleep 0.2; done`,
      says: ['service/front exposed', '{"app":"web"}'],
    },
    {
      does: 'deletes in the background',
      run: `
        kubectl delete deployment web --cascade=background
        until [[ -z $(kubectl get rs,pods -l app=web -o name) ]]; do sleep 0.2; done`,
      says: /deployment\.apps "web" deleted/,
    },
    {
      does: 'deletes in the foreground: the dependents are deleted first',
      run: `
        ${made('front')}
        kubectl delete deployment front --cascade=foreground
        kubectl get rs,pods -l app=front`,
      says: [/deployment\.apps "front" deleted/, /No resources found/],
    },
    {
      does: 'deletes and orphans the dependents',
      run: `
        ${made('orphan')}
        kubectl delete deployment orphan --cascade=orphan
        kubectl get rs,pods -l app=orphan
        kubectl get rs -l app=orphan -o jsonpath='owners{.items[0].metadata.ownerReferences}{"\\n"}'
        kubectl delete rs -l app=orphan --cascade=orphan
        kubectl delete pods -l app=orphan --now
        kubectl get pods`,
      says: [
        /^replicaset\.apps\/orphan-\S+ +2 +2 +2 /m,
        /^pod\/orphan-\S+ +1\/1 +Running /m,
        /^owners$/m,
        'No resources found',
      ],
    },
  ],
};
