// The kit of isr-sim for Node.js: import it before anything else. It speaks the protocol of docs/NODES.md, and replaces
// the clock, the timers and the randomness of the process by simulated ones.
import { AsyncLocalStorage } from 'node:async_hooks'
import processes, { ChildProcess } from 'node:child_process'
import crypto from 'node:crypto'
import dns from 'node:dns'
import { getEventListeners } from 'node:events'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import readline from 'node:readline'
import { Readable } from 'node:stream'
import timersPromises from 'node:timers/promises'
import timers from 'node:timers'
import workers from 'node:worker_threads'
import zlib from 'node:zlib'

const real = {
  request: http.request, fetch: globalThis.fetch, Date: globalThis.Date,
  setImmediate: globalThis.setImmediate, clearImmediate: globalThis.clearImmediate,
  setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout,
}
// The cache's own output, also that of console.log, goes to stderr, so that stdout has only lines of the protocol.
const print = process.stdout.write.bind(process.stdout)
process.stdout.write = process.stderr.write.bind(process.stderr)

const life = new AsyncLocalStorage() // the number of the life that code belongs to
let lives = 0
let init = null // of this life
let time = 0 // the node's own, in milliseconds
let began = 0
const under = new Set() // the numbers of the requests under way to isr-sim
let elsewhere = 0 // what else is under way: requests to others, work of the thread pool, immediates
let asked = 0 // numbers given in this life
let busy = false // a command is being done
let resting = true // since it was last told something, it has come to wait for the next line
let queue = [] // lines that it is told when it rests: a life may be told all at once what another one was told before

// Time.

const learn = (t) => { if (t !== undefined) time = Number(t) }

// The prototype stays: dates that come from structuredClone, node:v8 and node:fs are of the same class.
globalThis.Date = new Proxy(real.Date, {
  construct: (plain, given, of) => Reflect.construct(plain, given.length === 0 ? [time] : given, of),
  apply: () => new Date().toString(),
})
real.Date.now = () => time
real.Date.prototype.constructor = Date
for (const name of ['format', 'formatToParts']) { // which take now for a date that is not given
  const plain = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, name)
  const given = (f) => (date) => f(date === undefined ? time : date)
  const simulated = plain.get
    ? { get() { return given(plain.get.call(this)) } }
    : { value(date) { return given(plain.value.bind(this))(date) } }
  Object.defineProperty(Intl.DateTimeFormat.prototype, name, { ...plain, ...simulated })
}
performance.now = () => time - began
Object.defineProperty(performance, 'timeOrigin', { get: () => began, configurable: true })
const { mark } = Performance.prototype
performance.mark = (name, options) => mark.call(performance, name, { startTime: performance.now(), ...options })
const nanoseconds = () => BigInt(Math.round((time - began) * 1e6))
process.hrtime = (before = [0, 0]) => {
  const since = nanoseconds() - BigInt(before[0]) * 1_000_000_000n - BigInt(before[1])
  const seconds = since / 1_000_000_000n - (since % 1_000_000_000n < 0n ? 1n : 0n)
  return [Number(seconds), Number(since - seconds * 1_000_000_000n)]
}
process.hrtime.bigint = nanoseconds
process.uptime = () => (time - began) / 1000

// Each actor is a machine of its own: owners of locks are often named by their hosts.
const { hostname } = os
os.hostname = () => init?.actor?.replace(/\.\d+$/, '') ?? hostname() // alice.2 is alice after a restart
for (const of of [dns, dns.promises]) { // no network knows an actor's name
  const { lookup } = of
  const known = (name, ...more) => lookup(init !== null && name === os.hostname() ? hostname() : name, ...more)
  of.lookup = Object.defineProperties(known, Object.getOwnPropertyDescriptors(lookup))
}
// Owners are named by their processes, too. No process of any system has such a high number, and none is sent a signal.
const { pid } = process
Object.defineProperty(process, 'pid', {
  get: () => (init === null ? pid : 2 ** 22 + 1 + init.seed % 2 ** 22), enumerable: true, configurable: true,
})

