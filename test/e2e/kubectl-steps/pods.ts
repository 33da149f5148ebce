/** Running pods: created, awaited, attached to, their logs, ports and files. */
import type { Topic } from '../support/kubectl-session.js';

/** Writes a counter to its log, and echoes the first line of each connection. */
const program = `
const { createServer } = require('node:net');
createServer((socket) => socket.on('error', () => {}).once('data', (line) => socket.end('heard ' + line)))
  .listen(8080, process.env.POD_IP, () => {
    let count = 0;
    setInterval(() => console.log('tick ' + ++count), 100);
  });
`;

const talker = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'talker', labels: { app: 'talker' } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'main',
        image: 'test/talker',
        command: ['node', '-e', program],
        env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
        ports: [{ containerPort: 8080 }],
      },
      { name: 'side', image: 'test/side', command: ['sh', '-c', 'echo aside; exec sleep 100000'] },
    ],
  },
});

/** Starts a command with its output at descriptor 3 and its process id in `started`. */
const start = (command: string) => `exec 3< <(exec ${command} 2>&1); started=$!`;
/** Sends a line to the port that a forwarding reports. */
const echo = `
  read -ru 3 line; echo "$line"; [[ $line =~ 127.0.0.1:([0-9]+) ]]
  exec 4<>/dev/tcp/127.0.0.1/\${BASH_REMATCH[1]}
  echo "word $RANDOM" >&4; read -ru 4 reply; echo "$reply"; kill $started`;

