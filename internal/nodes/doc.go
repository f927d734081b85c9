// Package nodes makes programs in any language the nodes of a scenario. Each incarnation of an actor is a process that
// speaks JSON lines on stdin and stdout, and sends its requests to an HTTP door. docs/NODES.md is the protocol.
//
// A run goes on only after output from the one process that may work: a request, or its reply to a command. The output
// is handled in the coroutine of the actor, so a node's requests park, take effect and are answered like those of a
// built-in protocol. Real time only bounds the silence of a process.
package nodes