// How often an SDK sends a request is the scenario's to say, as an environment says it: a client that has its own
// number keeps it.
const ownAttempts = process.env.AWS_MAX_ATTEMPTS
process.env.AWS_RETRY_MODE ??= 'standard' // the SDK's default, for which each client would read files of the machine

// Timers. isr-sim says when the first of them fires.

let pending = [] // in the order of time, then of setting
let imported = [] // set while modules were imported: each life begins with them
const unsettled = 13 // the exit code of Node.js where a module awaits what never comes
process.once('exit', (code) => {
  flush()
  if (code !== unsettled && process.exitCode !== unsettled || init !== null || imported.length === 0) return
  process.stderr.write(
    'isr-sim: a module awaits a timer while it is imported, expected none: timers fire within lives\n')
})
let numbers = 0
let afterImports // the numbers given while modules were imported: those of each life go on from them
class Timer {
  constructor(callback, delay, args, again) {
    Object.assign(this, {
      id: ++numbers, callback, args, again, delay: Math.max(1, Number(delay) || 0), life: life.getStore(),
      context: AsyncLocalStorage.snapshot?.(),
    })
    this.start()
  }
  start() {
    if (init === null) return void imported.push(this)
    if (this.life !== undefined && this.life !== lives) return
    this.at = time + this.delay
    this.number = ++numbers // of this setting
    pending.push(this)
    pending.sort((a, b) => a.at - b.at || a.number - b.number)
    if (busy) stir() // what it was before, such as the import of a module, may have stirred nothing
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
// The AWS SDK's HTTP handler watches each of its requests with timers. These only warn, but each would be a step of the
// run.
const ofSDK = /[\\/]node-http-handler[\\/]/
// The library behind fetch watches its connections with timers of the process, which outlive a life. Those timers stay
// real.
const ofFetch = /node:internal\/deps\/undici/
const timeouts = setTimeout(() => {}, 0).constructor
const cancel = (t) => {
  if (t instanceof timeouts) return real.clearTimeout(t)
  const others = (all) => all.filter((p) => p !== t && p.id !== t)
  pending = others(pending)
  if (init === null) imported = others(imported)
}
function caller() { // of setTimeout, as the stack names it
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 3
  const { stack } = new Error()
  Error.stackTraceLimit = limit
  return stack
}
function timeout(f, ms, ...args) {
  const from = caller()
  if (ofFetch.test(from)) return real.setTimeout(f, ms, ...args)
  const timer = new Timer(f, ms, args, false)
  timer.watches = ofSDK.test(from)
  return timer
}
const simulated = {
  setTimeout: timeout,
  setInterval: (f, ms, ...args) => new Timer(f, ms, args, true),
  clearTimeout: cancel,
  clearInterval: cancel,
}
const wait = (ms, value, { signal } = {}) => new Promise((resolve, reject) => {
  const stop = () => {
    cancel(timer)
    const aborted = new Error('The operation was aborted', { cause: signal.reason })
    reject(Object.assign(aborted, { name: 'AbortError', code: 'ABORT_ERR' }))
  }
  const timer = new Timer(() => { signal?.removeEventListener('abort', stop); resolve(value) }, ms, [], false)
  signal?.aborted ? stop() : signal?.addEventListener('abort', stop, { once: true })
})
simulated.setTimeout[Symbol.for('nodejs.util.promisify.custom')] = wait
Object.assign(globalThis, simulated)
Object.assign(timers, simulated)
timersPromises.setTimeout = wait
if (timersPromises.scheduler) timersPromises.scheduler.wait = wait
timersPromises.setInterval = async function* (ms, value) {
  let fired = 0
  let due = () => {}
  const timer = new Timer(() => { fired++; due() }, ms, [], true)
  try {
    for (;;) {
      if (fired === 0) await new Promise((done) => { due = done })
      for (; fired > 0; fired--) yield value
    }
  } finally { cancel(timer) }
}
AbortSignal.timeout = (ms) => {
  const controller = new AbortController()
  const stop = () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  new Timer(stop, ms, [], false).limit = controller.signal
  return controller.signal
}
const composed = new WeakMap() // the signals that follow another one
const { any } = AbortSignal
if (any) {
  AbortSignal.any = (signals) => {
    const all = [...signals]
    const signal = any.call(AbortSignal, all)
    for (const of of all) composed.set(of, [...composed.get(of) ?? [], signal])
    return signal
  }
}
const ofRequests = new WeakSet() // listeners by which fetch drops a request that has long been over
const listened = (signal) => (
  getEventListeners(signal, 'abort').some((l) => !ofRequests.has(l)) || (composed.get(signal) ?? []).some(listened))

// What is not simulated is said once a process, so that nobody takes it for judged.

const uses = new Set()
function usesReal(what) {
  if (uses.has(what)) return
  uses.add(what)
  say({ type: 'real', what })
}
const { Worker } = workers
workers.Worker = class extends Worker {
  constructor(...given) { super(...given); usesReal('what workers do') }
}
for (const name of ['wait', 'waitAsync']) {
  const plain = Atomics[name]
  if (plain) Atomics[name] = (...given) => {
    // Not while modules are imported: tsx waits for its compiler.
    if (init !== null) usesReal(`the time that Atomics.${name} takes`)
    return plain(...given)
  }
}

const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function (...given) { // of all clients, those of fetch and of TLS too
  const first = Array.isArray(given[0]) ? given[0][0] : given[0] // the options, a port, or a path
  const { host, port } = typeof first === 'object' ? first : { host: given[1], port: first }
  if (!ours(host, port)) usesReal('connections to others than isr-sim')
  return connect.apply(this, given)
}

// Child processes end with the life that started them. They neither read nor print lines of the protocol.

const children = new Set()
const { spawn } = ChildProcess.prototype
const childOf = (options) => {
  if (init !== null) usesReal('what child processes do')
  const own = (to, fd) => (to === 'inherit' || to === fd || to?.fd === fd ? ['ignore', 2, 2][fd] ?? to : to)
  const { stdio } = options
  const split = typeof stdio === 'string' ? [stdio, stdio, stdio] : stdio
  return { ...options, stdio: split?.map((to, fd) => own(to, fd)) }
}
ChildProcess.prototype.spawn = function (options) {
  const result = spawn.call(this, childOf(options))
  children.add(this)
  this.once('exit', () => children.delete(this))
  return result
}
for (const name of ['spawnSync', 'execSync', 'execFileSync']) {
  const plain = processes[name]
  processes[name] = (file, ...more) => { // the options are the last
    const options = more.findLast((m) => m !== null && typeof m === 'object' && !Array.isArray(m)) ?? {}
    return plain(file, ...more.filter((m) => Array.isArray(m)), childOf(options))
  }
}
const endChildren = () => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
}

// At rest. After this process has got something, it says once when it only waits for answers and timers.

// A command is over when all its requests are over, also those that nobody awaits. Then drained is called.

let drained = null
let freezes = false // what is under way when it comes to rest is left
const drain = (freeze = false) => new Promise((done) => {
  freezes = freeze
  drained = () => { drained = null; freezes = false; done() }
  stir()
})
// A process that is frozen after its reply hears no answer. When it goes on, with its next command, its connections are
// broken, and so an SDK sends its requests once more.
let thawed = [] // what is to be called with the answers that it did not hear
function freeze() {
  send(false)
  for (const [number, answered] of lines) {
    lines.delete(number)
    under.delete(number)
    say({ type: 'left', number })
    thawed.push(answered)
  }
}
function thaw() {
  const all = thawed
  thawed = []
  for (const answered of all) answered({ status: 0 })
}
let looking = false
let stirred = false // something has come since it last said so
const turns = 3 // of the event loop, within which promises and streams have had their say
let unsaid = '' // while more lines are to be told: a life that is told all at once answers all at once
let overdue = null // where it never comes to rest, what it has said is told nevertheless
function say(line) {
  unsaid += JSON.stringify(line) + '\n'
  if (queue.length === 0) flush()
  else overdue ??= real.setTimeout(flush, 50)
}
function flush() {
  real.clearTimeout(overdue)
  if (unsaid !== '') print(unsaid)
  unsaid = ''
  overdue = null
}
function rest() {
  resting = true
  while (resting && queue.length > 0) obey(queue.shift())
  if (queue.length === 0) flush()
}
let obey // does what a line says
function stir() {
  stirred = true
  if (!looking) look(turns)
}
function look(left) {
  looking = true
  real.setImmediate(() => {
    looking = false
    if (!busy || !stirred) return
    if (elsewhere > 0) return // whose end stirs
    const works = /^(FSReq|GetAddrInfo|GetNameInfo|QueryReq|Process|Worker)/
    if (process.getActiveResourcesInfo?.().some((r) => works.test(r))) return look(turns)
    if (left > 1) return look(left - 1)
    if (freezes) freeze()
    if (under.size === 0 && drained !== null) return drained()
    if (under.size === 0 && pending.length === 0) return // it waits for something that nobody knows of
    stirred = false
    const first = pending.find((t) => under.size === 0 || !t.watches)
    if (first === undefined && under.size === 1 && held.length === 1) {
      send(true)
      return rest()
    }
    send(false)
    const line = { type: 'quiet', requests: [...under] }
    if (first !== undefined) {
      Object.assign(line, { timer: first.number, after: Math.max(0, first.at - time), also: besides(first) })
    }
    say(line)
    rest()
  })
}
// The timers that may fire before the first one, because they are due in the same millisecond. Node.js fires timers of
// the same length in the order in which they were set.
function besides(first) {
  const lengths = new Set([Math.trunc(first.delay)])
  const others = pending.filter((t) => {
    const other = Math.floor(t.at) === Math.floor(first.at) && (under.size === 0 || !t.watches) &&
      !lengths.has(Math.trunc(t.delay))
    if (other) lengths.add(Math.trunc(t.delay))
    return other
  })
  return others.length > 0 ? others.map((t) => t.number) : undefined
}
// Whether something is left to do at a later time. A time limit is nothing to do, unless somebody listens for it.
const later = () => pending.some((t) => !t.watches && (t.limit === undefined || listened(t.limit))) || undefined
function wake(number) {
  const t = pending.find((p) => p.number === number)
  if (t === undefined) return // cleared since
  cancel(t)
  t.fire()
}

// Work that goes on beside the event loop, or in its next turn: f calls its last argument when the work is done.

const counted = (f) => (...args) => {
  const mine = lives
  const last = args.length - 1
  if (!busy || typeof args[last] !== 'function') return f(...args)
  const callback = args[last]
  elsewhere++
  args[last] = (...results) => { if (mine === lives) { elsewhere--; stir(); callback(...results) } }
  return f(...args)
}
const countedPromise = (f) => async (...args) => {
  const mine = lives
  elsewhere++
  try { return await f(...args) } finally { if (mine === lives) { elsewhere--; stir() } }
}
for (const name of [
  'gzip', 'gunzip', 'deflate', 'deflateRaw', 'inflate', 'inflateRaw', 'unzip', 'brotliCompress', 'brotliDecompress',
]) zlib[name] = counted(zlib[name])
for (const name of ['scrypt', 'pbkdf2', 'hkdf', 'sign', 'verify']) crypto[name] = counted(crypto[name])
for (const name of [
  'digest', 'sign', 'verify', 'encrypt', 'decrypt', 'deriveBits', 'deriveKey', 'generateKey', 'importKey', 'exportKey',
]) {
  crypto.webcrypto.subtle[name] = countedPromise(crypto.webcrypto.subtle[name].bind(crypto.webcrypto.subtle))
}
const immediates = new Map()
globalThis.setImmediate = timers.setImmediate = (f, ...args) => {
  const mine = lives
  elsewhere++
  const i = real.setImmediate(() => {
    immediates.delete(i)
    if (mine === lives) { elsewhere--; stir(); f(...args) }
  })
  immediates.set(i, mine)
  return i
}
globalThis.clearImmediate = timers.clearImmediate = (i) => {
  if (immediates.get(i) === lives) { elsewhere--; stir() }
  immediates.delete(i)
  real.clearImmediate(i)
}
globalThis.setImmediate[Symbol.for('nodejs.util.promisify.custom')] = timersPromises.setImmediate =
  (value) => new Promise((done) => globalThis.setImmediate(done, value))

// Randomness: mulberry32, from the seed of the life.

let state = 0
const number = () => {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}
const bytes = (n) => Buffer.alloc(n).map(() => number() * 256)
const uuid = () => {
  const b = bytes(16)
  b[6] = (b[6] & 0x0f) | 0x40
  b[8] = (b[8] & 0x3f) | 0x80
  return b.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
Math.random = number
crypto.randomUUID = uuid
const given = (callback, value) => (callback ? process.nextTick(callback, null, value) : value)
crypto.randomBytes = (n, callback) => given(callback, bytes(n))
for (const old of ['pseudoRandomBytes', 'prng', 'rng']) {
  Object.defineProperty(crypto, old, { value: crypto.randomBytes, configurable: true })
}
crypto.randomInt = (from, to, callback) => (
  typeof to === 'number' ? given(callback, from + Math.floor(number() * (to - from))) : crypto.randomInt(0, from, to))
// uuid, up to version 8, draws random bytes in advance, and would keep the rest for the next life. So its bytes are
// drawn when it uses them.
const ofUuid = /[\\/]uuid[\\/]dist[\\/]/
const fill = (a, offset = 0, size = undefined) => { // in elements
  const unit = a.BYTES_PER_ELEMENT ?? 1
  const length = size === undefined ? a.byteLength - offset * unit : size * unit
  Buffer.from(a.buffer ?? a, (a.byteOffset ?? 0) + offset * unit, length).set(bytes(length))
  return a
}
crypto.randomFill = (a, ...rest) => given(rest.pop(), fill(a, ...rest))
crypto.randomFillSync = (a, ...range) => {
  if (!ofUuid.test(caller())) return fill(a, ...range)
  a.slice = (...range) => fill(Uint8Array.prototype.slice.apply(a, range))
  return a
}
globalThis.crypto.randomUUID = uuid
globalThis.crypto.getRandomValues = crypto.randomFillSync

// Requests: every answer brings the time. Each request has a number, by which isr-sim knows which requests are under
// way.

const header = 'x-isr-sim-request'
const ours = (host, port) => init !== null && host === init.host && Number(port) === init.port
function begin() { // of a request to isr-sim: its number, and what is to be called when it is over
  const mine = lives
  const number = ++asked
  under.add(number)
  return [number, () => { if (mine === lives && under.delete(number)) stir() }]
}

// A request is sent when this process has come to rest. So a request that is the only one can say so itself, and needs
// no extra line.
const quiet = 'x-isr-sim-quiet'
let held = [] // that are to be sent: each is told whether it is alone
function send(alone) {
  const all = held
  held = []
  for (const release of all) release(alone)
}
function hold(request) {
  const end = request.end
  request.end = (...args) => {
    request.end = end
    if (request.headersSent) return request.end(...args)
    held.push((alone) => {
      if (alone) request.setHeader(quiet, 1)
      request.end(...args)
    })
    return request
  }
}

// Requests of an SDK with the options of init.client, and the kit's own, are lines: no socket lies between.

const lines = new Map() // what is to be called with the answers of those under way, by their numbers
function exchange(request, signal) {
  return new Promise((resolve, reject) => {
    if ((life.getStore() ?? lives) !== lives) return // of code whose life is over: it waits for ever
    const [number, done] = begin()
    let sent = false
    const over = () => { lines.delete(number); signal?.removeEventListener?.('abort', stop); done() }
    const stop = () => {
      const heard = lines.has(number)
      over()
      if (sent && heard) say({ type: 'left', number })
      reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }))
    }
    lines.set(number, (answer) => {
      over()
      if (answer.status > 0) return resolve(answer)
      // As the SDK's handler has it.
      reject(Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' }))
    })
    signal?.addEventListener?.('abort', stop, { once: true })
    held.push((alone) => {
      if (!lines.has(number)) return // it was let go
      sent = true
      say({ type: 'request', number, quiet: alone, ...request })
    })
    busy ? stir() : send(false)
  })
}
const bodyOf = (answer) => (
  answer.body === undefined ? Buffer.from(answer.text ?? '') : Buffer.from(answer.body, 'base64'))
