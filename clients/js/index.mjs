// The kit of isr-sim for Node.js: import it before anything else. It speaks the protocol of docs/NODES.md, and replaces
// the clock, the timers and the randomness of the process by simulated ones.
import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import readline from 'node:readline'
import timersPromises from 'node:timers/promises'
import timers from 'node:timers'

const real = { request: http.request, setImmediate: globalThis.setImmediate, Date: globalThis.Date }
const life = new AsyncLocalStorage() // the number of the life that code belongs to
let lives = 0
let init = null // of this life
let time = 0 // the node's own, in milliseconds
let began = 0
let out = 0 // requests under way
let busy = false // a command is being done

// Time.

const learn = (t) => { if (t !== undefined) time = Number(t) }

class SimulatedDate extends real.Date {
  constructor(...given) { given.length === 0 ? super(time) : super(...given) }
  static now() { return time }
}
globalThis.Date = new Proxy(SimulatedDate, { apply: () => new SimulatedDate().toString() })
performance.now = () => time - began

// Timers. They fire when the process has nothing else to do: then it sleeps until the first of them.

let pending = [] // in the order of time, then of setting
let numbers = 0
class Timer {
  constructor(callback, delay, args, again) {
    Object.assign(this, { id: ++numbers, callback, args, again, delay: Math.max(1, Number(delay) || 0), life: life.getStore(), context: AsyncLocalStorage.snapshot?.() })
    this.start()
  }
  start() {
    this.at = time + this.delay
    pending.push(this)
    pending.sort((a, b) => a.at - b.at || a.id - b.id)
    look()
  }
  fire() {
    if (this.again) this.start()
    this.context ? this.context(() => this.callback(...this.args)) : this.callback(...this.args)
  }
  ref() { return this }
  unref() { this.background = true; return this }
  hasRef() { return !this.background }
  refresh() { cancel(this); this.start(); return this }
  close() { cancel(this); return this }
  [Symbol.toPrimitive]() { return this.id }
}
const cancel = (t) => { pending = pending.filter((p) => p !== t && p.id !== t) }
const simulated = {
  setTimeout: (f, ms, ...args) => new Timer(f, ms, args, false),
  setInterval: (f, ms, ...args) => new Timer(f, ms, args, true),
  clearTimeout: cancel,
  clearInterval: cancel,
}
const wait = (ms, value) => new Promise((resolve) => new Timer(() => resolve(value), ms, [], false))
simulated.setTimeout[Symbol.for('nodejs.util.promisify.custom')] = wait
Object.assign(globalThis, simulated)
Object.assign(timers, simulated)
timersPromises.setTimeout = wait
if (timersPromises.scheduler) timersPromises.scheduler.wait = wait

let looking = false
const turns = 3 // of the event loop, within which promises and streams have had their say
function look(left = turns) {
  if (looking && left === turns) return
  looking = true
  real.setImmediate(() => {
    if (!busy || out > 0 || pending.length === 0) { looking = false; return }
    if (process.getActiveResourcesInfo?.().some((r) => /^(FSReq|GetAddrInfo|TCPConnect|Process|Worker)/.test(r))) return look(turns - 0.5)
    if (left > 1) return look(Math.ceil(left) - 1)
    looking = false
    const first = pending[0]
    const mine = lives
    out++
    ask('POST', `sleep?ms=${Math.max(0, first.at - time)}`).then(() => {
      if (mine !== lives) return
      out--
      if (pending[0] === first || pending.includes(first)) { cancel(first); first.fire() }
      look()
    })
  })
}

// Randomness: mulberry32, from the seed of the life.

