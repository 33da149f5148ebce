/** The charts of the measured curves: which figures each shows. */

const latencies = (name, prefix) => {
  const key = (share) => (prefix ? `${prefix}P${share}Ms` : `p${share}Ms`);
  const label = name ? `${name}, ` : '';
  return [
    { key: key(50), name: `${label}p50` },
    { key: key(99), name: `${label}p99` },
  ];
};
const memory = { title: 'memory of a server, MB', series: [{ key: 'memoryMb', name: 'resident' }] };

export const charts = {
  objects: {
    title: 'One server by the number of stored objects of 1 KB, 32 connections',
    x: { key: 'objects', label: 'objects', isLog: true },
    panels: [
      {
        title: 'throughput, 1/s',
        series: [
          { key: 'getPerSecond', name: 'get, quorum' },
          { key: 'updatePerSecond', name: 'update' },
        ],
      },
      {
        title: 'latency, ms',
        isLog: true,
        series: [...latencies('get', 'get'), ...latencies('update', 'update')],
      },
      {
        title: 'lists, ms',
        isLog: true,
        series: [
          { key: 'pageMs', name: 'page of 500' },
          { key: 'listMs', name: 'all objects' },
        ],
      },
      {
        title: 'memory of the server, MB',
        isLog: true,
        series: [
          { key: 'memoryMb', name: 'resident' },
          { key: 'peakMb', name: 'peak, with the lists' },
        ],
      },
    ],
  },
  watchers: {
    title: 'One server by the number of watchers of one collection, own TLS connections',
    x: { key: 'watchers', label: 'watchers', isLog: true },
    panels: [
      {
        title: 'events delivered, 1/s',
        series: [{ key: 'deliveriesPerSecond', name: 'burst of creates, all watchers' }],
      },
      {
        title: 'latency, ms',
        isLog: true,
        series: [...latencies('single create'), { key: 'loopP99Ms', name: 'event loop, burst' }],
      },
      {
        title: 'server CPU per delivery, us',
        series: [{ key: 'cpuUsPerDelivery', name: 'with the creates' }],
      },
      memory,
    ],
  },
  writers: {
    title: 'Creates of 1 KB on one server by the number of connections',
    x: { key: 'writers', label: 'connections', isLog: true },
    panels: [
      { title: 'throughput, 1/s', series: [{ key: 'perSecond', name: 'create' }] },
      { title: 'latency, ms', isLog: true, series: latencies() },
      { title: 'server CPU per create, us', series: [{ key: 'cpuUs', name: 'all threads' }] },
      memory,
    ],
  },
  replicas: {
    title: 'Clusters by the number of voting servers on the same cores, 32 connections',
    x: { key: 'replicas', label: 'API servers with a vote' },
    panels: [
      {
        title: 'throughput, 1/s',
        series: [
          { key: 'getPerSecond', name: 'get, quorum, at a follower' },
          { key: 'createPerSecond', name: 'create' },
        ],
      },
      {
        title: 'latency, ms',
        isLog: true,
        series: [...latencies('get', 'get'), ...latencies('create', 'create')],
      },
      {
        title: 'CPU of all servers per request, us',
        series: [
          { key: 'getCpuUs', name: 'get' },
          { key: 'createCpuUs', name: 'create' },
        ],
      },
      { ...memory, title: 'memory of the largest server, MB' },
    ],
  },
  cores: {
    title:
      'One server by its number of cores, 32 connections; the load generator uses the last core',
    x: { key: 'cores', label: 'cores of the server' },
    panels: [
      {
        title: 'throughput, 1/s',
        series: [
          { key: 'getPerSecond', name: 'get, quorum' },
          { key: 'createPerSecond', name: 'create' },
        ],
      },
      {
        title: 'latency, ms',
        isLog: true,
        series: [...latencies('get', 'get'), ...latencies('create', 'create')],
      },
      {
        title: 'server CPU per request, us',
        series: [
          { key: 'getCpuUs', name: 'get' },
          { key: 'createCpuUs', name: 'create' },
        ],
      },
    ],
  },
  'read-servers': {
    title:
      'Gets at one voting server and learners beside it, 32 connections, all on the same cores',
    x: { key: 'servers', label: 'API servers' },
    panels: [
      {
        title: 'throughput of all, 1/s',
        series: [
          { key: 'localPerSecond', name: 'get, version 0' },
          { key: 'quorumPerSecond', name: 'get, quorum' },
        ],
      },
      {
        title: 'latency of the slowest server, ms',
        isLog: true,
        series: [...latencies('version 0', 'local'), ...latencies('quorum', 'quorum')],
      },
      {
        title: 'CPU of all servers per get, us',
        series: [
          { key: 'localCpuUs', name: 'version 0' },
          { key: 'quorumCpuUs', name: 'quorum' },
        ],
      },
      { ...memory, title: 'memory of the largest server, MB' },
    ],
  },
};
