// A Next.js server's part, played for a cache handler as it is: isr-sim check --next FILE runs `node next.mjs FILE`.
// Sources: next 15.5.29 and 16.4.6, dist/server/lib/incremental-cache, lib/patch-fetch, response-cache and use-cache.
// `node next.mjs FILE probe` plays it once without isr-sim, and prints which contract and which tables there are.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import Module, { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [file, probe] = process.argv.slice(2)
const kit = probe ? undefined : await import('./index.mjs')
Object.assign(process.env, { NODE_ENV: 'production', NEXT_RUNTIME: 'nodejs', NEXT_PHASE: 'phase-production-server' })

// Loading. Each life of an instance begins with new modules, as a new process does: only those of the AWS SDK stay.
// Without registerHooks (Node.js 22.15), other modules that the file imports need a new process.

const kept = /[\\/]node_modules[\\/](@aws|@aws-sdk|@aws-crypto|@smithy)[\\/]/
const resolve = (name, context, next) => {
  const found = next(name, context)
  const life = /[?]life=\d+$/.exec(context.parentURL ?? '')
  return life && /^file:[^?]*$/.test(found.url) && !kept.test(found.url) ? { ...found, url: found.url + life } : found
}
Module.registerHooks?.({ resolve })
const imported = readFileSync(file, 'utf8').matchAll(/\b(?:from|import)\b\s*\(?\s*['"]([^'"\n]+)['"]/g)
const newProcess = !Module.registerHooks && [...imported].some(([, name]) => (
  !Module.isBuiltin(name) && !kept.test(`/node_modules/${name}`)))
const { cache: required } = createRequire(import.meta.url)
let lives = 0
async function load() {
  for (const name of Object.keys(required)) if (!kept.test(name)) delete required[name]
  let handler = await import(`${pathToFileURL(path.resolve(file))}?life=${++lives}`)
  for (let i = 0; i < 2; i++) handler = handler?.default ?? handler // as Next does
  return handler
}

// An SDK's clients, however they are made, send their requests as lines, without a signature: a third of the time.
const { _load } = Module
let client // its options, of this life
Module._load = function (name, ...more) {
  const loaded = _load.call(this, name, ...more)
  if (kit && name === '@smithy/node-http-handler' && !loaded.NodeHttpHandler.isrSim) {
    const { handle } = loaded.NodeHttpHandler.prototype
    loaded.NodeHttpHandler.isrSim = true
    loaded.NodeHttpHandler.prototype.handle = function (request, options) {
      const ours = client && `http://${request.hostname}:${request.port}` === client.endpoint
      return ours ? client.requestHandler.handle(request, options) : handle.call(this, request, options)
    }
  }
  if (kit && name === '@smithy/signature-v4' && !loaded.SignatureV4.isrSim) {
    const { sign } = loaded.SignatureV4.prototype
    loaded.SignatureV4.isrSim = true
    loaded.SignatureV4.prototype.sign = function (request, options) {
      return client && request.headers ? client.signer.sign(request, options) : sign.call(this, request, options)
    }
  }
  return loaded
}

const servers = ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_S3']
function environment(endpoint, region, actor) {
  for (const name of servers) process.env[name] = endpoint
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS']) {
    delete process.env[name]
  }
  Object.assign(process.env, {
    AWS_REGION: region, AWS_DEFAULT_REGION: region, AWS_ACCESS_KEY_ID: actor, AWS_SECRET_ACCESS_KEY: 'none',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: true, // each life would print it
  })
}

// The contracts. Both return the page, and whether Next takes it for fresh.

const tagOf = (key) => `page:${key}`
const pathTag = (key) => `_N_T_${key}` // of revalidatePath
const softTagsOf = (key) => ['_N_T_/layout', `_N_T_${key}/layout`, `_N_T_${key}/page`, pathTag(key)]
const later = (task) => { task.catch(() => {}) } // Next logs it
const isOneOf = (names, of) => names.every((name) => typeof of?.[name] === 'function')
const first = ['get', 'set', 'revalidateTag']
const second = ['get', 'set', 'refreshTags', 'getExpiration', 'updateTags']
const options = {
  dev: false, flushToDisk: true, revalidatedTags: [], maxMemoryCacheSize: 52_428_800, fetchCacheKeyPrefix: '',
  _requestHeaders: {},
}

class Mistake extends Error {} // whose message says it all

function play(handler, settings) {
  if (typeof handler === 'function' && isOneOf(first, new handler(options))) return incremental(handler, settings)
  if (isOneOf(second, handler)) return useCache(handler, settings)
  const names = typeof handler === 'function' ? Object.getOwnPropertyNames(handler.prototype ?? {}) : handler
  throw new Mistake(`${file}: found ${typeof handler === 'function' ? 'a class' : 'an export'} with ` +
    `${(Array.isArray(names) ? names : Object.keys(names ?? {})).join(', ') || 'nothing'}, expected the class of a ` +
    `cacheHandler (${first.join(', ')}) or the object of cacheHandlers (${second.join(', ')})`)
}

