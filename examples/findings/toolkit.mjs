// @http-client-toolkit/store-dynamodb, as it is published, is a node of isr-sim here, for isr-sim check. The node asks
// the stores what HttpClient.get of @http-client-toolkit/core asks them, and the origin stands for the HTTP request.
// With the argument cache it has no dedupe store. With once it has only the dedupe store, for isr-sim check --once.
import { node, origin } from 'isr-sim' // before anything else
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBCacheStore, DynamoDBDedupeStore } from '@http-client-toolkit/store-dynamodb'

node((init) => {
  const table = { client: new DynamoDBClient(init.client), tableName: init.table }
  const cache = new DynamoDBCacheStore(table)
  const dedupe = new DynamoDBDedupeStore({ ...table, jobTimeoutMs: init.config.lease * 1000 })
  async function shared(key, request) {
    try {
      const known = await dedupe.waitFor(key)
      if (known !== undefined) return known
      const joined = (await dedupe.registerOrJoin(key)).isOwner ? undefined : await dedupe.waitFor(key)
      if (joined !== undefined) return joined
      const result = await request()
      await dedupe.complete(key, result)
      return result
    } catch (e) {
      await dedupe.fail(key, e)
      throw e
    }
  }
  async function page(key) {
    const until = Date.now() + init.config.revalidate * 1000
    const made = { body: await origin(key), until }
    const seconds = Math.floor((until - Date.now()) / 1000)
    if (seconds > 0) await cache.setWithTags(key, made, seconds, ['pages', 'page:' + key])
    return made
  }
  return {
    async get(key) {
      const { body, until } = await cache.get(key) ??
        await (process.argv[2] === 'cache' ? page(key) : shared(key, () => page(key)))
      return { body, fresh: Date.now() < until }
    },
    invalidate: (key) => cache.invalidateByTag('page:' + key),
    once: (key, _payload, effect) => shared(key, effect),
  }
}, process.argv[2] === 'once' ? ['once'] : ['get', 'invalidate'])
