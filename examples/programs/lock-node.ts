// The lock of lock.ts as a node of isr-sim: isr-sim check --lock --exec 'exec node --import tsx lock-node.ts'
import { node } from 'isr-sim' // before anything else
import { Lock } from './lock.ts'

// With BEATS the lock extends itself, instead of being asked to.
process.env.BEATS
  ? node((init) => new Lock(init, true), ['hold', 'held'], { heartbeats: true })
  : node((init) => new Lock(init), ['hold', 'held', 'extend'])
