// OpenNext's tag cache on DynamoDB, as it is published, as a node of isr-sim: the pages are in the store of bodies, and
// an invalidation is a tag that is written. OpenNext is made for bundlers, so two names are found for it here.
import { node, origin, bodies } from 'isr-sim'
import { AsyncLocalStorage } from 'node:async_hooks'
import { register } from 'node:module'

register('data:text/javascript,export const resolve = (s, c, next) => next(s, c).catch(() => next(s + ".js", c))')
globalThis.openNextConfig = {}
globalThis.__openNextAls = new AsyncLocalStorage()

let lives = 0

node(async (init) => {
  globalThis.internalFetch = (url, how) => fetch(init.endpoint, how) // the address of the service is written into it
  Object.assign(process.env, {
    CACHE_DYNAMO_TABLE: 'tags', CACHE_BUCKET_REGION: init.region,
    AWS_ACCESS_KEY_ID: init.client.credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: 'none',
  })
  // It keeps its client.
  const { default: tags } = await import(`@opennextjs/aws/overrides/tagCache/dynamodb-nextMode.js?life=${++lives}`)
  return {
    async get(key) {
      const page = JSON.parse((await bodies.get(key)) ?? 'null')
      if (page && !(await tags.hasBeenRevalidated(['page:' + key, 'shop'], page.lastModified))) {
        return { body: page.body, fresh: true }
      }
      const lastModified = Date.now() - 1 // so that an invalidation in this millisecond counts
      const body = await origin(key)
      await bodies.put(key, JSON.stringify({ body, lastModified }))
      return { body, fresh: true }
    },
    invalidate: (key) => tags.writeTags(['page:' + key, 'feed:' + key]),
  }
}, ['get', 'invalidate'])