export const pods: Topic = {
  name: 'pods',
  steps: [
    {
      does: 'starts a pod and waits until it is ready',
      run: `
        kubectl create -f - <<< '${talker.replaceAll("'", "'\\''")}'
        kubectl wait --for=condition=Ready pod/talker --timeout=60s`,
      says: 'pod/talker condition met',
    },
    {
      does: 'runs a command in a container, with its outputs and exit code',
      run: "kubectl exec talker -c side -- sh -c 'echo out; echo aside >&2; exit 5'",
      says: ['out\n', 'aside\n', 'command terminated with exit code 5'],
      exits: 5,
    },
    {
      does: 'runs a command that reads, and in a terminal',
      run: `
        head -c 300000 /dev/urandom > sent
        kubectl exec -i talker -c main -- cat < sent | cmp - sent && echo same
        script -qec 'stty rows 33 cols 91; kubectl exec -it talker -c main -- sh -c "until stty size | grep 91; do sleep 0.1; done"' /dev/null < /dev/null`,
      says: ['same\n', '33 91'],
    },
    {
      does: 'reports a missing container',
      run: 'kubectl exec talker -c absent -- true',
      says: /container (absent is not valid for pod talker|not found)/,
      exits: 1,
    },
    {
      does: 'reads logs: the end, since a time, with times, all containers',
      run: `
        kubectl logs talker -c main --tail=2
        kubectl logs talker -c main --since=1h --timestamps --limit-bytes=60; echo
        kubectl logs talker --all-containers --prefix | grep side
        kubectl logs -l app=talker -c side`,
      says: [
        /^tick \d+\ntick \d+$/m,
        /^20\d\d-\d\d-\d\dT[\d:.]+Z tick 1$/m,
        /^\[pod\/talker\/side\] aside$/m,
        /^aside$/m,
      ],
    },
    {
      does: 'follows a log',
      run: `
        last=$(kubectl logs talker -c main --tail=1 | tail -n 1)
        ${start('kubectl logs --follow --tail=1 talker -c main')}
        until read -ru 3 line; (( \${line#tick } > \${last#tick } + 3 )); do :; done
        kill $started; echo followed`,
      says: 'followed',
    },
    {
      does: 'reports that there is no former container',
      run: 'kubectl logs talker -c side --previous',
      says: 'Error from server (BadRequest)',
      exits: 1,
    },
    {
      does: 'reads the log of the former container after a restart',
      run: `
        kubectl run crash --image=test/crash --command -- sh -c 'echo ran; exit 3'
        until [[ $(kubectl get pod crash -o jsonpath='{.status.containerStatuses[0].restartCount}') -ge 1 ]]; do sleep 0.2; done
        kubectl logs crash --previous
        kubectl get pod crash -o jsonpath='{.status.containerStatuses[0].lastState.terminated.exitCode}{"\\n"}'
        kubectl delete pod crash --now`,
      says: [/^ran$/m, /^3$/m, /pod "crash" deleted/],
    },
    {
      does: 'attaches to a container',
      run: `
        ${start('kubectl attach talker -c main')}
        until read -ru 3 line; [[ $line == tick* ]]; do :; done
        kill $started; echo joined`,
      says: 'joined',
    },
    {
      does: 'runs a pod with input until it ends, and removes it',
      run: `
        echo word | kubectl run once -i --rm --restart=Never --image=test/once --command -- sh -c 'read -r line; echo "read $line"'
        kubectl get pod once --ignore-not-found -o name`,
      says: ['read word', /pod "once" deleted/],
      saysNot: /^pod\/once$/m,
    },
    {
      does: 'runs a pod and passes its exit code on',
      run: "kubectl run fails -i --rm --restart=Never --image=test/fails --command -- sh -c 'read -r line; exit 7' < <(echo go)",
      says: [/pod "fails" deleted/, 'terminated (Error)'],
      exits: 7,
    },
    {
      does: 'forwards ports of a pod and of a service',
      run: `
        kubectl expose pod talker --port=80 --target-port=8080
        ${start('kubectl port-forward pod/talker :8080')}; ${echo}
        ${start('kubectl port-forward service/talker :80')}; ${echo}`,
      says: [
        'service/talker exposed',
        /Forwarding from 127\.0\.0\.1:\d+ -> 8080\nheard word \d+\nForwarding from 127\.0\.0\.1:\d+ -> 8080\nheard word \d+\n/,
      ],
    },
    {
      does: 'copies files and directories both ways',
      run: `
        mkdir -p tree/inner; head -c 200000 /dev/urandom > tree/inner/bytes; echo text > 'tree/a file'
        kubectl cp -c main tree talker:"$PWD/there"
        kubectl cp -c main talker:"$PWD/there" back
        diff -r tree there && diff -r tree back && echo same`,
      says: /^same$/m,
    },
    {
      does: 'copies a pod to debug it, because containers cannot be added',
      run: `
        kubectl debug talker --image=test/debug --copy-to=copy -- sleep 100000
        kubectl wait --for=condition=Ready pod/copy --timeout=60s
        kubectl get pod copy -o jsonpath='{.spec.containers[*].image}{"\\n"}'
        kubectl delete pod copy --now
        kubectl debug talker --image=test/debug`,
      says: [
        /^test\/talker test\/side test\/debug$/m,
        /ephemeral containers are disabled for this cluster/,
      ],
      exits: 1,
    },
    {
      does: 'waits for the value of a field',
      run: `
        kubectl run ends --image=test/ends --restart=Never --command -- true
        kubectl wait --for=jsonpath='{.status.phase}'=Succeeded pod/ends --timeout=60s`,
      says: 'pod/ends condition met',
      since: 23,
    },
    {
      does: 'reports that a wait timed out',
      run: 'kubectl wait --for=condition=Initialized=False pod/talker --timeout=1s',
      says: 'timed out waiting for the condition',
      exits: 1,
    },
    {
      does: 'deletes by force, and gracefully',
      run: `
        kubectl run gone --image=test/gone --command -- sleep 100000
        kubectl wait --for=condition=Ready pod/gone --timeout=60s
        kubectl delete pod gone --force --grace-period=0
        kubectl delete pod talker
        kubectl get pod talker gone`,
      says: [/pod "gone" force deleted/, 'pods "talker" not found', 'pods "gone" not found'],
      exits: 1,
    },
  ],
};
