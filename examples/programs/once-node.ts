// The layer of once.ts as a node of isr-sim: isr-sim check --once --exec 'exec node --import tsx once-node.ts'
import { node, OtherPayload } from 'isr-sim' // before anything else
import { Once, OtherPayload as Other } from './once.ts'

node((init) => {
  const layer = new Once(init)
  const told = (e: unknown) => { throw e instanceof Other ? new OtherPayload(e.message) : e }
  return { once: (key, payload, effect) => layer.once(key, payload, effect).catch(told) }
}, ['once'], { payload: true })
