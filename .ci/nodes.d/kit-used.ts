// A program that uses everything that the kit exports: tsc --strict accepts it (bash .ci/nodes).
import {
  bodies, node, origin, OtherPayload,
  type Bodies, type ClientOptions, type Config, type Init, type Operations, type Served, type Verb,
} from 'isr-sim'
import { history, type Event, type Found } from 'isr-sim/history'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'

class Cache {
  readonly db: DynamoDBClient
  readonly config: Config
  readonly store: Bodies
  constructor({ client, config, actor, tenant, table, seed, time }: Init, store: Bodies) {
    this.db = new DynamoDBClient(client satisfies ClientOptions)
    this.config = config
    this.store = store
    void [actor.length, tenant.length, table.length, seed + time]
  }
  async get(key: string): Promise<Served> {
    if (this.config.contention === 'wait') await this.store.delete(key)
    await this.store.put(key, await origin(key))
    await this.store.put(key, new Uint8Array(3))
    return { body: await this.store.get(key), fresh: false }
  }
  invalidate(key: string) { return key.length } // what it returns is not used
}

node((init) => new Cache(init, bodies), ['get'])
node(async (init) => new Cache(init, bodies), ['get', 'invalidate'])
const served = () => ({ body: '', fresh: false })
const all: Operations = {
  get: served, invalidate: () => {},
  regenerate: (_key, request, inputs) => ({ body: `${request} ${inputs}`, fresh: true }),
  rollback: async () => {},
}
node(() => all)
const verbs: readonly Verb[] = ['get', 'rollback']
node(() => all, verbs)

const post = history('http://127.0.0.1:8000/_isr-sim', 'alice')
const asked: Event = { kind: 'asked', key: '/home', call: '1', tenant: 'acme' }
const found: Found = await post(asked, { kind: 'rendered', key: '/home', body: 'one', revalidate: '60s' },
  { kind: 'served', key: '/home', body: 'one', fresh: true })
await post({ kind: 'settled', within: '30s' })
void (found.violations + found.events + found.doubts)

const held = { token: 7, release() {}, held: () => true, extend: async () => {} }
node(() => ({ hold: () => held }), ['hold'])
node(async () => ({ hold: async (_key: string) => ({ ...held, token: 7n }) }), ['hold', 'held', 'extend'],
  { heartbeats: true, takeover: 2.5 })
node(() => ({
  once: async (_key, payload, effect) => { if (payload === '') throw new OtherPayload('none'); return effect() },
}), ['once'], { payload: true, wait: 1 })
