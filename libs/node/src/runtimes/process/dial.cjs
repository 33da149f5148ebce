/**
 * Makes connections inside the network of a pod and hands the open sockets to its parent: a process can
 * be in one network only. Ends with its parent.
 */
const { connect } = require('node:net');

function dial(id, port, [host, ...others]) {
  const socket = connect({ host, port, allowHalfOpen: true });
  // What the other side says first is for the parent to read.
  socket.pause();
  socket.once('connect', () => process.send({ id }, socket));
  socket.once('error', (error) => {
    if (others.length > 0) dial(id, port, others);
    else process.send({ id, port, error: error.code ?? error.message });
  });
}

process.on('message', ({ id, port, hosts }) => dial(id, port, hosts));
process.on('disconnect', () => process.exit(0));
