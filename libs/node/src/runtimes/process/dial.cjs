/**
 * Connects to ports in the network namespace of a pod and passes the sockets to its parent process,
 * because a process can be in only one network namespace. Exits with its parent.
 */
const { connect } = require('node:net');

function dial(id, port, [host, ...others]) {
  const socket = connect({ host, port, allowHalfOpen: true });
  // The parent reads all data.
  socket.pause();
  socket.once('connect', () => process.send({ id }, socket));
  socket.once('error', (error) => {
    if (others.length > 0) dial(id, port, others);
    else process.send({ id, port, error: error.code ?? error.message });
  });
}

process.on('message', ({ id, port, hosts }) => dial(id, port, hosts));
process.on('disconnect', () => process.exit(0));