const escape = (text) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase())
const queryOf = (query = {}) => Object.keys(query).sort().flatMap((name) => (
  [query[name]].flat().map((value) => (value === null ? escape(name) : `${escape(name)}=${escape(value)}`)))).join('&')
const buffered = (body = '') => ( // newer SDKs warn if Buffer.from asks their bodies for a text
  ArrayBuffer.isView(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : Buffer.from(body))
async function whole(body) { // of a stream
  const parts = []
  for await (const part of body) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}
const handler = { // of requests, for an AWS SDK client
  metadata: { handlerProtocol: 'http/1.1' },
  async handle({ method, path, query, headers, body }, { abortSignal } = {}) {
    const search = queryOf(query)
    const content = body === undefined || typeof body === 'string' || ArrayBuffer.isView(body)
      ? buffered(body) : await whole(body)
    const ofTable = headers['x-amz-target'] !== undefined || headers['X-Amz-Target'] !== undefined
    const answer = await exchange({
      method, target: search === '' ? path : `${path}?${search}`, headers,
      ...(ofTable ? { text: content.toString() } : { body: content.toString('base64') }),
    }, abortSignal)
    const found = ofTable ? bodyOf(answer) : Readable.from([bodyOf(answer)], { objectMode: false })
    return { response: { statusCode: answer.status, headers: answer.headers, body: found } }
  },
  updateHttpClientConfig() {},
  httpHandlerConfigs: () => ({}),
  destroy() {},
}

// A signature takes two fifths of the SDK's time, and no service of the simulator checks one. The header says whose it
// is.
const signerOf = ({ credentials, region }) => ({
  async sign(request, { signingRegion = region, signingService = 'dynamodb' } = {}) {
    const scope = [credentials.accessKeyId, '20000101', signingRegion, signingService, 'aws4_request'].join('/')
    request.headers.authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`
    return request
  },
})

// What a client would look for in the environment and in files of the machine, each new client anew: a third of the
// time of a short life.
const settled = {
  accountIdEndpointMode: 'disabled',
  authSchemePreference: [],
  defaultUserAgentProvider: async () => [], // which is formatted for each request
  endpointDiscoveryEnabledProvider: async () => undefined,
  // Without info and error, the SDK does not copy each input and output for a log that nobody keeps.
  logger: { trace() {}, debug() {}, warn() {} },
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  userAgentAppId: async () => undefined,
}

const open = new Set() // requests that are not over
const track = (request) => { open.add(request); request.once('close', () => open.delete(request)) }
function abandon() { // those of a life that is over: nothing comes of them, not even an error
  for (const request of open) {
    request.removeAllListeners()
    request.on('error', () => {})
    request.destroy()
  }
  open.clear()
}

http.request = function (...args) {
  const mine = life.getStore() ?? lives
  const request = real.request.apply(this, args)
  if (mine !== lives) { // of code whose life is over: it waits for ever
    request.write = request.end = request.flushHeaders = () => request
    return request
  }
  if (!busy) return request
  let done
  if (ours(request.host, request.getHeader('host')?.toString().split(':')[1] ?? 80)) {
    const [number, over] = begin()
    request.setHeader(header, number)
    done = over
    track(request)
    hold(request)
  } else {
    let once = true
    elsewhere++
    done = () => { if (once && mine === lives) { elsewhere--; stir() } once = false }
  }
  request.once('response', (r) => { learn(r.headers['x-isr-sim-time']); r.once('close', done) })
  request.once('error', done)
  request.once('close', done)
  return request
}
http.get = (...args) => http.request(...args).end()
globalThis.fetch = async (what, how) => {
  const before = new Set(how?.signal ? getEventListeners(how.signal, 'abort') : [])
  const request = new Request(what, how)
  if (how?.signal) for (const l of getEventListeners(how.signal, 'abort')) before.has(l) || ofRequests.add(l)
  const url = new URL(request.url)
  if (!busy || !ours(url.hostname, url.port || 80)) return countedPromise(real.fetch)(request)
  const [number, done] = begin()
  request.headers.set(header, number)
  try {
    const answer = await real.fetch(request)
    learn(answer.headers.get('x-isr-sim-time') ?? undefined)
    await answer.clone().arrayBuffer() // all of it has come
    return answer
  } finally { done() }
}
syncBuiltinESMExports()

async function ask(method, path, body = '') { // a request of the kit's own
  const content = Buffer.from(body).toString('base64')
  const answer = await exchange({ method, target: '/_isr-sim/' + path, headers: {}, body: content })
  const text = bodyOf(answer)
  if (answer.status >= 400 && answer.status !== 404) throw new Error(text.toString())
  return { status: answer.status, body: text }
}

/** Reads the origin of a page, and takes the scenario's time to render it. */
export const origin = async (key) => (await ask('GET', 'origin?key=' + encodeURIComponent(key))).body.toString()

/** Makes the effect of the call under way happen, and returns its result. It rejects where the effect fails. */
const effect = async () => (await ask('POST', 'effect')).body.toString()

/** once throws this where the key was used with another payload, and the layer promises to refuse that. */
export class OtherPayload extends Error {}
OtherPayload.prototype.name = 'OtherPayload'

/** The store of bodies: get returns undefined for a body that is not there. */
export const bodies = {
  put: async (name, body) => { await ask('PUT', 'bodies/' + encodeURIComponent(name), body) },
  get: async (name) => {
    const a = await ask('GET', 'bodies/' + encodeURIComponent(name))
    return a.status === 404 ? undefined : a.body.toString()
  },
  delete: async (name) => { await ask('DELETE', 'bodies/' + encodeURIComponent(name)) },
}

/** A mistake in the form of what the cache returns. It is the program's: no call has failed. */
class Mistake extends Error {}

/** The page that the cache has returned; nothing is an empty one. */
function pageOf(verb, served) {
  if (served === undefined || served === null) return {}
  const keys = Object.keys(served).join(', ')
  const form = typeof served !== 'object' ? `a ${typeof served}` : `{ ${keys} }`
  const body = served.body ?? ''
  if (typeof served !== 'object' || keys !== '' && keys !== 'fresh' && !('body' in served)) {
    throw new Mistake(`${verb} returned ${form}, expected { body, fresh }: the text of the page, and whether the ` +
      'cache takes it for fresh')
  }
  if (typeof body !== 'string') throw new Mistake(`${verb} returned a body that is a ${typeof body}, expected text`)
  return { body, fresh: Boolean(served.fresh) }
}

/**
 * Runs the node. create(init) makes the cache, lock or layer of one life; init has what docs/NODES.md says, and client,
 * the options of an AWS SDK client. It returns the operations that the cache has: get(key) and
 * regenerate(key, request, inputs) return {body, fresh}; invalidate(key) and rollback(key) return nothing; hold(key)
 * takes a lock, or throws, and returns what is held: release(), and, where can names them, held() and extend(). It may
 * have a fencing token. once(key, payload, effect) returns what effect() does, in this call or in an earlier one. terms
 * are promises: a lock's are heartbeats, margin, wait and takeover, a layer's are payload, wait and takeover. With
 * newProcess, each life is a process of its own, as it is for a cache that keeps something in variables of its modules.
 * With frozen, a cache hears no answer after its reply until its next command, as under AWS Lambda.
 */
export function node(
  create, can = ['get', 'invalidate', 'regenerate', 'rollback'], terms = undefined,
  { newProcess = false, frozen = false } = {},
) {
  let cache = null
  let locks = new Map() // that are held, by name
  const method = (of, name) => {
    if (typeof of?.[name] !== 'function') {
      const whose = of === cache ? 'the cache' : 'what hold returned'
      throw new Error(`skipped: ${whose} has no method ${name}, which can says that it has`)
    }
    return of[name].bind(of)
  }
  const token = ({ token }) => {
    if (token === undefined || token === null) return {}
    const number = ['number', 'bigint', 'string'].includes(typeof token) && token !== '' ? Number(token) : NaN
    // What is no whole number is a mistake of the adapter: isr-sim refuses the text, and does not judge the lock by it.
    return { token: Number.isSafeInteger(number) ? number : `${String(token).slice(0, 20)}, a ${typeof token}` }
  }
  const doing = { // what is no cache's
    async hold({ key }) {
      const held = await method(cache, 'hold')(key)
      method(held, 'release')
      locks.set(key, held)
      return token(held)
    },
    async held({ key }) { return { held: Boolean(await method(locks.get(key), 'held')()) } },
    async extend({ key }) {
      const held = locks.get(key)
      await method(held, 'extend')()
      return token(held)
    },
    async release({ key }) {
      const held = locks.get(key)
      locks.delete(key)
      await held.release()
    },
    work: (line) => wait(line.for * 1000), // in which timers fire
    async once({ key, payload }) { return { body: await method(cache, 'once')(key, payload, effect) } },
  }
  const handle = async (line) => {
    learn(line.time)
    const mine = lives
    const { type, id, verb, key, request, inputs } = line
    thaw()
    const done = (more) => over({ type: 'reply', id, ...more })
    const over = (line) => {
      if (mine !== lives) return
      busy = false
      say({ ...line, later: later() })
      rest()
    }
    try {
      if (type === 'init') {
        locks = new Map()
        for (const timer of imported) timer.start()
        cache = await create(init)
        await drain()
        return over({ type: 'ready' })
      }
      if (verb in doing) {
        const told = await doing[verb](line)
        await drain()
        return done(told)
      }
      const returned = await method(cache, verb)(key, request, inputs)
      const served = verb === 'get' || verb === 'regenerate' ? pageOf(verb, returned) : {}
      const then = time
      await drain(frozen)
      // If time has moved since the cache called the page fresh, the page does not count as claimed fresh.
      done({ body: served.body ?? '', fresh: (served.fresh ?? false) && time === then })
    } catch (e) {
      if (mine !== lives) return
      await drain(frozen && type !== 'init' && !(verb in doing))
      if (mine !== lives) return
      if (type === 'init' || e instanceof Mistake) {
        process.stderr.write(`${e instanceof Mistake ? 'isr-sim: ' + e.message : e.stack}\n`, () => process.exit(1))
        return
      }
      done({ error: `${e?.name ?? 'Error'}: ${e?.message ?? e}`, other: e instanceof OtherPayload || undefined })
    }
  }
  readline.createInterface({ input: process.stdin }).on('line', (text) => {
    const line = JSON.parse(text)
    if (line.type === 'end' || line.type === 'reset') endChildren()
    if (line.type === 'end') process.exit(0)
    if (line.type !== 'reset') {
      queue.push(line)
      if (resting) rest()
    } else {
      lives++
      abandon()
      queue = []
      asked = 0
      numbers = afterImports
      resting = true
      lines.clear()
      under.clear()
      held = []
      elsewhere = 0
      busy = stirred = false
      drained = null
      freezes = false
      thawed = []
      pending = []
      say({ type: 'ready' })
    }
  }).on('close', () => process.exit(0))
  obey = (line) => {
    if (line.type === 'answer') {
      const answered = lines.get(line.number)
      if (answered === undefined) return // it was let go
      learn(line.time)
      resting = false
      answered(line)
      return stir()
    }
    resting = false
    if (line.type === 'wake') {
      learn(line.time)
      wake(line.timer)
      return stir()
    }
    if (line.type === 'init') {
      afterImports ??= numbers
      began = line.time
      state = line.seed | 0
      process.env.AWS_MAX_ATTEMPTS = ownAttempts ?? line.config?.attempts ?? 3
      const { hostname, port } = new URL(line.endpoint)
      const { region, endpoint, credentials } = line
      const own = { forcePathStyle: true, requestHandler: handler, signer: signerOf(line) }
      const client = { ...settled, region, endpoint, credentials, ...own }
      init = { ...line, host: hostname, port: Number(port), client }
    }
    busy = true
    life.run(lives, handle, line)
    stir()
  }
  const all = [...can, 'work', 'timers', 'quiet', 'queue', ...(newProcess ? [] : ['reset', 'abandon'])]
  say({ type: 'hello', versions: [1], can: all, [can.includes('once') ? 'once' : 'lock']: terms })
}