// cacheHandler of Next 15 and 16: an instance for each request. A page is a route (APP_PAGE) or data (FETCH).
function incremental(Handler, { revalidate, expire, route, origin }) {
  const begin = () => {
    const handler = new Handler(options)
    handler.resetRequestCache?.()
    return handler
  }
  return {
    contract: 'cacheHandler',
    async get(key) {
      const handler = begin()
      const tags = [tagOf(key)], softTags = softTagsOf(key)
      const url = `https://origin.example${key}`
      const make = async () => {
        const body = await origin(key)
        const saved = (async () => {
          if (!route) {
            const data = { headers: {}, body: Buffer.from(body).toString('base64'), status: 200, url }
            const context = { fetchCache: true, fetchUrl: url, fetchIdx: 1, tags, isImplicitBuildTimeCache: false }
            return handler.set(key, { kind: 'FETCH', data, revalidate }, context)
          }
          const headers = { 'x-next-cache-tags': [...tags, ...softTags].join() }
          const page = { kind: 'APP_PAGE', html: body, rscData: Buffer.from(body), headers, status: 200 }
          return handler.set(key, { ...page, postponed: undefined, segmentData: undefined },
            { cacheControl: { revalidate, expire }, isRoutePPREnabled: false, isFallback: false })
        })().catch(() => {}) // Next logs it, and serves the page
        if (route) await saved
        return { body, fresh: true }
      }
      const found = await handler.get(key, route
        ? { kind: 'APP_PAGE', isRoutePPREnabled: false, isFallback: false }
        : { kind: 'FETCH', revalidate, fetchUrl: url, fetchIdx: 1, tags, softTags })
      if (!found?.value) return make()
      const { value, lastModified } = found
      if ((value.kind === 'FETCH') === route) {
        throw new Error(`Invariant: the cached value of ${key} is of kind ${value.kind}`)
      }
      const body = route ? String(value.html) : Buffer.from(value.data.body, 'base64').toString()
      const age = (Date.now() - (lastModified || (route ? Date.now() : 0))) / 1000
      if (route && age > expire) return make()
      const stale = lastModified === -1 || age > revalidate
      if (stale) later(make())
      return { body, fresh: !stale }
    },
    tell: (tag) => begin().revalidateTag([tag]),
  }
}

// cacheHandlers of Next 16: one object for the process, entries are streams.
function useCache(handler, { revalidate, expire, origin }) {
  return {
    contract: 'cacheHandlers',
    async get(key) {
      const cacheKey = JSON.stringify(['build', 'page', [key]])
      const tags = [tagOf(key)], softTags = softTagsOf(key)
      const make = async () => {
        const timestamp = Date.now()
        const read = origin(key)
        const entry = read.then((body) => ({ value: streamOf(body), tags, stale: 300, timestamp, expire, revalidate }))
        later(entry)
        later((async () => handler.set(cacheKey, entry))())
        const body = await read
        return { body, fresh: Date.now() <= timestamp + revalidate * 1000 }
      }
      await handler.refreshTags()
      const entry = await handler.get(cacheKey, softTags)
      if (!entry) return make()
      const expiration = await handler.getExpiration(softTags) // Infinity: the handler's get has looked at them
      if (expiration < Infinity && entry.timestamp <= expiration) return make()
      if (Date.now() > entry.timestamp + entry.expire * 1000) return make()
      const isStale = () => Date.now() > entry.timestamp + entry.revalidate * 1000
      if (isStale()) later(make())
      const parts = []
      for await (const part of entry.value) parts.push(Buffer.from(part))
      return { body: Buffer.concat(parts).toString(), fresh: !isStale() }
    },
    tell: (tag) => handler.updateTags([tag]),
  }
}

const streamOf = (text) => new ReadableStream({
  start(controller) {
    const bytes = Buffer.from(text), half = bytes.length >> 1 // in two chunks, as a page comes
    for (const part of [bytes.subarray(0, half), bytes.subarray(half)]) controller.enqueue(new Uint8Array(part))
    controller.close()
  },
})

// What clients ask for: a page, and that it be made again, by its tag or by its path.
async function instance(settings) {
  const server = play(await load(), settings)
  return {
    contract: server.contract,
    get: server.get,
    async invalidate(key) {
      await new Promise((done) => setTimeout(done, 1)) // what it read in this millisecond is older
      await server.tell(Math.random() < 0.5 ? tagOf(key) : pathTag(key))
    },
  }
}

if (kit) {
  kit.node((init) => {
    client = init.client
    environment(init.endpoint, init.region, init.actor)
    const { revalidate, retention, contention } = init.config
    const route = contention === 'wait' // which is no setting of Next: half of the worlds have it
    return instance({ revalidate, expire: revalidate + retention, route, origin: kit.origin })
  }, ['get', 'invalidate'], undefined, { newProcess })
}