let state = 0
const number = () => {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}
const bytes = (n) => Buffer.from(Array.from({ length: n }, () => Math.floor(number() * 256)))
const uuid = () => {
  const b = bytes(16)
  b[6] = (b[6] & 0x0f) | 0x40
  b[8] = (b[8] & 0x3f) | 0x80
  return b.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
Math.random = number
crypto.randomUUID = uuid
crypto.randomBytes = (n, callback) => (callback ? process.nextTick(callback, null, bytes(n)) : bytes(n))
crypto.randomInt = (from, to) => (to === undefined ? Math.floor(number() * from) : from + Math.floor(number() * (to - from)))
crypto.randomFillSync = (a) => { Buffer.from(a.buffer, a.byteOffset, a.byteLength).set(bytes(a.byteLength)); return a }
globalThis.crypto.randomUUID = uuid
globalThis.crypto.getRandomValues = crypto.randomFillSync

// Requests: every answer brings the time. Code of a life that is over waits for ever.

http.request = function (...args) {
  const mine = life.getStore()
  const request = real.request.apply(this, args)
  if (mine === undefined || mine !== lives) return request
  out++
  let open = true
  const done = () => { if (open && mine === lives) { out--; look() } open = false }
  request.once('response', (r) => { learn(r.headers['x-isr-sim-time']); r.once('close', done) })
  request.once('error', done)
  request.once('close', done)
  return request
}
syncBuiltinESMExports()

let agent = new http.Agent({ keepAlive: true })
function ask(method, path, body) { // a request of the kit's own
  return new Promise((resolve, reject) => {
    const url = new URL('/_isr-sim/' + path, init.endpoint)
    const mine = lives
    const r = real.request(url, { method, agent }, (answer) => {
      const parts = []
      answer.on('data', (part) => parts.push(part))
      answer.on('end', () => {
        if (mine !== lives) return
        learn(answer.headers['x-isr-sim-time'])
        resolve({ status: answer.statusCode, body: Buffer.concat(parts) })
      })
    })
    r.on('error', (e) => { if (mine === lives) reject(e) })
    r.end(body)
  })
}
async function asked(method, path, body) {
  out++
  const mine = lives
  try {
    const answer = await ask(method, path, body)
    if (answer.status >= 400 && answer.status !== 404) throw new Error(answer.body.toString())
    return answer
  } finally {
    if (mine === lives) { out--; look() }
  }
}

/** Reads the origin of a page, and takes the scenario's time to render it. */
export const origin = async (key) => (await asked('GET', 'origin?key=' + encodeURIComponent(key))).body.toString()

/** The store of bodies: get returns undefined for a body that is not there. */
export const bodies = {
  put: async (name, body) => { await asked('PUT', 'bodies/' + encodeURIComponent(name), body) },
  get: async (name) => {
    const a = await asked('GET', 'bodies/' + encodeURIComponent(name))
    return a.status === 404 ? undefined : a.body.toString()
  },
  delete: async (name) => { await asked('DELETE', 'bodies/' + encodeURIComponent(name)) },
}

/**
 * Runs the node. create(init) makes the cache of one life; init has what docs/NODES.md says, and client, the options of
 * an AWS SDK client. It returns the operations that the cache has: get(key) and regenerate(key, request, inputs) return
 * {body, fresh}; invalidate(key) and rollback(key) return nothing.
 */
export function node(create, can = ['get', 'invalidate', 'regenerate', 'rollback']) {
  const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')
  let cache = null
  const handle = async (line) => {
    learn(line.time)
    const mine = lives
    const { type, id, verb, key, request, inputs } = line
    try {
      if (type === 'init') {
        cache = await create(init)
        if (mine === lives) { busy = false; say({ type: 'ready' }) }
        return
      }
      const served = (await cache[verb](key, request, inputs)) ?? {}
      if (mine === lives) { busy = false; say({ type: 'reply', id, body: served.body ?? '', fresh: served.fresh ?? false }) }
    } catch (e) {
      if (mine !== lives) return
      busy = false
      if (type === 'init') { process.stderr.write(`${e.stack}\n`, () => process.exit(1)); return }
      say({ type: 'reply', id, error: `${e?.name ?? 'Error'}: ${e?.message ?? e}` })
    }
  }
  readline.createInterface({ input: process.stdin }).on('line', (text) => {
    const line = JSON.parse(text)
    if (line.type === 'end') process.exit(0)
    if (line.type === 'reset') {
      lives++
      out = 0
      busy = looking = false
      pending = []
      agent = new http.Agent({ keepAlive: true })
      say({ type: 'ready' })
      return
    }
    if (line.type === 'init') {
      began = line.time
      state = line.seed | 0
      init = { ...line, client: { region: line.region, endpoint: line.endpoint, credentials: line.credentials } }
    }
    busy = true
    life.run(lives, handle, line)
    look()
  }).on('close', () => process.exit(0))
  say({ type: 'hello', versions: [1], can: [...can, 'timers', 'reset', 'abandon'] })
}
