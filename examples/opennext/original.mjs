// OpenNext's cache handler with one of its original tag caches on DynamoDB, both as they are published, as a node of
// isr-sim: exec node original.mjs dynamodb. The store of bodies stands for S3, which says in whole seconds when an
// object was put. OpenNext is made for bundlers, so two names are found for it here.
import { node, origin, bodies } from 'isr-sim'
import { AsyncLocalStorage } from 'node:async_hooks'
import { register } from 'node:module'

register('data:text/javascript,export const resolve = (s, c, next) => next(s, c).catch(() => next(s + ".js", c))')
const requests = globalThis.__openNextAls = new AsyncLocalStorage()
Object.assign(globalThis, { openNextConfig: {}, nextVersion: '16.0.0' })
globalThis.cdnInvalidationHandler = { invalidatePaths() {} }
globalThis.incrementalCache = {
  get: async (key) => JSON.parse((await bodies.get(key)) ?? 'null'),
  set: (key, value) => bodies.put(key, JSON.stringify({ value, lastModified: Math.floor(Date.now() / 1000) * 1000 })),
}
let lives = 0
node(async (init) => {
  Object.assign(process.env, {
    CACHE_DYNAMO_TABLE: 'tags', CACHE_BUCKET_REGION: init.region, AWS_ENDPOINT_URL_DYNAMODB: init.endpoint,
    AWS_ACCESS_KEY_ID: init.client.credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: 'none',
  })
  globalThis.internalFetch = (url, how) => fetch(init.endpoint, how) // of dynamodb-lite
  const { default: Cache } = await import('@opennextjs/aws/adapters/cache.js')
  const { RequestCache } = await import('@opennextjs/aws/utils/requestCache.js')
  const tagCache = `@opennextjs/aws/overrides/tagCache/${process.argv[2]}.js?life=${++lives}` // it keeps its client
  globalThis.tagCache = (await import(tagCache)).default
  const cache = new Cache()
  const request = (f) => requests.run(
    { writtenTags: new Set(), requestCache: new RequestCache(), pendingPromiseRunner: { add() {} } }, f)
  return {
    get: (key) => request(async () => {
      const tags = ['page:' + key, 'shop']
      const entry = await cache.get(key, { kind: 'FETCH', tags, softTags: [] })
      const body = entry?.value.data.body ?? (await origin(key))
      if (!entry) await cache.set(key, { kind: 'FETCH', data: { body } }, { tags })
      return { body, fresh: true }
    }),
    invalidate: () => request(() => cache.revalidateTag('shop')),
  }
}, ['get', 'invalidate'])