// The probe: a store whose tables are empty notes which tables requests are about, and what is a key there.
function recorder(tables, puts, indexes) {
  const objects = new Map()
  const see = (table, key) => {
    const known = tables[table] ??= {}
    for (const [name, value] of Object.entries(key ?? {})) known[name] ??= Object.keys(value)[0]
  }
  const answers = {
    BatchGetItem({ RequestItems }) {
      for (const [table, { Keys }] of Object.entries(RequestItems)) see(table, Keys[0])
      return { Responses: Object.fromEntries(Object.keys(RequestItems).map((t) => [t, []])), UnprocessedKeys: {} }
    },
    BatchWriteItem({ RequestItems }) {
      for (const [table, all] of Object.entries(RequestItems)) see(table, all[0].DeleteRequest?.Key)
      return { UnprocessedItems: {} }
    },
    TransactWriteItems({ TransactItems }) {
      for (const item of TransactItems.flatMap(Object.values)) see(item.TableName, item.Key)
      return {}
    },
    TransactGetItems({ TransactItems }) {
      for (const { Get } of TransactItems) see(Get.TableName, Get.Key)
      return { Responses: TransactItems.map(() => ({})) }
    },
  }
  return http.createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    const [, operation] = request.headers['x-amz-target']?.split('.') ?? []
    if (operation === undefined) { // S3
      const { method, headers } = request, [name] = request.url.split('?')
      if (method === 'PUT' && !headers['content-encoding']) objects.set(name, Buffer.concat(parts))
      const found = method === 'PUT' ? '' : objects.get(name)
      const missing = found === undefined && (method === 'GET' || method === 'HEAD')
      response.writeHead(missing ? 404 : 200, { etag: '"1"', 'last-modified': new Date().toUTCString() }).end(found)
      return
    }
    const asked = JSON.parse(Buffer.concat(parts))
    if (!answers[operation] && asked.TableName) see(asked.TableName, asked.Key)
    const texts = Object.entries(asked.Item ?? {}).filter(([, value]) => value.S !== undefined)
    if (texts.length === 1) puts[asked.TableName] = { [texts[0][0]]: 'S' } // it can be nothing else
    const compared = (asked.KeyConditionExpression ?? '').matchAll(/([#\w.-]+)\s*(?:[=,]|[<>]=?|BETWEEN)\s*(:\w+)/gi)
    const keys = [...compared].map(([, name, value]) => (
      [asked.ExpressionAttributeNames?.[name] ?? name, Object.keys(asked.ExpressionAttributeValues[value])[0]]))
    if (asked.IndexName) (indexes[asked.TableName] ??= {})[asked.IndexName] = keys
    else if (keys.length > 0) tables[asked.TableName] = { ...Object.fromEntries(keys), ...tables[asked.TableName] }
    const none = /^(Query|Scan)$/.test(operation) ? { Items: [], Count: 0, ScannedCount: 0 } : {}
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify(answers[operation]?.(asked) ?? none))
  })
}

if (probe) {
  const tables = {}, puts = {}, indexes = {} // their keys, what could be one, and the keys of their indexes
  const fail = (e) => {
    process.stderr.write(`${e instanceof Mistake ? e.message : e?.stack ?? e}\n`, () => process.exit(1))
  }
  setTimeout(() => fail(new Mistake(`${file}: found no end of a get, a set and a revalidation in half a minute, ` +
    'expected a handler on DynamoDB, S3 or both: one that waits for another store cannot be checked')), 30_000)
  const named = (keys) => keys.map(([name, type]) => type === 'S' ? name : `${name} ${type}`)
  const server = recorder(tables, puts, indexes).listen(0, '127.0.0.1', async () => {
    try {
      environment(`http://127.0.0.1:${server.address().port}`, 'us-east-1', 'probe')
      const common = { revalidate: 60, expire: 3600, origin: async (key) => `the page ${key}` }
      for (const route of [true, false]) {
        const played = await instance({ ...common, route })
        for (let i = 0; i < 4; i++) await (i === 2 ? played.invalidate('/home') : played.get('/home'))
        if (route) continue
        const found = Object.entries(tables).map(([table, keys]) => {
          const known = Object.keys(keys).length > 0 ? keys : puts[table] ?? {}
          const [partition, sort] = named(Object.entries(known))
          const index = Object.entries(indexes[table] ?? {}).map(([name, of]) => `${name}: ${named(of).join(', ')}`)
          return { table, partition, sort, index: index.join('; ') }
        })
        process.stdout.write(JSON.stringify({ contract: played.contract, tables: found }), () => process.exit())
      }
    } catch (e) {
      fail(e)
    }
  })
}
