// Package nodes makes programs in any language the nodes of a scenario. Each life of an actor is a process that speaks
// JSON lines on stdin and stdout, and whose requests come to an HTTP door. docs/NODES.md is the protocol.
//
// A run goes on only when the one process that may work has said something: a request, or the reply to its command.
// Everything that it says happens in the coroutine of its actor, so that a node's requests park, take effect and are
// answered like those of a built-in protocol. Real time bounds how long a process may be silent, and decides nothing
// else.
package nodes
